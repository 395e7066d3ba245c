//! AMD's cores since Zen: event numbers of the *Processor Programming References* for family 17h (54945 and 55803), 19h
//! (55898 and 55901) and 1Ah (58550), section "Core performance monitor counters". PMCx029 with mask 1 is written
//! r0129. L2 misses are counted by each core; the L3 counts for all cores together.

use super::{Core, EventAlias, alias, no_event};

/// Returns the core with this `family` and `model`.
pub(super) const fn core(family: u32, model: u32) -> Core {
    match family {
        0x17 | 0x18 if model < 0x30 => Core::AmdZen1,
        0x17 => Core::AmdZen2,
        0x19 | 0x1a => Core::AmdZen3,
        _ => Core::Unknown,
    }
}

/// Events that are the same on all cores.
pub(super) const COMMON: &[EventAlias] = &[
    alias("INSTR_EXECUTED", "instructions", "PMCx0C0 retired instructions"),
    alias("INST_RETIRED", "instructions", "PMCx0C0 retired instructions"),
    alias("CLOCK_CYCLES", "cycles", "PMCx076 cycles not in halt"),
    alias("CPU_CYCLES", "cycles", "PMCx076 cycles not in halt"),
    alias("MEM_READ", "r0129", "PMCx029 dispatched loads"),
    alias("LD_SPEC", "r0129", "PMCx029 dispatched loads"),
    alias("MEM_WRITE", "r0229", "PMCx029 dispatched stores"),
    alias("ST_SPEC", "r0229", "PMCx029 dispatched stores"),
    alias("MEM_ACCESS", "r0729", "PMCx029 dispatched loads, stores and load-stores"),
    alias("L1_DCACHE_ACCESS", "r0729", "PMCx029 dispatched loads, stores and load-stores"),
    alias("L1D_CACHE", "r0729", "PMCx029 dispatched loads, stores and load-stores"),
    alias("L1_ICACHE_REFILL", "r1060", "PMCx060 instruction reads from the L2"),
    alias("L1I_CACHE_REFILL", "r1060", "PMCx060 instruction reads from the L2"),
    alias("L2_ACCESS", "rf960", "PMCx060 requests to the L2, except prefetches"),
    alias("L2_CACHE_MISS", "r0964", "PMCx064 misses of the L2, data and instructions"),
    alias("L2D_CACHE_REFILL", "r0864", "PMCx064 misses of the L2, data"),
    alias("ITLB_REFILL", "iTLB-load-misses", "PMCx085 misses of both levels of the ITLB"),
    alias("L1I_TLB_REFILL", "iTLB-load-misses", "PMCx085 misses of both levels of the ITLB"),
    alias("DTLB_REFILL", "rff45", "PMCx045 misses of the L1 DTLB"),
    alias("L1D_TLB_REFILL", "rff45", "PMCx045 misses of the L1 DTLB"),
    no_event("AXI_WRITE", "writes to memory are counted for all cores together"),
    alias("BR_MIS_PRED", "branch-misses", "PMCx0C3 retired mispredicted branches"),
    alias("BR_PRED", "branches", "PMCx0C2 retired branches, mispredicted or not"),
    alias("BR_RETURN_SPEC", "rc8", "PMCx0C8 retired near returns"),
    alias("EXC_RETURN", "rc6", "PMCx0C6 retired far transfers: kernel entries and exits"),
];

/// Zen and Zen+.
pub(super) const ZEN1: &[EventAlias] = &[
    alias("L1_DCACHE_REFILL", "rc860", "PMCx060 requests from the data cache to the L2"),
    alias("L1D_CACHE_REFILL", "rc860", "PMCx060 requests from the data cache to the L2"),
    alias("L2D_CACHE", "rc860", "PMCx060 requests from the data cache to the L2"),
    alias("L1I_CACHE", "r80", "PMCx080 fetches of 32 bytes"),
    no_event("AXI_READ", "refills from memory are not counted separately"),
    no_event("BUS_ACCESS", "refills from beyond the L2 are not counted separately"),
];

/// Zen 2.
pub(super) const ZEN2: &[EventAlias] = &[
    alias("L1_DCACHE_REFILL", "rc860", "PMCx060 requests from the data cache to the L2"),
    alias("L1D_CACHE_REFILL", "rc860", "PMCx060 requests from the data cache to the L2"),
    alias("L2D_CACHE", "rc860", "PMCx060 requests from the data cache to the L2"),
    alias("L1I_CACHE", "r80", "PMCx080 fetches of 32 bytes"),
    alias("AXI_READ", "r4843", "PMCx043 demand refills from local or remote memory"),
    alias("BUS_ACCESS", "r5a43", "PMCx043 demand refills from beyond the L2"),
];

/// Zen 3, 4 and 5.
pub(super) const ZEN3: &[EventAlias] = &[
    alias("L1_DCACHE_REFILL", "rff44", "PMCx044 refills of the data cache"),
    alias("L1D_CACHE_REFILL", "rff44", "PMCx044 refills of the data cache"),
    alias("L2D_CACHE", "re860", "PMCx060 requests from the data cache to the L2"),
    alias("L1I_CACHE", "r100001f8e", "PMCx18E accesses to the instruction cache"),
    alias("AXI_READ", "r4843", "PMCx043 demand refills from local or remote memory"),
    alias("BUS_ACCESS", "r5e43", "PMCx043 demand refills from beyond the L2"),
];
