//! Implementation of `futex`.

use ipcperf_model::Failure;

use crate::channel::{Channel, Granted, Mechanism, Meet, Meeting, Opened, Setup};
use crate::mechanism::futex_doorbell::FutexDoorbell;
use crate::mechanism::slot::{SlotEnd, meet_ends, open_ends, slot_memory};
use crate::mechanism::waiting::{self, Spinning};
use crate::platform::memory::shared_memory_available;

/// The part of `futex` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: shared_memory_available,
    in_flight_messages: |_| 2,
    execute: waiting::execute::<Futex, Spinning>,
    meet: Some(waiting::meet::<Futex, Spinning>),
    ..Mechanism::BASE
};

struct Futex;

impl Channel for Futex {
    type End = SlotEnd<FutexDoorbell>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        open_ends(setup, slot_memory(setup)?, |spot| Ok(FutexDoorbell { location: spot }))
    }
}

impl Meet for Futex {
    fn meet(setup: &Setup<'_>, meeting: &Meeting<'_>) -> Result<(Self::End, Granted), Failure> {
        meet_ends(setup, meeting, |spot, _| Ok(FutexDoorbell { location: spot }))
    }
}

#[cfg(test)]
mod tests {
    use super::Futex;
    use crate::mechanism::waiting::assert_tries_return;

    #[test]
    fn a_try_returns_at_once() {
        assert_tries_return::<Futex>();
    }
}
