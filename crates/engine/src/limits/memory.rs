//! Amount of memory that can be allocated without evicting other data.

use std::fs;
use std::path::{Path, PathBuf};

/// Available memory in bytes: the minimum over the machine and the cgroups around this process; `None` if none reports
/// it. Page cache of a cgroup counts as used, although it could be dropped.
pub(super) fn available_bytes() -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|text| meminfo_available_bytes(&text));
    let own = read("/proc/self/cgroup").and_then(|text| cgroup_folder(&text));
    machine.into_iter().chain(own.and_then(|folder| cgroup_available_bytes(&folder))).min()
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn meminfo_available_bytes(text: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = rest.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// Folder of the process's cgroup (version 2).
fn cgroup_folder(text: &str) -> Option<PathBuf> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new("/sys/fs/cgroup").join(path))
}

/// Minimum remaining memory over this cgroup and its ancestors, bytes.
fn cgroup_available_bytes(folder: &Path) -> Option<u64> {
    let number = |path: PathBuf| read(path)?.trim().parse::<u64>().ok();
    let left = |folder: &Path| {
        let max = number(folder.join("memory.max"))?;
        Some(max.saturating_sub(number(folder.join("memory.current"))?))
    };
    folder.ancestors().filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_as_the_kernel_writes_it() {
        let text = "MemTotal:  4000 kB\nMemAvailable:    1234 kB\nBuffers: 1 kB\n";
        assert_eq!(meminfo_available_bytes(text), Some(1234 * 1024));
        assert_eq!(meminfo_available_bytes("MemTotal: 4000 kB\n"), None);
    }

    #[test]
    fn the_cgroup_of_version_2_is_found() {
        let text = "4:memory:/old\n0::/user.slice/a\n";
        assert_eq!(cgroup_folder(text), Some(PathBuf::from("/sys/fs/cgroup/user.slice/a")));
        assert_eq!(cgroup_folder("4:memory:/old\n"), None);
    }

    #[test]
    fn the_tightest_cgroup_decides() {
        let root = std::env::temp_dir().join(format!("ipcperf-limits-{}", std::process::id()));
        let inner = root.join("inner");
        fs::create_dir_all(&inner).unwrap();
        let write = |path: PathBuf, text| fs::write(path, text).unwrap();
        write(root.join("memory.max"), "1000\n");
        write(root.join("memory.current"), "900\n");
        write(inner.join("memory.max"), "5000\n");
        write(inner.join("memory.current"), "10\n");
        let left = cgroup_available_bytes(&inner);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(left, Some(100));
    }
}
