//! Reads the control group of this process and its limits. A limit of a group applies to all groups below it, so
//! the tightest limit on the path to the root counts.

use std::path::{Path, PathBuf};

use ipcperf_model::environment::{Amount, ControlGroup};

use super::read::{read_line, read_number};

/// Reads the control group.
pub(super) fn read() -> ControlGroup {
    let groups = read_line("/proc/self/cgroup").unwrap_or_default();
    let mounts = read_line("/proc/self/mountinfo").unwrap_or_default();
    let folder = |controller| CgroupDir::from_proc(controller, &groups, &mounts);
    let (cpu, cpuset) = (folder("cpu"), folder("cpuset"));
    ControlGroup {
        cgroup_version: version(&groups),
        cgroup_path: group(&groups, "cpu").map(|(_, path)| path.to_owned()),
        cgroup_cpu_max: cpu.as_ref().and_then(CgroupDir::cpu_max),
        cgroup_cpu_weight: cpu.as_ref().and_then(CgroupDir::cpu_weight),
        cgroup_cpus: cpuset.as_ref().and_then(CgroupDir::cpus),
        cgroup_memory_max_bytes: folder("memory").and_then(|folder| folder.memory_max()),
        cgroup_tasks_max: folder("pids").and_then(|folder| folder.tightest("pids.max")),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CgroupVersion {
    One,
    Two,
}

fn version(groups: &str) -> Option<String> {
    let mut lines = groups.lines();
    let (unified, others) = (lines.any(|line| line.starts_with("0::")), groups.lines().count());
    let name = match (unified, others) {
        (_, 0) => return None,
        (true, 1) => "2",
        (true, _) => "hybrid",
        (false, _) => "1",
    };
    Some(name.to_owned())
}

/// Returns the group of `controller`: in its own hierarchy if there is one, else in the unified one.
fn group<'a>(groups: &'a str, controller: &str) -> Option<(CgroupVersion, &'a str)> {
    let entries = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        rest.split_once(':')
    });
    let own = entries.clone().find(|(names, _)| names.split(',').any(|name| name == controller));
    let unified = || entries.clone().find(|(names, _)| names.is_empty());
    own.map(|(_, path)| (CgroupVersion::One, path))
        .or_else(|| Some((CgroupVersion::Two, unified()?.1)))
}

/// Folder of a group in the file system, and the mount point above which no more groups are visible.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CgroupDir {
    version: CgroupVersion,
    mount: PathBuf,
    group: PathBuf,
}

impl CgroupDir {
    fn from_proc(controller: &str, groups: &str, mounts: &str) -> Option<Self> {
        let (version, path) = group(groups, controller)?;
        let mut found = mounts.lines().filter_map(|mount| {
            let (place, kind) = mount.split_once(" - ")?;
            let mut place = place.split(' ').skip(3);
            let (root, point) = (place.next()?, place.next()?);
            let mut kind = kind.split(' ');
            let fits = match (version, kind.next()?) {
                (CgroupVersion::Two, "cgroup2") => true,
                (CgroupVersion::One, "cgroup") => kind.nth(1)?.split(',').any(|o| o == controller),
                _ => false,
            };
            fits.then_some((root, point))
        });
        let (root, point) = found.next()?;
        let mount = PathBuf::from(point);
        // The mount may show only a group further down. A path outside it is not visible.
        let inside = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
        Some(Self { version, group: mount.join(inside), mount })
    }

    /// Returns the folder of the group and those of its ancestors.
    fn ancestors(&self) -> impl Iterator<Item = &Path> {
        self.group.ancestors().take_while(|folder| folder.starts_with(&self.mount))
    }

    /// Returns the smallest number in files called `name` on the path to the root; `None` if there is no such file.
    fn tightest(&self, name: &str) -> Option<Amount> {
        let amounts =
            self.ancestors().filter_map(|folder| parse_amount(&read_line(folder.join(name))?));
        amounts.reduce(Amount::tighter)
    }

    fn memory_max(&self) -> Option<Amount> {
        match self.version {
            CgroupVersion::Two => self.tightest("memory.max"),
            CgroupVersion::One => self.tightest("memory.limit_in_bytes"),
        }
    }

    fn cpu_weight(&self) -> Option<u64> {
        match self.version {
            CgroupVersion::Two => read_number(self.group.join("cpu.weight")),
            CgroupVersion::One => read_number(self.group.join("cpu.shares")),
        }
    }

    fn cpus(&self) -> Option<String> {
        match self.version {
            CgroupVersion::Two => read_line(self.group.join("cpuset.cpus.effective")),
            CgroupVersion::One => read_line(self.group.join("cpuset.effective_cpus"))
                .or_else(|| read_line(self.group.join("cpuset.cpus"))),
        }
    }

    /// Returns the quota and period of the group with the tightest limit.
    fn cpu_max(&self) -> Option<String> {
        let all = self.ancestors().filter_map(|folder| cpu_max_in(folder, self.version));
        all.min_by(|one, other| cpus_of(one).total_cmp(&cpus_of(other)))
    }
}

/// Parses a number or `max`. Version 1 expresses the latter as the largest number of pages.
fn parse_amount(text: &str) -> Option<Amount> {
    const NO_LIMIT: u64 = 1 << 62;
    if text == "max" {
        return Some(Amount::UNLIMITED);
    }
    let number: u64 = text.parse().ok()?;
    Some(if number < NO_LIMIT { Amount::Number(number) } else { Amount::UNLIMITED })
}

/// Returns the limit as `QUOTA PERIOD`, or `max PERIOD`.
fn cpu_max_in(folder: &Path, version: CgroupVersion) -> Option<String> {
    if version == CgroupVersion::Two {
        return read_line(folder.join("cpu.max"));
    }
    let period: u64 = read_number(folder.join("cpu.cfs_period_us"))?;
    let quota: i64 = read_number(folder.join("cpu.cfs_quota_us"))?;
    Some(if quota < 0 { format!("max {period}") } else { format!("{quota} {period}") })
}

/// Number of CPUs that a quota is worth; infinite without one.
fn cpus_of(cpu_max: &str) -> f64 {
    quota_cpus(cpu_max).unwrap_or(f64::INFINITY)
}

/// Number of CPUs that a quota such as `50000 100000` is worth; `None` if there is no quota.
pub(super) fn quota_cpus(cpu_max: &str) -> Option<f64> {
    let (quota, period) = cpu_max.split_once(' ')?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0.0).then_some(quota / period)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIFIED: &str = "0::/a/b";
    const HYBRID: &str = "4:memory:/m\n2:cpu,cpuacct:/c/d\n0::/a";
    const MOUNTS: &str = "1 0 0:1 / / rw - ext4 /dev/vda rw\n\
                          2 1 0:2 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n\
                          3 1 0:3 /a /cg/unified rw shared:9 - cgroup2 none rw";

    fn folder(controller: &str, groups: &str) -> CgroupDir {
        CgroupDir::from_proc(controller, groups, MOUNTS).unwrap()
    }

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(version(UNIFIED).unwrap(), "2");
        assert_eq!(version(HYBRID).unwrap(), "hybrid");
        assert_eq!(version("4:memory:/m").unwrap(), "1");
        assert_eq!(version(""), None);
    }

    #[test]
    fn a_group_is_found_in_its_hierarchy() {
        let one = folder("cpu", HYBRID);
        assert_eq!((one.version, one.group.to_str()), (CgroupVersion::One, Some("/cg/cpu/c/d")));
        let two = folder("cpu", UNIFIED);
        assert_eq!((two.version, two.group.to_str()), (CgroupVersion::Two, Some("/cg/unified/b")));
        assert_eq!(two.ancestors().count(), 2);
        assert_eq!(CgroupDir::from_proc("memory", HYBRID, MOUNTS), None);
        assert_eq!(folder("cpu", "0::/elsewhere").group, Path::new("/cg/unified"));
    }

    #[test]
    fn the_tightest_on_the_way_up_counts() {
        let place = tempfile::tempdir().unwrap();
        let (mount, group) = (place.path().to_owned(), place.path().join("a"));
        std::fs::create_dir(&group).unwrap();
        let folder =
            CgroupDir { version: CgroupVersion::Two, mount: mount.clone(), group: group.clone() };
        assert_eq!((folder.cpu_max(), folder.memory_max()), (None, None));
        std::fs::write(mount.join("cpu.max"), "50000 100000\n").unwrap();
        std::fs::write(group.join("cpu.max"), "max 100000\n").unwrap();
        std::fs::write(mount.join("memory.max"), "max\n").unwrap();
        assert_eq!(folder.cpu_max().unwrap(), "50000 100000");
        assert_eq!(folder.memory_max(), Some(Amount::UNLIMITED));
        std::fs::write(group.join("memory.max"), "4096\n").unwrap();
        assert_eq!(folder.memory_max(), Some(Amount::Number(4096)));
    }

    #[test]
    fn a_quota_is_worth_so_many_cpus() {
        assert_eq!(quota_cpus("150000 100000"), Some(1.5));
        assert_eq!(quota_cpus("max 100000"), None);
        assert_eq!(quota_cpus("1 0"), None);
        assert_eq!(parse_amount("9223372036854771712"), Some(Amount::UNLIMITED));
    }
}
