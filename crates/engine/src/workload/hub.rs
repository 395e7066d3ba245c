//! The peer that is connected to several others: the receiver of `fan-in`, the sender of `fan-out`, the `server`.
//!
//! The others run the loops of two peers, each over its own connection. The loops here are compiled once for all
//! mechanisms ([`MessageEnd`]): compared with waiting for several connections, a call through a table costs little.

use ipcperf_model::{Answer, Failure};
use rustix::io::Errno;

use super::lossy::{self, Arrival, Arrivals};
use super::multiplexer::Multiplexer;
use super::paced::is_last;
use super::{Task, transfer};
use crate::channel::{Descriptors, EndTraits, MessageEnd};
use crate::clock::now_ns;
use crate::message_order::MessageOrder;
use crate::payload_check::{AnyPayload, MessageDirection, Payload};
use crate::shared_state::Control;

/// The ends of several connections, one of which is in use.
pub struct HubEnd<'a> {
    ends: Vec<&'a mut (dyn MessageEnd + 'a)>,
    /// Order of the messages over each; empty if they have one size.
    orders: &'a [MessageOrder],
    pub(super) current: usize,
}

/// Task of a hub.
pub type HubTask<'a> = Task<'a, HubEnd<'a>, AnyPayload<'a>>;

impl<'a> HubEnd<'a> {
    /// Joins `ends`, of which there is at least one. `orders` are those of the messages over each; none if they have one
    /// size.
    #[must_use]
    pub fn new(ends: Vec<&'a mut (dyn MessageEnd + 'a)>, orders: &'a [MessageOrder]) -> Self {
        Self { ends, orders, current: 0 }
    }

    fn current(&mut self) -> &mut (dyn MessageEnd + 'a) {
        self.ends[self.current]
    }
}

/// Forwards to the function with the same name of the end in use.
macro_rules! forward_to_current {
    ($(fn $name:ident(&mut self $(, $argument:ident: $type:ty)?) -> $returned:ty;)*) => {
        $(#[inline]
        fn $name(&mut self $(, $argument: $type)?) -> $returned {
            self.current().$name($($argument)?)
        })*
    };
}

impl MessageEnd for HubEnd<'_> {
    fn traits(&self) -> EndTraits {
        self.ends[self.current].traits()
    }

    fn taken(&self) -> &[u8] {
        self.ends[self.current].taken()
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        self.ends[self.current].descriptors()
    }

    forward_to_current! {
        fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno>;
        fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno>;
        fn loan(&mut self, bytes: usize) -> Result<(), Errno>;
        fn loaned(&mut self) -> &mut [u8];
        fn send_loan(&mut self) -> Result<(), Errno>;
        fn take(&mut self) -> Result<usize, Errno>;
        fn release(&mut self) -> Result<(), Errno>;
        fn send_taken(&mut self) -> Result<(), Errno>;
        fn flush(&mut self) -> Result<(), Errno>;
        fn is_ready(&mut self) -> Option<bool>;
        fn drain(&mut self) -> ();
    }
}

/// Makes `connection` the one in use.
pub(super) fn select<'a>(task: &mut HubTask<'a>, controls: &[&'a Control], connection: usize) {
    task.end.current = connection;
    task.control = controls[connection];
    task.payload.order = task.end.orders.get(connection);
}

/// Sends every message over each connection in turn.
///
/// # Errors
/// Returns the first call that failed.
pub fn send_to_all<'a>(task: &mut HubTask<'a>, controls: &[&'a Control]) -> Result<(), Failure> {
    let (begin_ns, mut meter) = (now_ns(), task.meter);
    controls.iter().for_each(|control| control.begin(begin_ns));
    for number in task.size.numbers() {
        let what = (number, task.message_bytes(number, MessageDirection::Forward));
        send_one(task, controls, what, &mut meter)?;
    }
    task.meter = meter;
    for connection in 0..controls.len() {
        select(task, controls, connection);
        task.flush()?;
        if task.end.traits().lossy {
            lossy::send_end(task)?;
        }
    }
    Ok(())
}

/// Composes a message once and sends it over each connection; in the mechanism's memory it is composed for each.
fn send_one<'a>(
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
    (number, bytes): (u64, usize),
    meter: &mut super::Meter,
) -> Result<(), Failure> {
    let forward = MessageDirection::Forward;
    if task.end.traits().sends_in_place {
        return (0..controls.len()).try_for_each(|connection| {
            select(task, controls, connection);
            transfer::send(task, (number, bytes), forward, meter)
        });
    }
    let traits = task.end.traits();
    let message = task.outgoing.buffer(traits, number, bytes);
    task.payload.stamp(message, number, forward);
    (0..controls.len()).try_for_each(|connection| {
        task.end.current = connection;
        transfer::send_message(task.end, message, meter)
    })
}

/// Receives every message of each connection, as they arrive.
///
/// # Errors
/// Returns the first call that failed, or the first message that was wrong.
pub fn receive_from_all<'a>(
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
    multiplexer: &mut Multiplexer,
) -> Result<(), Failure> {
    if task.end.traits().lossy {
        return receive_some_from_all(task, controls, multiplexer);
    }
    for_each_arrival(task, controls, multiplexer, |task, number| {
        let (mut meter, what) =
            (task.meter, (number, task.message_bytes(number, MessageDirection::Forward)));
        transfer::receive(task, what, MessageDirection::Forward, &mut meter)?;
        task.meter = meter;
        if is_last_of_all(task, number) {
            task.control.finish(now_ns(), number + 1);
        }
        Ok(())
    })
}

/// Whether message `number` of the connection in use is its last one.
pub(super) fn is_last_of_all(task: &HubTask<'_>, number: u64) -> bool {
    number + 1 == task.size.messages || is_last(task.control, number)
}

/// Replies to every request of each connection, as they arrive. The clock is that of the clients.
///
/// # Errors
/// As for [`receive_from_all`].
pub fn serve_all<'a>(
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
    multiplexer: &mut Multiplexer,
) -> Result<(), Failure> {
    for_each_arrival(task, controls, multiplexer, |task, number| {
        let (mut meter, bytes, back) =
            (task.meter, task.request_bytes(number), task.answer_bytes(number));
        match task.answer {
            Answer::Echo => transfer::echo(task, (number, bytes), &mut meter)?,
            Answer::Separate(_) | Answer::SameSize => {
                transfer::receive(task, (number, bytes), MessageDirection::Forward, &mut meter)?;
                transfer::send(task, (number, back), MessageDirection::Reverse, &mut meter)?;
            }
        }
        task.meter = meter;
        task.flush()
    })
}

/// Calls `handle` for each message of each connection once it, or its first part, has arrived, with its number.
pub(super) fn for_each_arrival<'a>(
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
    multiplexer: &mut Multiplexer,
    mut handle: impl FnMut(&mut HubTask<'a>, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut open = controls.len();
    let (mut next, mut ready) = (vec![0_u64; open], Vec::with_capacity(open));
    while open > 0 {
        wait(task, multiplexer, &mut ready)?;
        for &connection in &ready {
            select(task, controls, connection);
            let number = next[connection];
            handle(task, number)?;
            next[connection] += 1;
            open -= usize::from(is_last_of_all(task, number));
        }
    }
    Ok(())
}

/// Receives from connections that may lose messages, until each has marked its end.
fn receive_some_from_all<'a>(
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
    multiplexer: &mut Multiplexer,
) -> Result<(), Failure> {
    let mut next = vec![0_u64; controls.len()];
    let mut arrivals: Vec<Arrivals> = controls.iter().map(|_| Arrivals::new()).collect();
    until_all_have_ended(task, controls, multiplexer, |task, connection| {
        let arrival = lossy::receive_one(task, &mut next[connection])?;
        match arrival {
            Arrival::Message => arrivals[connection].record(),
            Arrival::End => arrivals[connection].finish(task.control),
        }
        Ok(arrival)
    })
}

/// Calls `receive` for each connection that is ready, until each has marked its end.
pub(super) fn until_all_have_ended<'a>(
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
    multiplexer: &mut Multiplexer,
    mut receive: impl FnMut(&mut HubTask<'a>, usize) -> Result<Arrival, Failure>,
) -> Result<(), Failure> {
    let (mut open, mut ready) = (controls.len(), Vec::with_capacity(controls.len()));
    while open > 0 {
        wait(task, multiplexer, &mut ready)?;
        for &connection in &ready {
            select(task, controls, connection);
            if task.control.stream_has_ended() {
                // The sender repeats the mark until it knows that it has arrived.
                task.end.drain();
            } else if receive(task, connection)? == Arrival::End {
                task.control.end_stream();
                open -= 1;
            }
        }
    }
    Ok(())
}

/// Waits until a connection is ready.
fn wait(
    task: &mut HubTask<'_>,
    multiplexer: &mut Multiplexer,
    ready: &mut Vec<usize>,
) -> Result<(), Failure> {
    let calls = multiplexer
        .wait(&mut task.end.ends, ready)
        .map_err(|errno| transfer::call_failed("wait", 0, errno))?;
    task.meter.transfers += calls;
    task.meter.polls += calls;
    Ok(())
}
