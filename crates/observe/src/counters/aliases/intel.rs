//! Intel's cores since Skylake: event numbers of the *Software Developer's Manual*, volume 3B, chapter "Performance
//! monitoring", which Intel also publishes per core at perfmon-events.intel.com. A number is the unit mask followed by
//! the event select. On a hybrid processor the numbers are those of the performance cores.

use super::{Core, EventAlias, alias, no_event};

/// Returns the core with this `model` of family 6.
pub(super) const fn core(model: u32) -> Core {
    match model {
        0x4e | 0x5e | 0x8e | 0x9e | 0xa5 | 0xa6 | 0x55 => Core::IntelSkylake,
        0x7d | 0x7e | 0xa7 | 0x6a | 0x6c | 0x8c | 0x8d => Core::IntelIceLake,
        0x8f | 0xcf | 0x97 | 0x9a | 0xb7 | 0xba | 0xbe | 0xbf | 0xaa | 0xac | 0xad | 0xae => {
            Core::IntelGoldenCove
        }
        _ => Core::Unknown,
    }
}

/// Events that are the same on all cores.
pub(super) const COMMON: &[EventAlias] = &[
    alias("INSTR_EXECUTED", "instructions", "INST_RETIRED.ANY"),
    alias("INST_RETIRED", "instructions", "INST_RETIRED.ANY"),
    alias("CLOCK_CYCLES", "cycles", "CPU_CLK_UNHALTED.THREAD"),
    alias("CPU_CYCLES", "cycles", "CPU_CLK_UNHALTED.THREAD"),
    alias("MEM_READ", "r81d0", "MEM_INST_RETIRED.ALL_LOADS"),
    alias("LD_SPEC", "r81d0", "MEM_INST_RETIRED.ALL_LOADS: retired, not speculated"),
    alias("MEM_WRITE", "r82d0", "MEM_INST_RETIRED.ALL_STORES"),
    alias("ST_SPEC", "r82d0", "MEM_INST_RETIRED.ALL_STORES: retired, not speculated"),
    alias("MEM_ACCESS", "r83d0", "MEM_INST_RETIRED.ANY"),
    alias("L1_DCACHE_ACCESS", "r83d0", "MEM_INST_RETIRED.ANY"),
    alias("L1D_CACHE", "r83d0", "MEM_INST_RETIRED.ANY"),
    alias("L1_DCACHE_REFILL", "r0151", "L1D.REPLACEMENT"),
    alias("L1D_CACHE_REFILL", "r0151", "L1D.REPLACEMENT"),
    alias("L1_ICACHE_REFILL", "re424", "L2_RQSTS.ALL_CODE_RD"),
    alias("L1I_CACHE_REFILL", "re424", "L2_RQSTS.ALL_CODE_RD"),
    alias("ITLB_REFILL", "iTLB-load-misses", "ITLB_MISSES.WALK_COMPLETED"),
    alias("L1I_TLB_REFILL", "iTLB-load-misses", "ITLB_MISSES.WALK_COMPLETED"),
    alias("DTLB_REFILL", "dTLB-load-misses", "DTLB_LOAD_MISSES.WALK_COMPLETED"),
    alias("L1D_TLB_REFILL", "dTLB-load-misses", "DTLB_LOAD_MISSES.WALK_COMPLETED"),
    alias("AXI_WRITE", "r2224", "L2_RQSTS.RFO_MISS: lines requested for writing"),
    alias("BR_MIS_PRED", "branch-misses", "BR_MISP_RETIRED.ALL_BRANCHES"),
    alias("BR_PRED", "branches", "BR_INST_RETIRED.ALL_BRANCHES: mispredicted or not"),
    alias("BR_RETURN_SPEC", "r08c4", "BR_INST_RETIRED.NEAR_RETURN: retired, not speculated"),
    alias("EXC_RETURN", "r40c4", "BR_INST_RETIRED.FAR_BRANCH: kernel entries and exits"),
];

/// Skylake, Kaby Lake, Coffee Lake, Comet Lake; Cascade Lake.
pub(super) const SKYLAKE: &[EventAlias] = &[
    alias("L1I_CACHE", "r0183", "ICACHE_64B.IFTAG_HIT: hits only"),
    alias("L2_ACCESS", "rff24", "L2_RQSTS.REFERENCES"),
    alias("L2_CACHE_MISS", "r3f24", "L2_RQSTS.MISS"),
    alias("L2D_CACHE", "rff24", "L2_RQSTS.REFERENCES"),
    alias("L2D_CACHE_REFILL", "r3f24", "L2_RQSTS.MISS"),
    alias("AXI_READ", "r08b0", "OFFCORE_REQUESTS.ALL_DATA_RD"),
    alias("BUS_ACCESS", "r80b0", "OFFCORE_REQUESTS.ALL_REQUESTS"),
];

/// Ice Lake, Rocket Lake, Tiger Lake.
pub(super) const ICE_LAKE: &[EventAlias] = &[
    alias("L1I_CACHE", "r0183", "ICACHE_64B.IFTAG_HIT: hits only"),
    alias("L2_ACCESS", "re724", "L2_RQSTS.ALL_DEMAND_REFERENCES"),
    alias("L2_CACHE_MISS", "r2724", "L2_RQSTS.ALL_DEMAND_MISS"),
    alias("L2D_CACHE", "re724", "L2_RQSTS.ALL_DEMAND_REFERENCES"),
    alias("L2D_CACHE_REFILL", "r2724", "L2_RQSTS.ALL_DEMAND_MISS"),
    alias("AXI_READ", "r08b0", "OFFCORE_REQUESTS.ALL_DATA_RD"),
    alias("BUS_ACCESS", "r80b0", "OFFCORE_REQUESTS.ALL_REQUESTS"),
];

/// Alder Lake, Raptor Lake, Meteor Lake; Sapphire, Emerald and Granite Rapids.
pub(super) const GOLDEN_COVE: &[EventAlias] = &[
    no_event("L1I_CACHE", "accesses to the instruction cache are not counted, only misses"),
    alias("L2_ACCESS", "rff24", "L2_RQSTS.REFERENCES"),
    alias("L2_CACHE_MISS", "r3f24", "L2_RQSTS.MISS"),
    alias("L2D_CACHE", "rff24", "L2_RQSTS.REFERENCES"),
    alias("L2D_CACHE_REFILL", "r3f24", "L2_RQSTS.MISS"),
    alias("AXI_READ", "r0821", "OFFCORE_REQUESTS.DATA_RD"),
    alias("BUS_ACCESS", "r8021", "OFFCORE_REQUESTS.ALL_REQUESTS"),
];
