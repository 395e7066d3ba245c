//! What the worker tells of itself, as observations.

use ipcperf_engine::worker::KernelObject;
use ipcperf_engine::{Measurement, Role, RoleUsage};
use ipcperf_observe::{KERNEL_OBJECTS, Observation, RUSAGE, kernel_objects, rusage};

/// What `measured` says where `instrument` is one of the worker's own; nothing where it is not.
pub(super) fn told_by_worker(instrument: &str, measured: &Measurement) -> Vec<Observation> {
    match instrument {
        KERNEL_OBJECTS => measured.objects.iter().map(object).collect(),
        RUSAGE => measured.roles.iter().map(usage).collect(),
        _ => Vec::new(),
    }
}

fn usage(used: &RoleUsage) -> Observation {
    let row = rusage::Row {
        user_ns: used.user_ns,
        system_ns: used.system_ns,
        cpu_ns: used.cpu_ns,
        run_delay_ns: used.run_delay_ns,
        minor_faults: used.minor_faults,
        voluntary_switches: used.voluntary_switches,
        involuntary_switches: used.involuntary_switches,
        calls: used.calls,
        short_writes: used.short_writes,
        short_reads: used.short_reads,
    };
    Observation::of(Some(used.role.name()), &row)
}

fn object(found: &KernelObject) -> Observation {
    let row = kernel_objects::Row {
        number: found.number,
        object: found.object.clone(),
        limit: found.limit.clone(),
        asked_bytes: found.asked_bytes,
        before_bytes: found.before_bytes,
        after_bytes: found.after_bytes,
    };
    Observation::of(found.role.map(Role::name), &row)
}
