//! Memory: how much there is, and how the kernel hands it out.

use std::path::{Path, PathBuf};

use rustix::fs::statvfs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::{Pairs, line, number};

/// Memory, and folders that lie in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Memory {
    /// Memory.
    pub(crate) memory_bytes: Option<u64>,
    /// Memory that could be had without swapping.
    pub(crate) memory_available_bytes: Option<u64>,
    /// Room for swapping.
    pub(crate) swap_bytes: Option<u64>,
    /// What of it is in use.
    pub(crate) swap_used_bytes: Option<u64>,
    /// How readily the kernel swaps (`vm.swappiness`).
    pub(crate) swappiness: Option<u64>,
    /// Size of a page.
    pub(crate) page_bytes: u64,
    /// Transparent huge pages.
    pub(crate) transparent_hugepage: Option<String>,
    /// When the kernel makes room for them.
    pub(crate) transparent_hugepage_defrag: Option<String>,
    /// The same for shared memory.
    pub(crate) transparent_hugepage_shmem: Option<String>,
    /// Size of a huge page.
    pub(crate) hugepage_bytes: Option<u64>,
    /// Huge pages set aside.
    pub(crate) hugepages: Option<u64>,
    /// Whether more may be promised than there is: 0 by guess, 1 always, 2 never.
    pub(crate) overcommit_memory: Option<u64>,
    /// Mappings a process may have (`vm.max_map_count`).
    pub(crate) max_map_count: Option<u64>,
    /// Whether anonymous files may be made executable: 0 they are, 1 they are not unless asked,
    /// 2 they may not be.
    pub(crate) memfd_noexec: Option<u64>,
    /// Whether the kernel moves pages to the node that uses them: 0 no.
    pub(crate) numa_balancing: Option<u64>,
    /// Size of `/dev/shm`, where shared memory has names.
    pub(crate) shared_memory_bytes: Option<u64>,
    /// What is free in it.
    pub(crate) shared_memory_free_bytes: Option<u64>,
    /// Kind of file system of the folder for temporary files.
    pub(crate) temporary_filesystem: Option<String>,
}

const HUGE: &str = "/sys/kernel/mm/transparent_hugepage";

impl Memory {
    pub(super) fn read() -> Self {
        let memory = Pairs::of("/proc/meminfo");
        let setting = |name: &str| number(format!("/proc/sys/vm/{name}"));
        let free = memory.bytes("SwapFree");
        let shared = statvfs("/dev/shm").ok();
        let shared = shared.as_ref();
        Self {
            memory_bytes: memory.bytes("MemTotal"),
            memory_available_bytes: memory.bytes("MemAvailable"),
            swap_bytes: memory.bytes("SwapTotal"),
            swap_used_bytes: memory
                .bytes("SwapTotal")
                .zip(free)
                .map(|(all, f)| all.saturating_sub(f)),
            swappiness: setting("swappiness"),
            page_bytes: rustix::param::page_size() as u64,
            transparent_hugepage: line(format!("{HUGE}/enabled")),
            transparent_hugepage_defrag: line(format!("{HUGE}/defrag")),
            transparent_hugepage_shmem: line(format!("{HUGE}/shmem_enabled")),
            hugepage_bytes: memory.bytes("Hugepagesize"),
            hugepages: memory.number("HugePages_Total"),
            overcommit_memory: setting("overcommit_memory"),
            max_map_count: setting("max_map_count"),
            memfd_noexec: setting("memfd_noexec"),
            numa_balancing: number("/proc/sys/kernel/numa_balancing"),
            shared_memory_bytes: shared.map(|fs| fs.f_blocks.saturating_mul(fs.f_frsize)),
            shared_memory_free_bytes: shared.map(|fs| fs.f_bavail.saturating_mul(fs.f_frsize)),
            temporary_filesystem: line("/proc/self/mountinfo")
                .and_then(|mounts| filesystem(&mounts, &temporary_folder())),
        }
    }
}

/// Memory that could be had without swapping, bytes.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    Pairs::of("/proc/meminfo").bytes("MemAvailable")
}

fn temporary_folder() -> PathBuf {
    let folder = std::env::temp_dir();
    std::path::absolute(&folder).unwrap_or(folder)
}

/// The kind of the file system that `folder` lies in, from the table of mounts: asking the file
/// system itself would hang where it is a network's and the network is gone.
fn filesystem(mounts: &str, folder: &Path) -> Option<String> {
    let holding = mounts.lines().filter_map(|mount| {
        let place = mount.split(' ').nth(4)?;
        let (_, rest) = mount.split_once(" - ")?;
        folder.starts_with(place).then(|| (place.len(), rest.split(' ').next()))
    });
    // The last of those mounted over one another counts; so does `max_by_key`.
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
