//! `kernel-objects`: what the kernel may hold between the parties, as it was asked for, granted, and has become
//! at the end. The parties look at their own, before their first phase and after their last: nothing of it
//! is in the timed region, and nobody else holds a descriptor of theirs.

use ipcperf_model::instrument::kernel_objects as facts;
use ipcperf_model::{KernelObject, Measurement, Observation, Role};

use crate::{Instrument, Source};

/// What `kernel-objects` is.
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
