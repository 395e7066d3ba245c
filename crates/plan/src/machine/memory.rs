//! Reads the memory of the machine, and how the kernel allocates it.

use std::path::{Path, PathBuf};

use ipcperf_model::environment::Memory;
use rustix::fs::statvfs;

use super::read::{KeyValues, read_line, read_number};

const HUGE: &str = "/sys/kernel/mm/transparent_hugepage";

/// Reads the memory.
pub(super) fn read() -> Memory {
    let memory = KeyValues::from_file("/proc/meminfo");
    let setting = |name: &str| read_number(format!("/proc/sys/vm/{name}"));
    let free = memory.bytes("SwapFree");
    let shared = statvfs("/dev/shm").ok();
    let shared = shared.as_ref();
    Memory {
        memory_bytes: memory.bytes("MemTotal"),
        memory_available_bytes: memory.bytes("MemAvailable"),
        swap_bytes: memory.bytes("SwapTotal"),
        swap_used_bytes: memory.bytes("SwapTotal").zip(free).map(|(all, f)| all.saturating_sub(f)),
        swappiness: setting("swappiness"),
        page_bytes: rustix::param::page_size() as u64,
        transparent_hugepage: read_line(format!("{HUGE}/enabled")),
        transparent_hugepage_defrag: read_line(format!("{HUGE}/defrag")),
        transparent_hugepage_shmem: read_line(format!("{HUGE}/shmem_enabled")),
        hugepage_bytes: memory.bytes("Hugepagesize"),
        hugepages: memory.number("HugePages_Total"),
        overcommit_memory: setting("overcommit_memory"),
        max_map_count: setting("max_map_count"),
        memfd_noexec: setting("memfd_noexec"),
        numa_balancing: read_number("/proc/sys/kernel/numa_balancing"),
        shared_memory_bytes: shared.map(|fs| fs.f_blocks.saturating_mul(fs.f_frsize)),
        shared_memory_free_bytes: shared.map(|fs| fs.f_bavail.saturating_mul(fs.f_frsize)),
        temporary_filesystem: read_line("/proc/self/mountinfo")
            .and_then(|mounts| filesystem(&mounts, &temporary_folder())),
    }
}

/// Returns the memory available without swapping, bytes.
pub fn available_memory_bytes() -> Option<u64> {
    KeyValues::from_file("/proc/meminfo").bytes("MemAvailable")
}

fn temporary_folder() -> PathBuf {
    let folder = std::env::temp_dir();
    std::path::absolute(&folder).unwrap_or(folder)
}

/// Returns the type of the file system that contains `folder`, from the mount table. Querying the file system
/// itself would hang on a network file system that is unreachable.
fn filesystem(mounts: &str, folder: &Path) -> Option<String> {
    let holding = mounts.lines().filter_map(|mount| {
        let place = mount.split(' ').nth(4)?;
        let (_, rest) = mount.split_once(" - ")?;
        folder.starts_with(place).then(|| (place.len(), rest.split(' ').next()))
    });
    // Of several mounts on one folder, the last one counts; `max_by_key` returns the last maximum.
    holding.max_by_key(|(length, _)| *length)?.1.map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_and_latest_mount_holds_a_folder() {
        let mounts = "1 0 254:0 / / rw - ext4 /dev/vda rw\n\
                      2 1 0:1 / /tmp rw shared:1 - tmpfs tmpfs rw\n\
                      3 1 0:2 / /tmp rw - ramfs none rw\n\
                      4 1 0:3 / /tmporary rw - xfs none rw\n";
        assert_eq!(filesystem(mounts, Path::new("/tmp/x")).unwrap(), "ramfs");
        assert_eq!(filesystem(mounts, Path::new("/home")).unwrap(), "ext4");
        assert_eq!(filesystem("", Path::new("/home")), None);
    }
}
