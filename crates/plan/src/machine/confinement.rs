//! Reads the user and the confinement of this process: privileges, filters, security modules, containers.

use std::fs;
use std::path::Path;

use ipcperf_model::environment::Confinement;

use super::read::{KeyValues, read_line, read_number};

/// Namespaces that affect IPC, with the inode number that the kernel gives the initial one of each kind
/// (`include/linux/proc_ns.h`).
const NAMESPACES: [(&str, u64); 4] =
    [("ipc", 0xEFFF_FFFF), ("pid", 0xEFFF_FFFC), ("user", 0xEFFF_FFFD), ("cgroup", 0xEFFF_FFFB)];

/// Reads the confinement.
pub(super) fn read() -> Confinement {
    let status = KeyValues::from_file("/proc/self/status");
    let kernel = |name: &str| read_number(format!("/proc/sys/kernel/{name}"));
    Confinement {
        user_id: Some(u64::from(rustix::process::geteuid().as_raw())),
        capabilities: status.value("CapEff").map(str::to_owned),
        no_new_privileges: status.number("NoNewPrivs").map(|number| number != 0),
        seccomp: status.number("Seccomp").and_then(seccomp_mode),
        seccomp_filters: status.number("Seccomp_filters"),
        security_modules: read_line("/sys/kernel/security/lsm"),
        security_label: read_line("/proc/self/attr/current"),
        container: Some(container().unwrap_or_else(|| "none".to_owned())),
        own_namespaces: own_namespaces(),
        perf_event_paranoid: read_number("/proc/sys/kernel/perf_event_paranoid"),
        unprivileged_bpf_disabled: kernel("unprivileged_bpf_disabled"),
        ptrace_scope: kernel("yama/ptrace_scope"),
        kptr_restrict: kernel("kptr_restrict"),
        randomize_va_space: kernel("randomize_va_space"),
        io_uring_disabled: kernel("io_uring_disabled"),
    }
}

fn seccomp_mode(number: u64) -> Option<String> {
    let mode = match number {
        0 => "off",
        1 => "strict",
        2 => "filter",
        _ => return None,
    };
    Some(mode.to_owned())
}

/// Detects the container from its own variables, from the marker files of container engines, and from the name of
/// the control group.
fn container() -> Option<String> {
    if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        return Some("kubernetes".to_owned());
    }
    let from_variable = std::env::var("container").ok().filter(|name| !name.is_empty());
    let from_systemd = || read_line("/run/systemd/container").filter(|name| !name.is_empty());
    from_variable.or_else(from_systemd).or_else(|| {
        let marks = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
        let mark = marks.into_iter().find(|(path, _)| Path::new(path).exists());
        let group = || container_of_group(&read_line("/proc/1/cgroup").unwrap_or_default());
        mark.map(|(_, name)| name.to_owned()).or_else(group)
    })
}

fn container_of_group(groups: &str) -> Option<String> {
    let names = [("kubepods", "kubernetes"), ("docker", "docker"), ("libpod", "podman")];
    let others = [("lxc", "lxc"), ("containerd", "containerd"), ("garden", "garden")];
    let found = names.into_iter().chain(others).find(|(word, _)| groups.contains(word));
    found.map(|(_, name)| name.to_owned())
}

fn own_namespaces() -> Option<Vec<String>> {
    let own = |(name, first): (&str, u64)| {
        let link = fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
        Some((link.to_str()? != format!("{name}:[{first}]")).then(|| name.to_owned()))
    };
    let all: Option<Vec<Option<String>>> = NAMESPACES.into_iter().map(own).collect();
    Some(all?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_bits_of_the_mask() {
        let with = |mask: &str| Confinement {
            capabilities: Some(mask.to_owned()),
            ..Confinement::default()
        };
        assert_eq!(with("000001ffffffffff").has_capability(38), Some(true));
        assert_eq!(with("0000000000000000").has_capability(38), Some(false));
        assert_eq!(with("0000004000000000").has_capability(38), Some(true));
        assert_eq!(with("0000004000000000").has_capability(21), Some(false));
        assert_eq!(Confinement::default().has_capability(38), None);
    }

    #[test]
    fn a_group_names_its_container() {
        assert_eq!(container_of_group("0::/kubepods/pod1/docker-2").unwrap(), "kubernetes");
        assert_eq!(container_of_group("3:cpu:/docker/0123").unwrap(), "docker");
        assert_eq!(container_of_group("0::/init.scope"), None);
    }
}
