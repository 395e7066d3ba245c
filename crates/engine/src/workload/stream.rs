//! `stream`: one peer sends, the other receives.
//!
//! The clock starts just before the first byte is sent and stops just after the last is received. There are no readings
//! in between.

use ipcperf_model::Failure;

use super::interleaved::{Leg, transfer_range};
use super::lossy::{self, Arrivals};
use super::{PhaseSize, Task, Workload, transfer};
use crate::channel::MessageEnd;
use crate::clock::now_ns;
use crate::payload_check::{MessageDirection, Payload};

/// The workload `stream`.
#[derive(Debug)]
pub struct Stream;

impl Workload for Stream {
    fn phase_size(buffer_bytes: usize, total_bytes: u64) -> PhaseSize {
        PhaseSize::from_total(buffer_bytes, total_bytes)
    }

    #[inline]
    fn send<E: MessageEnd + ?Sized, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure> {
        // Counted in registers: through `task` each count would be a store and a load.
        let mut meter = task.meter;
        task.control.begin(now_ns());
        for number in task.size.numbers() {
            let what = (number, task.message_bytes(number, MessageDirection::Forward));
            transfer::send(task, what, MessageDirection::Forward, &mut meter)?;
        }
        task.meter = meter;
        if task.end.traits().lossy {
            lossy::send_end(task)?;
        }
        Ok(())
    }

    #[inline]
    fn receive<E: MessageEnd + ?Sized, P: Payload>(
        task: &mut Task<'_, E, P>,
    ) -> Result<(), Failure> {
        if task.end.traits().lossy {
            return lossy::receive(task);
        }
        let mut meter = task.meter;
        for number in task.size.numbers() {
            let what = (number, task.message_bytes(number, MessageDirection::Forward));
            transfer::receive(task, what, MessageDirection::Forward, &mut meter)?;
        }
        task.meter = meter;
        task.control.finish(now_ns(), task.size.messages);
        Ok(())
    }

    #[inline]
    fn both<E: MessageEnd + ?Sized, P: Payload>(
        task: &mut Task<'_, E, P>,
        receiver: &mut E,
    ) -> Result<(), Failure> {
        let numbers = task.size.numbers();
        task.control.begin(now_ns());
        if task.end.traits().lossy {
            let mut arrivals = Arrivals::new();
            transfer_range(task, receiver, numbers, Leg::FORWARD, || arrivals.record())?;
            arrivals.finish(task.control);
            return Ok(());
        }
        // Numbers begin at 0, so the number after the last equals the number of messages.
        let messages = transfer_range(task, receiver, numbers, Leg::FORWARD, || {})?;
        task.control.finish(now_ns(), messages);
        Ok(())
    }
}
