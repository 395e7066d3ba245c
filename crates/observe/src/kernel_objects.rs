//! `kernel-objects`: capacities of the kernel objects between the peers, as requested, as granted, and at the end of
//! the run. The peers inspect their own objects before the first phase and after the last. So nothing of this is in the
//! timed region, and no other process holds one of their descriptors.

use ipcperf_model::instrument::kernel_objects as facts;
use ipcperf_model::{KernelObject, Measurement, Observation, Role};

use crate::{Instrument, Source};

/// The instrument.
pub(crate) const INSTRUMENT: Instrument = Instrument {
    facts: &facts::FACTS,
    about: "capacities of pipes, sockets and queues: asked for, granted, and what they have grown to",
    needs: "/proc",
    source: Source::Worker { rows },
};

fn rows(measured: &Measurement) -> Vec<Observation> {
    measured.objects.iter().map(object).collect()
}

fn object(found: &KernelObject) -> Observation {
    let row = facts::Row {
        number: found.number,
        object: found.object.clone(),
        limit: found.limit.clone(),
        asked_bytes: found.asked_bytes,
        before_bytes: found.before_bytes,
        after_bytes: found.after_bytes,
    };
    Observation::of(found.role.map(Role::name), &row)
}
