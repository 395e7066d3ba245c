//! Rows of instruments for the tests of the screen.

use ipcperf_model::instrument::profile::{
    Group, ProfileRow, ProfileSummary, SampledThreads, Space, SymbolShare,
};
use ipcperf_model::instrument::rusage::RusageRow;
use ipcperf_model::instrument::syscalls::{CallPercentiles, SyscallRow};

/// Returns a row of the system call named `syscall`. Its calls took `total_ns` in total; all other values are constant.
pub(super) fn syscall_row(syscall: &str, total_ns: u64) -> SyscallRow {
    SyscallRow {
        syscall: syscall.to_owned(),
        number: Some(1),
        count: 4_096,
        requested_bytes: None,
        returned_bytes: Some(16 << 20),
        errors: 2,
        log2_histogram_ns: vec![(256, 4_000), (512, 90), (1 << 20, 6)],
        percentiles_ns: CallPercentiles { p50: 380, p90: 500, p99: 900, max: 2_000_000 },
        total_ns,
        min_ns: 260,
        log2_histogram_returned: Vec::new(),
    }
}

/// Returns the resource usage of a role that used 2,000 ns of CPU time.
pub(super) fn usage_row() -> RusageRow {
    RusageRow {
        user_ns: 500,
        system_ns: 1_500,
        cpu_ns: Some(2_000),
        run_delay_ns: None,
        minor_faults: 42,
        voluntary_switches: 7,
        involuntary_switches: 8,
        calls: None,
        short_writes: 0,
        short_reads: 0,
    }
}

/// Returns a profile with `samples` samples and with `functions` kernel functions, numbered from 1. The share of each
/// function is its number in percent.
pub(super) fn profile_rows(samples: u64, functions: u32) -> Vec<ProfileRow> {
    let summary = ProfileSummary {
        event: "cpu-clock".to_owned(),
        frequency_hz: 1_999,
        sampled: SampledThreads::Cpus,
        samples,
        events: samples * 500_000,
        kernel_samples: Some(samples),
        overwritten_ns: 0,
        kernel_symbols: None,
        skid_share: None,
        cpu_time_coverage: None,
    };
    let function = |number: u32| {
        ProfileRow::Symbol(SymbolShare {
            symbol: format!("function_with_a_long_name_{number}"),
            space: Space::Kernel,
            object: "vmlinux".to_owned(),
            group: Group::Other,
            samples: 1,
            share: f64::from(number) / 100.0,
        })
    };
    std::iter::once(ProfileRow::Summary(summary)).chain((1..=functions).map(function)).collect()
}
