//! Memory of the machine, and how the kernel allocates it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory, and folders that lie in memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Total memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Memory available without swapping, bytes.
    pub memory_available_bytes: Option<u64>,
    /// Swap space, bytes.
    pub swap_bytes: Option<u64>,
    /// Swap space in use, bytes.
    pub swap_used_bytes: Option<u64>,
    /// Tendency of the kernel to swap (`vm.swappiness`).
    pub swappiness: Option<u64>,
    /// Size of a page, bytes.
    pub page_bytes: u64,
    /// Setting of transparent huge pages.
    pub transparent_hugepage: Option<String>,
    /// Setting that determines when the kernel reclaims and compacts memory for transparent huge pages (`defrag`).
    pub transparent_hugepage_defrag: Option<String>,
    /// Setting of transparent huge pages for shared memory.
    pub transparent_hugepage_shmem: Option<String>,
    /// Size of a huge page, bytes.
    pub hugepage_bytes: Option<u64>,
    /// Number of huge pages reserved.
    pub hugepages: Option<u64>,
    /// Memory overcommit (`vm.overcommit_memory`): 0 heuristic, 1 always, 2 never.
    pub overcommit_memory: Option<u64>,
    /// Maximum number of mappings of a process (`vm.max_map_count`).
    pub max_map_count: Option<u64>,
    /// Whether memfds can be executable (`vm.memfd_noexec`): 0 yes, 1 only if requested, 2 never.
    pub memfd_noexec: Option<u64>,
    /// Automatic NUMA balancing, which moves pages to the node that uses them: 0 is off.
    pub numa_balancing: Option<u64>,
    /// Size of `/dev/shm`, bytes. Linux stores named shared memory in this folder.
    pub shared_memory_bytes: Option<u64>,
    /// Free space in `/dev/shm`, bytes.
    pub shared_memory_free_bytes: Option<u64>,
    /// File system type of the folder for temporary files.
    pub temporary_filesystem: Option<String>,
}
