//! Intel's cores since Skylake: event numbers of the *Software Developer's Manual*, volume 3B, chapter "Performance
//! monitoring", which Intel also publishes per core at perfmon-events.intel.com. A number is the unit mask followed by
//! the event select. On a hybrid processor the numbers are those of the performance cores.

use super::{Core, Line, line, none};

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
pub(super) const COMMON: &[Line] = &[
    line("INSTR_EXECUTED", "instructions", "INST_RETIRED.ANY"),
    line("INST_RETIRED", "instructions", "INST_RETIRED.ANY"),
    line("CLOCK_CYCLES", "cycles", "CPU_CLK_UNHALTED.THREAD"),
    line("CPU_CYCLES", "cycles", "CPU_CLK_UNHALTED.THREAD"),
    line("MEM_READ", "r81d0", "MEM_INST_RETIRED.ALL_LOADS"),
    line("LD_SPEC", "r81d0", "MEM_INST_RETIRED.ALL_LOADS: retired, not speculated"),
    line("MEM_WRITE", "r82d0", "MEM_INST_RETIRED.ALL_STORES"),
    line("ST_SPEC", "r82d0", "MEM_INST_RETIRED.ALL_STORES: retired, not speculated"),
    line("MEM_ACCESS", "r83d0", "MEM_INST_RETIRED.ANY"),
    line("L1_DCACHE_ACCESS", "r83d0", "MEM_INST_RETIRED.ANY"),
    line("L1D_CACHE", "r83d0", "MEM_INST_RETIRED.ANY"),
    line("L1_DCACHE_REFILL", "r0151", "L1D.REPLACEMENT"),
    line("L1D_CACHE_REFILL", "r0151", "L1D.REPLACEMENT"),
    line("L1_ICACHE_REFILL", "re424", "L2_RQSTS.ALL_CODE_RD"),
    line("L1I_CACHE_REFILL", "re424", "L2_RQSTS.ALL_CODE_RD"),
    line("ITLB_REFILL", "iTLB-load-misses", "ITLB_MISSES.WALK_COMPLETED"),
    line("L1I_TLB_REFILL", "iTLB-load-misses", "ITLB_MISSES.WALK_COMPLETED"),
    line("DTLB_REFILL", "dTLB-load-misses", "DTLB_LOAD_MISSES.WALK_COMPLETED"),
    line("L1D_TLB_REFILL", "dTLB-load-misses", "DTLB_LOAD_MISSES.WALK_COMPLETED"),
    line("AXI_WRITE", "r2224", "L2_RQSTS.RFO_MISS: lines asked for to be written"),
    line("BR_MIS_PRED", "branch-misses", "BR_MISP_RETIRED.ALL_BRANCHES"),
    line("BR_PRED", "branches", "BR_INST_RETIRED.ALL_BRANCHES: predicted or not"),
    line("BR_RETURN_SPEC", "r08c4", "BR_INST_RETIRED.NEAR_RETURN: retired, not speculated"),
    line("EXC_RETURN", "r40c4", "BR_INST_RETIRED.FAR_BRANCH: into the kernel and out of it"),
];

/// Skylake, Kaby Lake, Coffee Lake, Comet Lake; Cascade Lake.
pub(super) const SKYLAKE: &[Line] = &[
    line("L1I_CACHE", "r0183", "ICACHE_64B.IFTAG_HIT: hits alone"),
    line("L2_ACCESS", "rff24", "L2_RQSTS.REFERENCES"),
    line("L2_CACHE_MISS", "r3f24", "L2_RQSTS.MISS"),
    line("L2D_CACHE", "rff24", "L2_RQSTS.REFERENCES"),
    line("L2D_CACHE_REFILL", "r3f24", "L2_RQSTS.MISS"),
    line("AXI_READ", "r08b0", "OFFCORE_REQUESTS.ALL_DATA_RD"),
    line("BUS_ACCESS", "r80b0", "OFFCORE_REQUESTS.ALL_REQUESTS"),
];

/// Ice Lake, Rocket Lake, Tiger Lake.
pub(super) const ICE_LAKE: &[Line] = &[
    line("L1I_CACHE", "r0183", "ICACHE_64B.IFTAG_HIT: hits alone"),
    line("L2_ACCESS", "re724", "L2_RQSTS.ALL_DEMAND_REFERENCES"),
    line("L2_CACHE_MISS", "r2724", "L2_RQSTS.ALL_DEMAND_MISS"),
    line("L2D_CACHE", "re724", "L2_RQSTS.ALL_DEMAND_REFERENCES"),
    line("L2D_CACHE_REFILL", "r2724", "L2_RQSTS.ALL_DEMAND_MISS"),
    line("AXI_READ", "r08b0", "OFFCORE_REQUESTS.ALL_DATA_RD"),
    line("BUS_ACCESS", "r80b0", "OFFCORE_REQUESTS.ALL_REQUESTS"),
];

/// Alder Lake, Raptor Lake, Meteor Lake; Sapphire, Emerald and Granite Rapids.
pub(super) const GOLDEN_COVE: &[Line] = &[
    none("L1I_CACHE", "accesses to the instruction cache are not counted, only what missed it"),
    line("L2_ACCESS", "rff24", "L2_RQSTS.REFERENCES"),
    line("L2_CACHE_MISS", "r3f24", "L2_RQSTS.MISS"),
    line("L2D_CACHE", "rff24", "L2_RQSTS.REFERENCES"),
    line("L2D_CACHE_REFILL", "r3f24", "L2_RQSTS.MISS"),
    line("AXI_READ", "r0821", "OFFCORE_REQUESTS.DATA_RD"),
    line("BUS_ACCESS", "r8021", "OFFCORE_REQUESTS.ALL_REQUESTS"),
];
