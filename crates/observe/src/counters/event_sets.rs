//! Parses the event names that users type: lists, and named sets of events.

/// A named set of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventSet {
    /// Name of the set.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Description of what is counted besides instructions and cycles.
    pub about: &'static str,
    /// Events of the set.
    pub events: &'static [&'static str],
}

/// Event sets of the benchmark `ipc-static` (option `-P`): of its 2015 edition, which ran on a Cortex-A8, and of its
/// 2020 edition, which ran on a Cortex-A72.
pub const EVENT_SETS: &[EventSet] = &[
    EventSet {
        name: "l1d",
        aliases: &[],
        about: "data cache",
        events: &["INSTR_EXECUTED", "CLOCK_CYCLES", "L1_DCACHE_ACCESS", "L1_DCACHE_REFILL"],
    },
    EventSet {
        name: "l1i",
        aliases: &[],
        about: "instruction cache",
        events: &["INSTR_EXECUTED", "CLOCK_CYCLES", "L1_ICACHE_REFILL"],
    },
    EventSet {
        name: "l2",
        aliases: &[],
        about: "level-2 cache",
        events: &["INSTR_EXECUTED", "CLOCK_CYCLES", "L2_ACCESS"],
    },
    EventSet {
        name: "mem",
        aliases: &[],
        about: "loads and stores",
        events: &["INSTR_EXECUTED", "CLOCK_CYCLES", "MEM_READ", "MEM_WRITE"],
    },
    EventSet {
        name: "tlb",
        aliases: &[],
        about: "both TLBs",
        events: &["INSTR_EXECUTED", "CLOCK_CYCLES", "ITLB_REFILL", "DTLB_REFILL"],
    },
    EventSet {
        name: "axi",
        // Rice's port to Linux calls this set `bus`.
        aliases: &["bus"],
        about: "memory bus",
        events: &["INSTR_EXECUTED", "CLOCK_CYCLES", "AXI_READ", "AXI_WRITE"],
    },
    EventSet {
        name: "arch",
        aliases: &[],
        about: "loads, stores and returns",
        events: &[
            "INST_RETIRED",
            "CPU_CYCLES",
            "LD_SPEC",
            "ST_SPEC",
            "EXC_RETURN",
            "BR_RETURN_SPEC",
        ],
    },
    EventSet {
        name: "dcache",
        aliases: &[],
        about: "level-1 data cache and level-2 cache",
        events: &[
            "INST_RETIRED",
            "CPU_CYCLES",
            "L1D_CACHE",
            "L1D_CACHE_REFILL",
            "L2D_CACHE",
            "L2D_CACHE_REFILL",
        ],
    },
    EventSet {
        name: "instr",
        aliases: &[],
        about: "instruction cache and branches",
        events: &[
            "INST_RETIRED",
            "CPU_CYCLES",
            "L1I_CACHE",
            "L1I_CACHE_REFILL",
            "BR_MIS_PRED",
            "BR_PRED",
        ],
    },
    EventSet {
        name: "tlbmem",
        aliases: &[],
        about: "both TLBs, memory and the memory bus",
        events: &[
            "INST_RETIRED",
            "CPU_CYCLES",
            "L1D_TLB_REFILL",
            "L1I_TLB_REFILL",
            "MEM_ACCESS",
            "BUS_ACCESS",
        ],
    },
];

/// Returns the set called `name`.
#[must_use]
pub fn find_set(name: &str) -> Option<&'static EventSet> {
    EVENT_SETS.iter().find(|set| set.name == name || set.aliases.contains(&name))
}

/// Splits a list at its commas, except those between slashes, which separate the terms of a single event:
/// `cycles,cpu/event=0x3c,umask=0x1/`.
#[must_use]
pub fn split_list(list: &str) -> Vec<String> {
    let (mut events, mut is_in_terms) = (vec![String::new()], false);
    for letter in list.chars() {
        is_in_terms ^= letter == '/';
        match events.last_mut() {
            Some(word) if letter != ',' || is_in_terms => word.push(letter),
            _ => events.push(String::new()),
        }
    }
    events.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_slashes_are_of_one_event() {
        assert_eq!(
            split_list("cycles, cpu/event=0x3c,umask=0x1/u,,r1a"),
            ["cycles", "cpu/event=0x3c,umask=0x1/u", "r1a"]
        );
        assert!(split_list(" ,").is_empty());
    }

    #[test]
    fn sets_have_names_of_their_own() {
        for one in EVENT_SETS {
            let words = std::iter::once(&one.name).chain(one.aliases);
            assert!(words.into_iter().all(|word| find_set(word).is_some_and(|found| found == one)));
            assert!(one.events.len() >= 3);
        }
    }
}
