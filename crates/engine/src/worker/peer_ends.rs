//! Interface between a peer and its mechanism. Only the loops of the timed region are compiled for each mechanism; all
//! other code of a worker uses this interface and is compiled once.

use ipcperf_model::message_options::{MessageOptions, Touch};
use ipcperf_model::{Failure, PayloadCheck, Role, RunSpec};
use rustix::io::Errno;

use super::message_memory::MessageMemory;
use crate::channel::{Endpoint, MessageEnd, Multiplexing, PeerPlacement};
use crate::histogram::TickHistogram;
use crate::message_order::MessageOrder;
use crate::payload_check::{AnyPayload, Payload, Processed, Unchecked};
use crate::shared_state::Control;
use crate::workload::{
    HubEnd, HubTask, Meter, Multiplexer, PacedPeer, PacedTask, PhaseSize, RoundTrip, Stream, Task,
    Traffic, Workload, receive_from_all, receive_paced_from_all, send_paced_to_all, send_to_all,
    serve_all,
};

/// The end of a mechanism that a peer uses, or both ends if one thread runs both. Calls outside the timed region go
/// through this trait; see [`Endpoint`] for what they do.
pub(super) trait PeerEnds: Send {
    /// Prepares the ends and registers the peer's `buffers`.
    fn prepare(&mut self, buffers: &[&[u8]]) -> Result<(), Errno>;
    /// Prepares a receiver that is connected to several peers to wait for a message from any of them.
    fn prepare_to_wait(&mut self, _spec: &RunSpec) -> Result<(), Failure> {
        Ok(())
    }
    /// Number of buffers to send from in rotation.
    fn send_buffers_needed(&self) -> usize;
    /// Process ID of the broker between the peers, if there is one.
    fn broker_pid(&self) -> Option<u32>;
    /// Whether messages may be lost.
    fn is_lossy(&self) -> bool;
    /// Whether system calls can be counted.
    fn counts_calls(&self) -> bool;
    /// Number of system calls since the last query; `None` if each send and each receive is exactly one.
    fn take_calls(&mut self) -> Option<u64>;
    /// Discards unread data.
    fn drain(&mut self);
    /// Runs the timed region of one phase.
    fn run_timed(&mut self, region: TimedRegion<'_>) -> Result<Counted, Failure>;
    /// Closes ends that belong to the other process after a fork.
    fn close_after_fork(self: Box<Self>);
}

/// The timed region of one phase.
pub(super) struct TimedRegion<'a> {
    pub(super) spec: &'a RunSpec,
    pub(super) role: Role,
    pub(super) size: PhaseSize,
    /// Order of the messages over each of the peer's connections; empty if they have one size.
    pub(super) orders: &'a [MessageOrder],
    pub(super) memory: &'a mut MessageMemory,
    pub(super) trips: &'a mut TickHistogram,
    /// State of a paced run, for each connection whose messages this peer sends or times; otherwise empty.
    pub(super) paced: &'a mut [PacedPeer],
    /// State of each of the peer's connections.
    pub(super) controls: &'a [&'a Control],
}

/// Counts of a timed region.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) meter: Meter,
    /// Interval between individually timed round trips, in trips.
    pub(super) timed_every: u64,
    /// Payload that arrived over a mechanism that may lose messages, bytes.
    pub(super) arrived_bytes: u64,
}

fn counted<E: ?Sized, P>(task: &Task<'_, E, P>) -> Counted {
    let (meter, timed_every, arrived_bytes) = (task.meter, task.timed_every, task.arrived_bytes);
    Counted { meter, timed_every, arrived_bytes }
}

impl<'a> TimedRegion<'a> {
    /// Returns the payload of loops that are compiled once for all mechanisms.
    fn any_payload(&self) -> AnyPayload<'a> {
        AnyPayload { processed: processed(self.spec), order: self.orders.first() }
    }

    /// Creates the task of a loop over `end`.
    fn task<'t, E: ?Sized, P>(&'t mut self, end: &'t mut E, payload: P) -> Task<'t, E, P> {
        Task {
            end,
            outgoing: self.memory.outgoing.phase_buffers(),
            incoming: self.memory.incoming.phase_buffers(),
            payload,
            size: self.size,
            answer: self.spec.answer(),
            control: self.controls[0],
            meter: Meter::default(),
            trips: self.trips,
            timed_every: 1,
            arrived_bytes: 0,
        }
    }
}

/// The ends of one peer.
#[derive(Debug)]
pub(super) struct TypedEnds<E> {
    pub(super) end: E,
    /// The other end, if one thread runs both.
    pub(super) other: Option<E>,
}

impl<E: Endpoint> PeerEnds for TypedEnds<E> {
    fn prepare(&mut self, buffers: &[&[u8]]) -> Result<(), Errno> {
        for end in std::iter::once(&mut self.end).chain(self.other.as_mut()) {
            end.prepare().and_then(|()| end.register_buffers(buffers))?;
        }
        Ok(())
    }

    fn send_buffers_needed(&self) -> usize {
        self.end.send_buffers_needed()
    }

    fn broker_pid(&self) -> Option<u32> {
        self.end.broker_pid()
    }

    fn is_lossy(&self) -> bool {
        E::LOSSY
    }

    fn counts_calls(&self) -> bool {
        E::COUNTS_CALLS
    }

    fn take_calls(&mut self) -> Option<u64> {
        let other = self.other.as_mut().map_or(Some(0), Endpoint::take_calls);
        self.end.take_calls().zip(other).map(|(own, other)| own + other)
    }

    fn drain(&mut self) {
        self.end.drain();
    }

    /// Only this function chooses the types of workload and payload, so only the loops are compiled for each
    /// combination.
    fn run_timed(&mut self, region: TimedRegion<'_>) -> Result<Counted, Failure> {
        if region.spec.pacing.is_some() || !region.orders.is_empty() {
            let other = self.other.as_mut().map(|other| other as &mut dyn MessageEnd);
            return run_any(region, &mut self.end, other);
        }
        let (is_answered, processed) = (region.spec.workload.is_answered(), processed(region.spec));
        let ends = (&mut self.end, self.other.as_mut());
        match (is_answered, processed) {
            (false, None) => run_workload::<Stream, _, _>(region, ends, Unchecked),
            (true, None) => run_workload::<RoundTrip, _, _>(region, ends, Unchecked),
            (false, Some(payload)) => run_workload::<Stream, _, _>(region, ends, payload),
            (true, Some(payload)) => run_workload::<RoundTrip, _, _>(region, ends, payload),
        }
    }

    fn close_after_fork(self: Box<Self>) {
        let Self { end, other } = *self;
        for end in std::iter::once(end).chain(other) {
            end.close_after_fork();
        }
    }
}

/// Processing of each message; `None` if messages are neither checked nor touched.
fn processed(spec: &RunSpec) -> Option<Processed> {
    let MessageOptions { touch, content, .. } = spec.message_options;
    match (spec.check, touch) {
        (PayloadCheck::Verify, _) => Some(Processed::Stamped),
        (_, Touch::None) => None,
        _ => Some(Processed::Touched { touch, content }),
    }
}

/// Where the only receiver of `spec` runs relative to the others.
fn gathering_placement(spec: &RunSpec) -> PeerPlacement {
    match spec.peer_cpus().split_last() {
        None => PeerPlacement::Unpinned,
        Some((own, others)) if others.contains(own) => PeerPlacement::OneCpu,
        Some(_) => PeerPlacement::SeparateCpus,
    }
}

/// The ends of one peer that is connected to several others.
#[derive(Debug)]
pub(super) struct HubEnds<E> {
    ends: Vec<E>,
    /// How it waits for a message from any of them, if it receives.
    multiplexer: Option<Multiplexer>,
}

impl<E> HubEnds<E> {
    pub(super) fn new(ends: Vec<E>) -> Self {
        Self { ends, multiplexer: None }
    }
}

impl<E: Endpoint> PeerEnds for HubEnds<E> {
    fn prepare(&mut self, buffers: &[&[u8]]) -> Result<(), Errno> {
        for end in &mut self.ends {
            end.prepare().and_then(|()| end.register_buffers(buffers))?;
        }
        Ok(())
    }

    fn prepare_to_wait(&mut self, spec: &RunSpec) -> Result<(), Failure> {
        let mut ends: Vec<&mut dyn MessageEnd> =
            self.ends.iter_mut().map(|end| end as &mut dyn MessageEnd).collect();
        let kind = Multiplexing::from_options(&spec.options);
        self.multiplexer = Some(Multiplexer::new(&mut ends, kind, gathering_placement(spec))?);
        Ok(())
    }

    fn send_buffers_needed(&self) -> usize {
        self.ends.iter().map(Endpoint::send_buffers_needed).max().unwrap_or(1)
    }

    fn broker_pid(&self) -> Option<u32> {
        self.ends.first().and_then(Endpoint::broker_pid)
    }

    fn is_lossy(&self) -> bool {
        E::LOSSY
    }

    fn counts_calls(&self) -> bool {
        E::COUNTS_CALLS
    }

    fn take_calls(&mut self) -> Option<u64> {
        self.ends.iter_mut().map(Endpoint::take_calls).sum()
    }

    fn drain(&mut self) {
        self.ends.iter_mut().for_each(Endpoint::drain);
    }

    fn run_timed(&mut self, mut region: TimedRegion<'_>) -> Result<Counted, Failure> {
        let (payload, controls, messages) =
            (region.any_payload(), region.controls, region.size.messages);
        let is_answered = region.spec.workload.is_answered();
        let paced = std::mem::take(&mut region.paced);
        let ends = self.ends.iter_mut().map(|end| end as &mut dyn MessageEnd).collect();
        let mut hub = HubEnd::new(ends, region.orders);
        let mut task: HubTask<'_> = region.task(&mut hub, payload);
        match (&mut self.multiplexer, paced) {
            (None, []) => send_to_all(&mut task, controls)?,
            (None, [peer, ..]) => send_paced_to_all(peer, &mut task, controls)?,
            (Some(multiplexer), _) if is_answered => serve_all(&mut task, controls, multiplexer)?,
            (Some(multiplexer), []) => receive_from_all(&mut task, controls, multiplexer)?,
            (Some(multiplexer), peers) => {
                receive_paced_from_all(peers, &mut task, controls, multiplexer)?;
            }
        }
        let counted = counted(&task);
        region.memory.outgoing.advance(messages);
        region.memory.incoming.advance(messages);
        Ok(counted)
    }

    fn close_after_fork(self: Box<Self>) {
        self.ends.into_iter().for_each(Endpoint::close_after_fork);
    }
}

/// Runs the timed region of workload `W` over the peer's end, and the other one if one thread runs both.
fn run_workload<W: Workload, E: MessageEnd + ?Sized, P: Payload>(
    mut region: TimedRegion<'_>,
    (end, other): (&mut E, Option<&mut E>),
    payload: P,
) -> Result<Counted, Failure> {
    let (role, messages) = (region.role, region.size.messages);
    let mut task = region.task(end, payload);
    match (role, other) {
        (Role::Both, Some(other)) => W::both(&mut task, other)?,
        (Role::Receiver, _) => W::receive(&mut task)?,
        _ => W::send(&mut task)?,
    }
    task.flush()?;
    let counted = counted(&task);
    region.memory.outgoing.advance(messages);
    region.memory.incoming.advance(messages);
    Ok(counted)
}

/// Runs the timed region of a run that is paced, or whose messages have different sizes. Compiled once for all mechanisms:
/// compared with the choice of a size, a call through a table costs little.
fn run_any<'a>(
    mut region: TimedRegion<'_>,
    end: &mut (dyn MessageEnd + 'a),
    other: Option<&mut (dyn MessageEnd + 'a)>,
) -> Result<Counted, Failure> {
    let payload = region.any_payload();
    if region.spec.pacing.is_none() {
        return match region.spec.workload.is_answered() {
            false => run_workload::<Stream, _, _>(region, (end, other), payload),
            true => run_workload::<RoundTrip, _, _>(region, (end, other), payload),
        };
    }
    let (role, traffic) = (region.role, Traffic::from_spec(region.spec));
    let paced = std::mem::take(&mut region.paced);
    let mut task: PacedTask<'_> = region.task(end, payload);
    if let Some(paced) = paced.first_mut() {
        paced.run(role, &mut task, other.map(|other| other as &mut dyn MessageEnd), traffic)?;
    }
    task.flush()?;
    Ok(counted(&task))
}

#[cfg(test)]
mod tests {
    use ipcperf_model::message_options::BufferReuse;

    use super::*;
    use crate::testing::spec;

    /// An end that moves nothing and records the addresses of the messages.
    #[derive(Debug, Default)]
    struct RecordingEnd(Vec<usize>);

    impl Endpoint for RecordingEnd {
        const KEEPS_BOUNDARIES: bool = true;

        fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
            self.0.push(bytes.as_ptr().addr());
            Ok(bytes.len())
        }

        fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
            Endpoint::send(self, bytes)
        }
    }

    fn starts_in_two_phases(spec: &RunSpec, role: Role, messages: u64) -> Vec<usize> {
        let mut ends = TypedEnds { end: RecordingEnd::default(), other: None };
        let mut memory = MessageMemory::new(spec, role, ends.send_buffers_needed()).unwrap();
        let mut trips = TickHistogram::new_touched();
        for _ in 0..2 {
            let region = TimedRegion {
                spec,
                role,
                size: PhaseSize::new(64, messages),
                orders: &[],
                memory: &mut memory,
                trips: &mut trips,
                paced: &mut [],
                controls: &[&Control::default()],
            };
            ends.run_timed(region).unwrap();
        }
        ends.end.0
    }

    #[test]
    fn a_phase_continues_with_the_next_buffers() {
        let message_options =
            MessageOptions { buffers: BufferReuse::Rotate, ..MessageOptions::default() };
        let spec = RunSpec { message_options, ..spec("null", [0, 1]) };
        for role in [Role::Sender, Role::Receiver] {
            let starts = starts_in_two_phases(&spec, role, 5);
            assert!(starts.is_sorted_by(|one, next| one < next), "{role:?}: {starts:?}");
            assert_eq!(starts.len(), 10);
        }
    }
}
