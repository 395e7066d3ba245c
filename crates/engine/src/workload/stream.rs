//! `stream`: one peer sends, the other receives.
//!
//! The clock starts just before the first byte is sent and stops just after the last is received. There are no readings
//! in between.

use ipcperf_model::Failure;

use super::interleaved::{Leg, carry};
use super::lossy::{self, Arrivals};
use super::{Extent, Task, Workload, transfer};
use crate::channel::Endpoint;
use crate::clock::now_ns;
use crate::payload::{Payload, Way};

/// The workload `stream`.
#[derive(Debug)]
pub struct Stream;

impl Workload for Stream {
    fn extent(buffer_bytes: usize, total_bytes: u64) -> Extent {
        Extent::of_total(buffer_bytes, total_bytes)
    }

    fn send<E: Endpoint, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure> {
        // Counted in registers: through `task` each count would be a store and a load.
        let mut meter = task.meter;
        task.control.begin(now_ns());
        for number in task.extent.numbers() {
            let what = (number, task.extent.bytes_of(number));
            transfer::send(task, what, Way::There, &mut meter)?;
        }
        task.meter = meter;
        if E::LOSES {
            lossy::send_end(task)?;
        }
        Ok(())
    }

    fn receive<E: Endpoint, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure> {
        if E::LOSES {
            return lossy::receive(task);
        }
        let mut meter = task.meter;
        for number in task.extent.numbers() {
            let what = (number, task.extent.bytes_of(number));
            transfer::receive(task, what, Way::There, &mut meter)?;
        }
        task.meter = meter;
        task.control.finish(now_ns(), task.extent.messages);
        Ok(())
    }

    fn both<E: Endpoint, P: Payload>(
        task: &mut Task<'_, E, P>,
        receiver: &mut E,
    ) -> Result<(), Failure> {
        let numbers = task.extent.numbers();
        task.control.begin(now_ns());
        if E::LOSES {
            let mut arrivals = Arrivals::none_yet();
            carry(task, receiver, numbers, Leg::THERE, || arrivals.one_more())?;
            arrivals.finish(task.control);
            return Ok(());
        }
        // Numbers begin at 0, so the number after the last equals the number of messages.
        let messages = carry(task, receiver, numbers, Leg::THERE, || {})?;
        task.control.finish(now_ns(), messages);
        Ok(())
    }
}
