//! Paced runs: messages, or requests, at the times of a schedule, whatever the receiver does (open loop).
//!
//! The sender never waits for the receiver longer than the mechanism blocks it, and catches up afterwards. A latency
//! counts from the time at which the message was due, and once more from the time at which it was sent, as other tools
//! measure it. A run that is far from carrying its rate ends after [`MAX_STRETCH`](super::sender_loop) times its schedule.
//!
//! The loops are compiled once for all mechanisms: see [`MessageEnd`].

use ipcperf_model::pacing::Pacing;
use ipcperf_model::{Answer, Failure, Role, RunSpec};
use rustix::io::Errno;

use super::interleaved::{Leg, transfer_range};
use super::latency_recorder::{ArrivalCounts, LatencyHistograms, LatencyRecorder, ScheduleStart};
use super::lossy::Arrival;
use super::pacer::{Delays, WaitingTimes};
use super::schedule::{CHECKPOINTS, Schedule};
use super::send_times::{SendStamp, SendTimes};
use super::sender_loop::SenderLoop;
use super::{Task, lossy, transfer};
use crate::channel::MessageEnd;
use crate::clock::{now_ns, ticks_after_loads};
use crate::payload_check::{AnyPayload, MessageDirection, Payload};
use crate::shared_state::Control;

/// Task of a paced peer: the type of its end is erased, and whether messages are processed is decided at run time.
pub type PacedTask<'a> = Task<'a, dyn MessageEnd + 'a, AnyPayload<'a>>;

/// State of a peer of a paced run.
#[derive(Debug)]
pub struct PacedPeer {
    pacing: Pacing,
    times: SendTimes,
    checkpoints_ns: [f64; CHECKPOINTS],
    /// Latencies of the messages that arrived here, or of the round trips that began here.
    pub latencies: LatencyHistograms,
    /// Delays of the messages that were sent from here.
    pub delays: Delays,
    /// Arrivals of these messages.
    pub counts: ArrivalCounts,
    /// Times spent waiting for the schedule.
    pub waited: WaitingTimes,
    /// Number of messages that were sent.
    pub sent: u64,
}

impl PacedPeer {
    /// Creates the state for a run of `pacing` with the stamps in `times`, which keeps the `slow` slowest messages, with all of
    /// its memory present.
    #[must_use]
    pub fn new(pacing: Pacing, times: SendTimes, slow: usize) -> Self {
        times.touch();
        Self {
            pacing,
            times,
            checkpoints_ns: Schedule::new(&pacing).checkpoints_ns(pacing.messages),
            latencies: LatencyHistograms::new_touched(slow),
            delays: Delays::new_touched(),
            counts: ArrivalCounts::default(),
            waited: WaitingTimes::default(),
            sent: 0,
        }
    }

    /// Schedule of the run.
    #[must_use]
    pub const fn pacing(&self) -> &Pacing {
        &self.pacing
    }

    /// Time at which the last message is due, ns after the start.
    #[must_use]
    pub const fn end_ns(&self) -> f64 {
        self.checkpoints_ns[CHECKPOINTS - 1]
    }

    /// Discards what was recorded.
    pub fn clear(&mut self) {
        self.latencies.clear();
        self.delays.clear();
    }

    /// Runs the part of `role`; `other` is the other end, if one thread runs both.
    ///
    /// # Errors
    /// Returns the first call that failed, or the first message that was wrong.
    pub fn run<'a>(
        &mut self,
        role: Role,
        task: &mut PacedTask<'a>,
        other: Option<&mut (dyn MessageEnd + 'a)>,
        traffic: Traffic,
    ) -> Result<(), Failure> {
        match (role, traffic, other) {
            (Role::Receiver, Traffic::OneWay, _) => self.receive(task),
            (Role::Receiver, Traffic::Answered, _) => answer(task),
            (_, Traffic::OneWay, None) => self.send(task),
            (_, Traffic::Answered, None) => self.request(task),
            (_, Traffic::OneWay, Some(other)) => self.send_to_self(task, other),
            (_, Traffic::Answered, Some(other)) => self.request_of_self(task, other),
        }
    }

    /// Splits the state into the sender's loop, which announces its schedule to the receivers behind `controls`, and the
    /// recorder.
    fn begin<'a>(
        &'a mut self,
        controls: Vec<&'a Control>,
    ) -> (SenderLoop<'a>, LatencyRecorder<'a>) {
        let (pacing, checkpoints_ns) = (&self.pacing, self.checkpoints_ns);
        let recorder = LatencyRecorder::new(pacing, checkpoints_ns, &mut self.latencies);
        (SenderLoop::begin(pacing, &mut self.delays, controls), recorder)
    }

    /// Recorder of the messages that arrive here.
    pub(super) fn recorder(&mut self) -> LatencyRecorder<'_> {
        LatencyRecorder::new(&self.pacing, self.checkpoints_ns, &mut self.latencies)
    }

    /// Place of the stamps of its messages.
    pub(super) const fn times(&self) -> SendTimes {
        self.times
    }

    /// Sends every message of the schedule with `send`, which gets its stamp, to the receivers behind `controls`.
    ///
    /// # Errors
    /// Returns the first error of `send`.
    pub(super) fn send_each(
        &mut self,
        controls: Vec<&Control>,
        mut send: impl FnMut(SendStamp) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (mut sender, _) = self.begin(controls);
        while let Some(stamp) = sender.wait() {
            send(stamp)?;
        }
        (self.sent, self.waited) = sender.finish();
        Ok(())
    }

    fn send(&mut self, task: &mut PacedTask<'_>) -> Result<(), Failure> {
        let (mut meter, times) = (task.meter, self.times);
        self.send_each(vec![task.control], |stamp| {
            let what = (stamp.number, task.request_bytes(stamp.number));
            let complete = |content: &mut [u8]| times.store(stamp, content);
            transfer::send_with(task, what, MessageDirection::Forward, &mut meter, complete)?;
            // An end that holds messages back until more follow would delay them by the time between messages.
            task.flush()
        })?;
        task.meter = meter;
        if task.end.traits().lossy {
            lossy::send_end(task)?;
        }
        Ok(())
    }

    fn receive(&mut self, task: &mut PacedTask<'_>) -> Result<(), Failure> {
        let times = self.times;
        let mut recorder = self.recorder();
        if task.end.traits().lossy {
            receive_some(task, times, &mut recorder)?;
        } else {
            receive_all(task, times, &mut recorder)?;
        }
        self.counts = recorder.counts();
        task.control.finish(now_ns(), self.counts.arrived);
        if task.end.traits().lossy {
            task.control.end_stream();
        }
        Ok(())
    }

    fn request(&mut self, task: &mut PacedTask<'_>) -> Result<(), Failure> {
        let (mut meter, answered_as) = (task.meter, task.reply_stamp());
        self.make_trips(task, |task, number| {
            let (there, back) = (task.request_bytes(number), task.answer_bytes(number));
            transfer::send(task, (number, there), MessageDirection::Forward, &mut meter)?;
            transfer::receive(task, (number, back), answered_as, &mut meter)
        })?;
        task.meter = meter;
        Ok(())
    }

    fn request_of_self<'a>(
        &mut self,
        task: &mut PacedTask<'a>,
        other: &mut (dyn MessageEnd + 'a),
    ) -> Result<(), Failure> {
        let answered_as = task.reply_stamp();
        self.make_trips(task, |task, number| {
            let one = number..number + 1;
            let there = transfer_range(task, other, one.clone(), Leg::FORWARD, || {})?;
            let back = transfer_range(task, other, one.clone(), Leg::reverse(answered_as), || {})?;
            if (there, back) == (one.end, one.end) {
                Ok(())
            } else {
                Err(super::round_trip::trip_lost(number))
            }
        })
    }

    fn send_to_self<'a>(
        &mut self,
        task: &mut PacedTask<'a>,
        other: &mut (dyn MessageEnd + 'a),
    ) -> Result<(), Failure> {
        let (mut sender, mut recorder) = self.begin(vec![task.control]);
        let start = sender.start;
        while let Some(stamp) = sender.wait() {
            let number = stamp.number;
            let reached = transfer_range(task, other, number..number + 1, Leg::FORWARD, || {})?;
            if reached > number {
                recorder.record(start, stamp, ticks_after_loads());
            }
        }
        let (counts, (sent, waited)) = (recorder.counts(), sender.finish());
        (self.counts, self.sent, self.waited) = (counts, sent, waited);
        task.control.finish(now_ns(), counts.arrived);
        Ok(())
    }

    /// Makes a `trip` for every request of the schedule.
    fn make_trips<'a>(
        &mut self,
        task: &mut PacedTask<'a>,
        mut trip: impl FnMut(&mut PacedTask<'a>, u64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (mut sender, mut recorder) = self.begin(vec![task.control]);
        let start = sender.start;
        while let Some(stamp) = sender.wait() {
            trip(task, stamp.number)?;
            recorder.record(start, stamp, ticks_after_loads());
        }
        let (counts, (sent, waited)) = (recorder.counts(), sender.finish());
        (self.counts, self.sent, self.waited) = (counts, sent, waited);
        task.control.finish(now_ns(), counts.arrived);
        Ok(())
    }
}

/// Whether messages are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Messages go one way.
    OneWay,
    /// Each message is answered before the next is sent.
    Answered,
}

impl Traffic {
    /// Returns the traffic of `spec`.
    #[must_use]
    pub fn from_spec(spec: &RunSpec) -> Self {
        if spec.workload.is_answered() { Self::Answered } else { Self::OneWay }
    }
}

pub(super) fn schedule_start(control: &Control) -> ScheduleStart {
    ScheduleStart { ticks: control.schedule_start(), ns_per_tick: control.ns_per_tick() }
}

/// Whether message `number` is the last one of those that the sender has announced.
pub(super) fn is_last(control: &Control, number: u64) -> bool {
    control.shortened_schedule() == Some(number + 1)
}

/// Receives every message.
fn receive_all(
    task: &mut PacedTask<'_>,
    times: SendTimes,
    recorder: &mut LatencyRecorder<'_>,
) -> Result<(), Failure> {
    let (mut meter, control) = (task.meter, task.control);
    for number in task.size.numbers() {
        let arrived = |message: &[u8]| {
            let now = ticks_after_loads();
            let stamp = SendStamp { number, ..times.load(number, message) };
            recorder.record(schedule_start(control), stamp, now);
        };
        let what = (number, task.request_bytes(number));
        transfer::receive_with(task, what, MessageDirection::Forward, &mut meter, arrived)?;
        if is_last(control, number) {
            break;
        }
    }
    task.meter = meter;
    Ok(())
}

/// Receives messages that may follow lost ones, until an empty one marks the end.
fn receive_some(
    task: &mut PacedTask<'_>,
    times: SendTimes,
    recorder: &mut LatencyRecorder<'_>,
) -> Result<(), Failure> {
    let mut next = 0;
    while receive_one(task, times, recorder, &mut next)? == Arrival::Message {}
    Ok(())
}

/// Receives a message, numbered `next` or later, or the mark of the end; `next` then follows it.
pub(super) fn receive_one<E: MessageEnd + ?Sized>(
    task: &mut Task<'_, E, AnyPayload<'_>>,
    times: SendTimes,
    recorder: &mut LatencyRecorder<'_>,
    next: &mut u64,
) -> Result<Arrival, Failure> {
    let (bytes, traits) = (task.size.buffer_bytes, task.end.traits());
    loop {
        task.meter.transfers += 1;
        let into = task.incoming.buffer(traits, *next, bytes);
        let got = match task.end.recv(into) {
            Ok(0) => return Ok(Arrival::End),
            Ok(got) => got,
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(transfer::call_failed("receive", bytes, errno)),
        };
        let (now, message) = (ticks_after_loads(), &into[..got]);
        let expected = task.payload.message_number(message, *next);
        let stamp = times.load(expected, message);
        if stamp.number < *next || stamp.number >= task.size.messages {
            return Err(lossy::out_of_order(stamp.number, *next));
        }
        recorder.record(schedule_start(task.control), stamp, now);
        task.payload.check(message, stamp.number, MessageDirection::Forward)?;
        task.arrived_bytes += got as u64;
        if !is_whole(task, times, stamp.number, got) {
            return Err(transfer::boundary_lost(task.request_bytes(stamp.number), got));
        }
        *next = stamp.number + 1;
        return Ok(Arrival::Message);
    }
}

/// Whether `got` bytes may be the whole of message `number`, which is certain only if the number lies in the message.
fn is_whole<E: MessageEnd + ?Sized>(
    task: &Task<'_, E, AnyPayload<'_>>,
    times: SendTimes,
    number: u64,
    got: usize,
) -> bool {
    match times {
        SendTimes::InMessages => got == task.request_bytes(number),
        SendTimes::Table(_) => task.is_whole(number, got),
    }
}

/// Answers every request. The number of the last one is announced before it is sent, and stays announced.
fn answer(task: &mut PacedTask<'_>) -> Result<(), Failure> {
    let (mut meter, control) = (task.meter, task.control);
    for number in task.size.numbers() {
        let (bytes, back) = (task.request_bytes(number), task.answer_bytes(number));
        match task.answer {
            Answer::Echo => transfer::echo(task, (number, bytes), &mut meter)?,
            Answer::Separate(_) | Answer::SameSize => {
                transfer::receive(task, (number, bytes), MessageDirection::Forward, &mut meter)?;
                transfer::send(task, (number, back), MessageDirection::Reverse, &mut meter)?;
            }
        }
        if is_last(control, number) {
            break;
        }
    }
    task.meter = meter;
    Ok(())
}
