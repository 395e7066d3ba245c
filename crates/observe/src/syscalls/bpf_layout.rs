//! Memory layout of the BPF program's maps (`#[repr(C)]` copies of the C structs), and the conversion to result rows.

use std::collections::BTreeMap;

use ipcperf_model::instrument::syscalls::{CallPercentiles, SyscallRow};
use ipcperf_model::log2_histogram;

use crate::bpf::MAX_MEMBERS;
use crate::syscall_table::{by_number, requests_bytes, returns_bytes, syscall_name};

/// Number of system calls with a row each: those numbered below this. All higher numbers share one extra row.
pub(super) const MAX_NUMBERS: usize = 512;

/// Totals of one system call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawSyscallRow {
    pub(super) generation: u64,
    pub(super) count: u64,
    pub(super) errors: u64,
    pub(super) requested_bytes: u64,
    pub(super) unknown_requests: u64,
    pub(super) returned: u64,
    pub(super) total_ns: u64,
    pub(super) max_ns: u64,
    pub(super) min_complement_ns: u64,
    pub(super) times: [u64; log2_histogram::ROWS],
    pub(super) results: [u64; log2_histogram::ROWS],
}

/// A system call in progress.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawSyscall {
    began_ns: u64,
    pub(super) generation: u64,
    number: u64,
    requested_bytes: i64,
}

/// State of a member's own thread.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct RawSyscallThread {
    is_in_phase: u64,
    pub(super) call: RawSyscall,
    unused: [u64; 11],
}

/// The whole `.bss` section of the BPF object.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct SyscallsBss {
    pub(super) threads: [RawSyscallThread; MAX_MEMBERS],
    pub(super) lost: u64,
    pub(super) rows: [[RawSyscallRow; MAX_NUMBERS + 1]; MAX_MEMBERS],
}

/// Key of the `shared_rows` map: the member, the system call and the phase a row belongs to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct SyscallRowKey {
    pub(super) member: u32,
    pub(super) number: u32,
    pub(super) generation: u64,
}

// SAFETY: `#[repr(C)]` like the C struct, without padding, and all fields are integers: any bytes are a valid value.
unsafe impl aya::Pod for SyscallsBss {}
// SAFETY: as above.
unsafe impl aya::Pod for RawSyscallRow {}
// SAFETY: as above.
unsafe impl aya::Pod for SyscallRowKey {}

/// Returns the rows of one member in the given generation (phase), ordered by system call number.
pub(super) fn rows_of(
    member: usize,
    generation: u64,
    bss: &SyscallsBss,
    shared: &[(SyscallRowKey, RawSyscallRow)],
) -> Vec<SyscallRow> {
    let mut rows = BTreeMap::new();
    for (number, row) in (0_u32..).zip(&bss.rows[member]) {
        if row.generation == generation && row.count > 0 {
            rows.insert(number, *row);
        }
    }
    for (key, row) in shared {
        if key.member as usize == member && key.generation == generation {
            rows.entry(key.number).and_modify(|own| own.add(row)).or_insert(*row);
        }
    }
    rows.iter().map(|(&number, row)| row.row(number)).collect()
}

impl RawSyscallRow {
    /// Adds the calls made by the member's other threads to those of its own thread.
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.requested_bytes = self.requested_bytes.wrapping_add(other.requested_bytes);
        self.unknown_requests += other.unknown_requests;
        self.returned = self.returned.wrapping_add(other.returned);
        self.total_ns += other.total_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
        self.min_complement_ns = self.min_complement_ns.max(other.min_complement_ns);
        for row in 0..log2_histogram::ROWS {
            self.times[row] += other.times[row];
            self.results[row] += other.results[row];
        }
    }

    fn row(&self, number: u32) -> SyscallRow {
        let has_own_row = usize::try_from(number).is_ok_and(|number| number < MAX_NUMBERS);
        let call = by_number(number.into());
        let requests_known = call.is_some_and(requests_bytes) && self.unknown_requests == 0;
        let (log2_histogram_ns, least_ns) =
            (log2_histogram::pairs(&self.times), !self.min_complement_ns);
        SyscallRow {
            syscall: if has_own_row {
                syscall_name(number.into())
            } else {
                format!("{MAX_NUMBERS} and above")
            },
            number: has_own_row.then_some(number),
            count: self.count,
            requested_bytes: requests_known.then_some(self.requested_bytes),
            returned_bytes: call.is_some_and(returns_bytes).then_some(self.returned),
            errors: self.errors,
            percentiles_ns: CallPercentiles::from_histogram(
                &log2_histogram_ns,
                least_ns,
                self.max_ns,
            ),
            log2_histogram_ns,
            total_ns: self.total_ns,
            min_ns: least_ns,
            log2_histogram_returned: log2_histogram::pairs(&self.results),
        }
    }
}
