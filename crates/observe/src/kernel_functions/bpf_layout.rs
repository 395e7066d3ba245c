//! Memory layout of the BPF program's maps (`#[repr(C)]` copies of the C structs), and the conversion to result rows.

use std::collections::BTreeMap;

use ipcperf_model::instrument::kernel_functions::KernelFunctionRow;
use ipcperf_model::instrument::syscalls::CallPercentiles;
use ipcperf_model::log2_histogram;

use super::table::MAX_FUNCTIONS;
use crate::bpf::MAX_MEMBERS;

/// Maximum number of nested calls of one function by one thread.
const MAX_DEPTH: usize = 4;

/// Totals of one function.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawFunctionRow {
    generation: u64,
    count: u64,
    unpaired: u64,
    total_ns: u64,
    max_ns: u64,
    min_complement_ns: u64,
    times: [u64; log2_histogram::ROWS],
}

/// State of a member's own thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct RawFunctionThread {
    is_in_phase: u64,
    generation: u64,
    stacks: [[[u64; 3]; MAX_DEPTH]; MAX_FUNCTIONS],
    unused: [u64; 14],
}

/// The whole `.bss` section of the BPF object.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct FunctionsBss {
    threads: [RawFunctionThread; MAX_MEMBERS],
    pub(super) lost: u64,
    rows: [[RawFunctionRow; MAX_FUNCTIONS]; MAX_MEMBERS],
}

/// Key of the `shared_rows` map: the member, the function and the phase a row belongs to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct FunctionRowKey {
    member: u32,
    function: u32,
    generation: u64,
}

// SAFETY: `#[repr(C)]` like the C struct, without padding, and all fields are integers: any bytes are a valid value.
unsafe impl aya::Pod for FunctionsBss {}
// SAFETY: as above.
unsafe impl aya::Pod for RawFunctionRow {}
// SAFETY: as above.
unsafe impl aya::Pod for FunctionRowKey {}

impl FunctionsBss {
    /// Returns the last generation (phase) of a member that makes its own marks.
    pub(super) fn generation(&self, member: usize) -> u64 {
        self.threads[member].generation
    }

    /// Whether a thread is still between its marks after the run, which means that the kernel did not report a mark.
    pub(super) fn has_missing_mark(&self) -> bool {
        self.threads.iter().any(|thread| thread.is_in_phase != 0)
    }

    /// Returns the last generation of any thread.
    pub(super) fn last_generation(&self) -> u64 {
        self.threads.iter().map(|thread| thread.generation).max().unwrap_or(0)
    }

    /// Returns the rows of one member in `generation`, keyed by the function's index in the table.
    pub(super) fn rows_of(
        &self,
        member: usize,
        generation: u64,
        shared: &[(FunctionRowKey, RawFunctionRow)],
    ) -> BTreeMap<usize, RawFunctionRow> {
        let own = self.rows[member].iter().copied().enumerate();
        let mut rows: BTreeMap<_, _> =
            own.filter(|(_, row)| row.generation == generation && generation > 0).collect();
        for (key, row) in shared {
            if key.member as usize == member && key.generation == generation {
                let own = rows.entry(key.function as usize);
                own.and_modify(|own| own.add(row)).or_insert(*row);
            }
        }
        rows
    }
}

impl RawFunctionRow {
    /// Adds the calls made by the member's other threads to those of its own thread.
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.min_complement_ns = self.min_complement_ns.max(other.min_complement_ns);
        for (own, other) in self.times.iter_mut().zip(other.times) {
            *own += other;
        }
    }

    pub(super) fn row(&self, function: &str) -> KernelFunctionRow {
        let log2_histogram_ns = log2_histogram::pairs(&self.times);
        let min_ns = (self.count > 0).then_some(!self.min_complement_ns);
        let percentiles =
            |min_ns| CallPercentiles::from_histogram(&log2_histogram_ns, min_ns, self.max_ns);
        KernelFunctionRow {
            function: function.to_owned(),
            count: self.count,
            lost_calls: self.unpaired,
            total_ns: self.total_ns,
            min_ns,
            percentiles_ns: min_ns.map(percentiles),
            log2_histogram_ns,
        }
    }
}
