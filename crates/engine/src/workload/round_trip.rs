//! `round-trip`: each message is answered by one of the same size before the next is sent.
//!
//! `request-reply` has the same loops and the same clock: its reply is an echo, or a message of another size
//! ([`Answer`]).
//!
//! Trips of two microseconds or more are timed individually, with one reading of the time stamp counter each. In
//! shorter trips the reading would be noticeable: they run in batches for the mean, and one trip of each batch is timed
//! individually for the distribution. The reading itself takes 9 ns; between two CPUs that poll each other's cache
//! lines it made trips of 1.2 µs 80 to 110 ns longer.

use std::ops::Range;

use ipcperf_model::{Answer, Failure, FailureKind};

use super::interleaved::{Leg, transfer_range};
use super::{PhaseSize, Task, Workload, transfer};
use crate::channel::MessageEnd;
use crate::clock::{Timestamp, now_ns, ticks};
use crate::payload_check::{MessageDirection, Payload};

/// Number of trips timed to estimate the duration of one; they count like any other.
const ESTIMATE_TRIPS: u64 = 64;
/// Upper bound of a trip in ns, and the number of trips of which one is timed individually; the first matching entry
/// applies.
const BATCHES: [(u64, u64); 2] = [(1_000, 64), (2_000, 16)];

/// The workload `round-trip`.
#[derive(Debug)]
pub struct RoundTrip;

impl Workload for RoundTrip {
    fn phase_size(buffer_bytes: usize, total_bytes: u64) -> PhaseSize {
        PhaseSize::new(buffer_bytes, total_bytes.div_ceil(buffer_bytes as u64))
    }

    #[inline]
    fn send<E: MessageEnd + ?Sized, P: Payload>(task: &mut Task<'_, E, P>) -> Result<(), Failure> {
        // Counted in registers: through `task` each count would be a store and a load.
        let mut meter = task.meter;
        let answered_as = task.reply_stamp();
        run_timed(task, |task, number| {
            let (there, back) = (task.request_bytes(number), task.answer_bytes(number));
            transfer::send(task, (number, there), MessageDirection::Forward, &mut meter)?;
            transfer::receive(task, (number, back), answered_as, &mut meter)
        })?;
        task.meter = meter;
        Ok(())
    }

    #[inline]
    fn receive<E: MessageEnd + ?Sized, P: Payload>(
        task: &mut Task<'_, E, P>,
    ) -> Result<(), Failure> {
        let mut meter = task.meter;
        for number in task.size.numbers() {
            let (bytes, back) = (task.request_bytes(number), task.answer_bytes(number));
            if task.answer == Answer::Echo {
                transfer::echo(task, (number, bytes), &mut meter)?;
                continue;
            }
            transfer::receive(task, (number, bytes), MessageDirection::Forward, &mut meter)?;
            transfer::send(task, (number, back), MessageDirection::Reverse, &mut meter)?;
        }
        task.meter = meter;
        Ok(())
    }

    #[inline]
    fn both<E: MessageEnd + ?Sized, P: Payload>(
        task: &mut Task<'_, E, P>,
        receiver: &mut E,
    ) -> Result<(), Failure> {
        run_timed(task, |task, number| {
            let (one, answered_as) = (number..number + 1, task.reply_stamp());
            let there = transfer_range(task, receiver, one.clone(), Leg::FORWARD, || {})?;
            let back =
                transfer_range(task, receiver, one.clone(), Leg::reverse(answered_as), || {})?;
            if (there, back) == (one.end, one.end) { Ok(()) } else { Err(trip_lost(number)) }
        })
    }
}

#[cold]
pub(super) fn trip_lost(number: u64) -> Failure {
    Failure::new(FailureKind::Corrupt, format!("round trip {number} was lost"))
}

/// Runs all trips, and times each or some of them.
fn run_timed<E: ?Sized, P>(
    task: &mut Task<'_, E, P>,
    mut trip: impl FnMut(&mut Task<'_, E, P>, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let messages = task.size.messages;
    let first = messages.min(ESTIMATE_TRIPS);
    let start = Timestamp::now();
    task.control.begin(start.ns);
    time_each(task, 0..first, &mut trip)?;
    if first < messages {
        task.timed_every = timed_every((now_ns() - start.ns) / first);
        if task.timed_every == 1 {
            time_each(task, first..messages, &mut trip)?;
        } else {
            // All of the first trips are in the histogram, where they would be overrepresented.
            task.trips.clear();
            time_some(task, first..messages, &mut trip)?;
        }
    }
    let end = Timestamp::now();
    task.control.finish(end.ns, messages);
    task.control.calibrate(start.ns_per_tick(end));
    Ok(())
}

fn timed_every(trip_ns: u64) -> u64 {
    BATCHES.iter().find(|(below_ns, _)| trip_ns < *below_ns).map_or(1, |(_, batch)| *batch)
}

/// Times each trip with one reading: a trip ends where the next begins.
#[inline]
fn time_each<E: ?Sized, P>(
    task: &mut Task<'_, E, P>,
    numbers: Range<u64>,
    trip: &mut impl FnMut(&mut Task<'_, E, P>, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut last = ticks();
    for number in numbers {
        make_trips(task, number..number + 1, trip)?;
        let now = ticks();
        task.trips.record(now.saturating_sub(last));
        last = now;
    }
    Ok(())
}

/// Times the last trip of each batch individually.
#[inline]
fn time_some<E: ?Sized, P>(
    task: &mut Task<'_, E, P>,
    numbers: Range<u64>,
    trip: &mut impl FnMut(&mut Task<'_, E, P>, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (batch, mut number) = (task.timed_every, numbers.start);
    while number < numbers.end {
        let last = (number + batch - 1).min(numbers.end - 1);
        make_trips(task, number..last, trip)?;
        let before = ticks();
        make_trips(task, last..last + 1, trip)?;
        task.trips.record(ticks().saturating_sub(before));
        number = last + 1;
    }
    Ok(())
}

/// Makes the trips `numbers`. Not inlined: the loop of each mechanism would be compiled four times.
#[inline(never)]
fn make_trips<E: ?Sized, P>(
    task: &mut Task<'_, E, P>,
    numbers: Range<u64>,
    trip: &mut impl FnMut(&mut Task<'_, E, P>, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for number in numbers {
        trip(task, number)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_trips_are_the_fewer_are_timed() {
        let trips_ns = [200, 999, 1_000, 1_999, 2_000, 40_000];
        assert_eq!(trips_ns.map(timed_every), [64, 64, 16, 16, 1, 1]);
    }
}
