//! AMD's cores since Zen: event numbers of the *Processor Programming References* for family 17h (54945 and 55803), 19h
//! (55898 and 55901) and 1Ah (58550), section "Core performance monitor counters". PMCx029 with mask 1 is written
//! r0129. L2 misses are counted by each core; the L3 counts for all cores together.

use super::{Core, Line, line, none};

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
pub(super) const COMMON: &[Line] = &[
    line("INSTR_EXECUTED", "instructions", "PMCx0C0 retired instructions"),
    line("INST_RETIRED", "instructions", "PMCx0C0 retired instructions"),
    line("CLOCK_CYCLES", "cycles", "PMCx076 cycles not in halt"),
    line("CPU_CYCLES", "cycles", "PMCx076 cycles not in halt"),
    line("MEM_READ", "r0129", "PMCx029 loads dispatched"),
    line("LD_SPEC", "r0129", "PMCx029 loads dispatched"),
    line("MEM_WRITE", "r0229", "PMCx029 stores dispatched"),
    line("ST_SPEC", "r0229", "PMCx029 stores dispatched"),
    line("MEM_ACCESS", "r0729", "PMCx029 loads, stores and both in one dispatched"),
    line("L1_DCACHE_ACCESS", "r0729", "PMCx029 loads, stores and both in one dispatched"),
    line("L1D_CACHE", "r0729", "PMCx029 loads, stores and both in one dispatched"),
    line("L1_ICACHE_REFILL", "r1060", "PMCx060 reads of the L2 for instructions"),
    line("L1I_CACHE_REFILL", "r1060", "PMCx060 reads of the L2 for instructions"),
    line("L2_ACCESS", "rf960", "PMCx060 requests to the L2, but for prefetches"),
    line("L2_CACHE_MISS", "r0964", "PMCx064 misses of the L2, data and instructions"),
    line("L2D_CACHE_REFILL", "r0864", "PMCx064 misses of the L2, data"),
    line("ITLB_REFILL", "iTLB-load-misses", "PMCx085 misses of both levels of the ITLB"),
    line("L1I_TLB_REFILL", "iTLB-load-misses", "PMCx085 misses of both levels of the ITLB"),
    line("DTLB_REFILL", "rff45", "PMCx045 misses of the L1 DTLB"),
    line("L1D_TLB_REFILL", "rff45", "PMCx045 misses of the L1 DTLB"),
    none("AXI_WRITE", "what a core writes to memory is counted for all cores together"),
    line("BR_MIS_PRED", "branch-misses", "PMCx0C3 retired branches mispredicted"),
    line("BR_PRED", "branches", "PMCx0C2 retired branches, predicted or not"),
    line("BR_RETURN_SPEC", "rc8", "PMCx0C8 retired near returns"),
    line("EXC_RETURN", "rc6", "PMCx0C6 retired far transfers, into the kernel and out of it"),
];

/// Zen and Zen+.
pub(super) const ZEN1: &[Line] = &[
    line("L1_DCACHE_REFILL", "rc860", "PMCx060 requests of the data cache to the L2"),
    line("L1D_CACHE_REFILL", "rc860", "PMCx060 requests of the data cache to the L2"),
    line("L2D_CACHE", "rc860", "PMCx060 requests of the data cache to the L2"),
    line("L1I_CACHE", "r80", "PMCx080 fetches of 32 bytes"),
    none("AXI_READ", "refills from memory are not told from others"),
    none("BUS_ACCESS", "refills from beyond the L2 are not told from others"),
];

/// Zen 2.
pub(super) const ZEN2: &[Line] = &[
    line("L1_DCACHE_REFILL", "rc860", "PMCx060 requests of the data cache to the L2"),
    line("L1D_CACHE_REFILL", "rc860", "PMCx060 requests of the data cache to the L2"),
    line("L2D_CACHE", "rc860", "PMCx060 requests of the data cache to the L2"),
    line("L1I_CACHE", "r80", "PMCx080 fetches of 32 bytes"),
    line("AXI_READ", "r4843", "PMCx043 demand refills from memory, near or far"),
    line("BUS_ACCESS", "r5a43", "PMCx043 demand refills from beyond the L2"),
];

/// Zen 3, 4 and 5.
pub(super) const ZEN3: &[Line] = &[
    line("L1_DCACHE_REFILL", "rff44", "PMCx044 refills of the data cache"),
    line("L1D_CACHE_REFILL", "rff44", "PMCx044 refills of the data cache"),
    line("L2D_CACHE", "re860", "PMCx060 requests of the data cache to the L2"),
    line("L1I_CACHE", "r100001f8e", "PMCx18E accesses to the instruction cache"),
    line("AXI_READ", "r4843", "PMCx043 demand refills from memory, near or far"),
    line("BUS_ACCESS", "r5e43", "PMCx043 demand refills from beyond the L2"),
];
