//! Events that the kernel names on every machine, whether or not the machine supports them.

use perf_event_open_sys::bindings::{
    PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BUS_CYCLES,
    PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CPU_CYCLES,
    PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_REF_CPU_CYCLES, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
    PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_SW_ALIGNMENT_FAULTS,
    PERF_COUNT_SW_CGROUP_SWITCHES, PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_CLOCK,
    PERF_COUNT_SW_CPU_MIGRATIONS, PERF_COUNT_SW_EMULATION_FAULTS, PERF_COUNT_SW_PAGE_FAULTS,
    PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_COUNT_SW_PAGE_FAULTS_MIN, PERF_COUNT_SW_TASK_CLOCK,
    PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE, PERF_TYPE_SOFTWARE,
};

use super::EventCode;

/// Events of the processor.
const HARDWARE: &[(&str, u32)] = &[
    ("cycles", PERF_COUNT_HW_CPU_CYCLES),
    ("cpu-cycles", PERF_COUNT_HW_CPU_CYCLES),
    ("instructions", PERF_COUNT_HW_INSTRUCTIONS),
    ("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
    ("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
    ("branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
    ("branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
    ("branch-misses", PERF_COUNT_HW_BRANCH_MISSES),
    ("bus-cycles", PERF_COUNT_HW_BUS_CYCLES),
    ("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
    ("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
    ("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES),
];

/// Events of the kernel.
const SOFTWARE: &[(&str, u32)] = &[
    ("task-clock", PERF_COUNT_SW_TASK_CLOCK),
    ("cpu-clock", PERF_COUNT_SW_CPU_CLOCK),
    ("page-faults", PERF_COUNT_SW_PAGE_FAULTS),
    ("faults", PERF_COUNT_SW_PAGE_FAULTS),
    ("minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN),
    ("major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ),
    ("context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES),
    ("cs", PERF_COUNT_SW_CONTEXT_SWITCHES),
    ("cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS),
    ("migrations", PERF_COUNT_SW_CPU_MIGRATIONS),
    ("cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES),
    ("alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS),
    ("emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS),
];

/// Cache names, in the order of their IDs in `PERF_TYPE_HW_CACHE`.
const CACHES: [&str; 7] = ["L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"];
const OPERATIONS: [[&str; 2]; 3] =
    [["loads", "load-misses"], ["stores", "store-misses"], ["prefetches", "prefetch-misses"]];

/// Returns the code of the event called `name`.
pub(super) fn code(name: &str) -> Option<EventCode> {
    let find = |list: &[(&str, u32)], kind| {
        let found = list.iter().find(|known| known.0.eq_ignore_ascii_case(name))?;
        Some(EventCode::new(kind, found.1.into()))
    };
    find(HARDWARE, PERF_TYPE_HARDWARE).or_else(|| find(SOFTWARE, PERF_TYPE_SOFTWARE)).or_else(
        || cache_events().find(|known| known.0.eq_ignore_ascii_case(name)).map(|known| known.1),
    )
}

/// Returns all names, each with whether the processor or the kernel counts it.
pub(super) fn names() -> impl Iterator<Item = (String, &'static str)> {
    let hardware = HARDWARE.iter().map(|known| (known.0.to_owned(), "hardware event"));
    let software = SOFTWARE.iter().map(|known| (known.0.to_owned(), "software event"));
    hardware.chain(software).chain(cache_events().map(|known| (known.0, "hardware cache event")))
}

/// Returns the cache events. The config holds the IDs of the cache, the operation and the result, one byte each.
fn cache_events() -> impl Iterator<Item = (String, EventCode)> {
    let results = (0..2_u8).flat_map(|result| (0..3_u8).map(move |operation| (operation, result)));
    results.flat_map(|(operation, result)| {
        (0_u8..).zip(CACHES).map(move |(cache, name)| {
            let what = OPERATIONS[usize::from(operation)][usize::from(result)];
            let config = u64::from_le_bytes([cache, operation, result, 0, 0, 0, 0, 0]);
            (format!("{name}-{what}"), EventCode::new(PERF_TYPE_HW_CACHE, config))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_occur_once() {
        let names: Vec<_> = names().map(|name| name.0.to_lowercase()).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name}");
        }
    }

    #[test]
    fn a_cache_its_operation_and_its_result_are_a_byte_each() {
        let config = |name| code(name).unwrap().config;
        assert_eq!(config("L1-dcache-loads"), 0);
        assert_eq!(config("L1-dcache-load-misses"), 0x1_0000);
        assert_eq!(config("LLC-store-misses"), 0x1_0102);
        assert_eq!(config("dTLB-prefetches"), 0x203);
        assert_eq!(config("llc-loads"), 2);
        assert_eq!(code("L4-loads"), None);
    }
}
