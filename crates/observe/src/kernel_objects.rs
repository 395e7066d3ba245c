//! `kernel-objects`: capacities of the kernel objects between the peers, as requested, as granted, and at the end of
//! the run. The peers inspect their own objects before the first phase and after the last. So nothing of this is in the
//! timed region, and no other process holds one of their descriptors.

use ipcperf_model::instrument::kernel_objects as facts;
use ipcperf_model::{KernelObject, Measurement, Observation, Role};

use crate::{Instrument, Source};

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "capacities of pipes, sockets and queues: requested, granted, and at the end of the run",
    needs: "/proc",
    source: Source::Worker { rows },
};

fn rows(measured: &Measurement) -> Vec<Observation> {
    measured.objects.iter().map(object).collect()
}

fn object(found: &KernelObject) -> Observation {
    let row = facts::KernelObjectRow {
        number: found.number,
        object: found.object.clone(),
        limit: found.limit.clone(),
        requested_bytes: found.requested_bytes,
        before_bytes: found.before_bytes,
        after_bytes: found.after_bytes,
    };
    Observation::from_row(found.role.map(Role::name), &row)
}
