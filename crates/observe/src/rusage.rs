//! `rusage`: resource usage of each role, from its own `getrusage` around the timed region and from the kernel's
//! accounting ([getrusage(2)](https://man7.org/linux/man-pages/man2/getrusage.2.html)). It is collected in every run;
//! requesting the instrument adds it to the observations as well.

use ipcperf_model::instrument::rusage as facts;
use ipcperf_model::{Measurement, Observation, RoleUsage};

use crate::{Instrument, Source};

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "CPU times, page faults, context switches and calls of each role, measured by the role \
            itself",
    needs: "nothing: every run measures them",
    source: Source::Worker { rows },
};

fn rows(measured: &Measurement) -> Vec<Observation> {
    measured.roles.iter().map(usage).collect()
}

fn usage(used: &RoleUsage) -> Observation {
    let row = facts::RusageRow {
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
    Observation::from_row(Some(used.role.name()), &row)
}
