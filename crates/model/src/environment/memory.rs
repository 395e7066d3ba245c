//! Memory: how much there is, and how the kernel hands it out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory, and folders that lie in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Memory that could be had without swapping.
    pub memory_available_bytes: Option<u64>,
    /// Room for swapping.
    pub swap_bytes: Option<u64>,
    /// What of it is in use.
    pub swap_used_bytes: Option<u64>,
    /// How readily the kernel swaps (`vm.swappiness`).
    pub swappiness: Option<u64>,
    /// Size of a page.
    pub page_bytes: u64,
    /// Transparent huge pages.
    pub transparent_hugepage: Option<String>,
    /// When the kernel makes room for them.
    pub transparent_hugepage_defrag: Option<String>,
    /// The same for shared memory.
    pub transparent_hugepage_shmem: Option<String>,
    /// Size of a huge page.
    pub hugepage_bytes: Option<u64>,
    /// Huge pages set aside.
    pub hugepages: Option<u64>,
    /// Whether more may be promised than there is: 0 by guess, 1 always, 2 never.
    pub overcommit_memory: Option<u64>,
    /// Mappings a process may have (`vm.max_map_count`).
    pub max_map_count: Option<u64>,
    /// Whether anonymous files may be made executable: 0 they are, 1 they are not unless asked,
    /// 2 they may not be.
    pub memfd_noexec: Option<u64>,
    /// Whether the kernel moves pages to the node that uses them: 0 no.
    pub numa_balancing: Option<u64>,
    /// Size of `/dev/shm`, where shared memory has names.
    pub shared_memory_bytes: Option<u64>,
    /// What is free in it.
    pub shared_memory_free_bytes: Option<u64>,
    /// Kind of file system of the folder for temporary files.
    pub temporary_filesystem: Option<String>,
}
