//! State that the peers of one run share: barrier, and start and stop times.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use ipcperf_model::Role;
use rustix::event::Timespec;
use rustix::io::Errno;
use rustix::process::getpid;
use rustix::thread::sched_yield;

use crate::channel::PeerPlacement;
use crate::clock::now_ns;
use crate::limits::cacheline::ProbeLines;
use crate::limits::clock_bound::ClockLines;
use crate::peer_memory::PeerMemory;
use crate::platform::{futex, thread};

/// Time a peer on a separate CPU spins for the other before it sleeps, ns, so that neither is still waking up when the
/// clock starts.
const SPIN_NS: u64 = 200_000;

/// Maximum time a sender waits for a receiver that shares, or may share, its CPU, ns: several time slices of the
/// scheduler, so that another program on the CPU does not prevent the receiver's start.
const MAX_RECEIVER_WAIT_NS: u64 = 50_000_000;

/// Process and thread ID of a peer.
#[derive(Debug, Default)]
pub(crate) struct ThreadIds {
    pid: AtomicU32,
    tid: AtomicU32,
}

impl ThreadIds {
    /// Records the calling thread as the peer.
    pub(crate) fn record(&self) {
        self.pid.store(getpid().as_raw_nonzero().get().unsigned_abs(), Ordering::Relaxed);
        // Relaxed is enough: the IDs are read only after a barrier.
        self.tid.store(thread::id(), Ordering::Relaxed);
    }

    /// Returns the process and thread ID.
    pub(crate) fn load(&self) -> (u32, u32) {
        (self.pid.load(Ordering::Relaxed), self.tid.load(Ordering::Relaxed))
    }
}

/// Memory shared by the peers, whether threads or processes. All zero is its initial state.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Control {
    /// Number of peers that meet at the barrier; 0 stands for two.
    peers: AtomicU32,
    arrived: AtomicU32,
    generation: AtomicU32,
    stream_ended: AtomicU32,
    receiver_is_ready: AtomicU32,
    begin_ns: AtomicU64,
    end_ns: AtomicU64,
    messages: AtomicU64,
    ns_per_tick: AtomicU64,
    /// Time zero of the schedule of a paced run, ticks.
    schedule_start: AtomicU64,
    /// Number of messages that will be sent, if the sender of a paced run ends before its schedule does; otherwise 0.
    shortened_to: AtomicU64,
    /// The second is the receiver's; the first belongs to the other peer, whatever its role.
    thread_ids: [ThreadIds; 2],
    lines: ProbeLines,
    clock_lines: ClockLines,
}

impl Control {
    /// Maps the next part of `memory`, which stays mapped until the process ends.
    ///
    /// # Errors
    /// Returns the system's error if it cannot provide the memory.
    pub fn new_shared(memory: &PeerMemory) -> Result<&'static Self, Errno> {
        let start = memory.map(size_of::<Self>())?;
        // SAFETY: the memory has this size, is page-aligned and zeroed, or what another process has made of it, which is a
        // valid `Control` either way, is accessed only through atomics, and is never unmapped.
        Ok(unsafe { start.cast::<Self>().as_ref() })
    }

    /// IDs of the peer that runs `role`.
    pub(crate) fn thread_ids(&self, role: Role) -> &ThreadIds {
        &self.thread_ids[usize::from(role == Role::Receiver)]
    }

    /// Cache lines for measuring the distance between the peers' CPUs.
    pub(crate) fn lines(&self) -> &ProbeLines {
        &self.lines
    }

    /// Cache lines for comparing the clocks of the peers' CPUs.
    pub(crate) fn clock_lines(&self) -> &ClockLines {
        &self.clock_lines
    }

    /// Sets the number of peers that meet at the barrier; called before any of them starts.
    pub(crate) fn expect_peers(&self, peers: u32) {
        self.peers.store(peers, Ordering::Release);
    }

    /// Number of peers that meet at the barrier.
    fn expected_peers(&self) -> u32 {
        match self.peers.load(Ordering::Acquire) {
            0 => 2,
            peers => peers,
        }
    }

    /// Waits at the barrier until all peers have arrived.
    pub(crate) fn wait_at_barrier(&self, placement: PeerPlacement) {
        let (generation, peers) = (self.generation.load(Ordering::Acquire), self.expected_peers());
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == peers {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            // Waking a futex on mapped memory cannot fail.
            let _ = futex::wake(&self.generation, futex::Flags::empty(), peers - 1);
            return;
        }
        if placement == PeerPlacement::SeparateCpus {
            self.spin_until(generation);
        }
        while self.generation.load(Ordering::Acquire) == generation {
            // The loop checks again, whatever ended the wait.
            let _ = futex::wait(&self.generation, futex::Flags::empty(), generation, None);
        }
    }

    fn spin_until(&self, generation: u32) {
        let end = now_ns() + SPIN_NS;
        while self.generation.load(Ordering::Acquire) == generation && now_ns() < end {
            spin_loop();
        }
    }

    /// Marks that the receiver is about to receive the first message of a phase.
    pub(crate) fn set_receiver_ready(&self) {
        self.receiver_is_ready.store(1, Ordering::Release);
    }

    /// Waits until the receiver is ready for its first call, so that the clock, which starts next, does not include its
    /// preparation. After a time limit the phase begins anyway.
    pub(crate) fn wait_for_receiver(&self, placement: PeerPlacement) {
        let max_ns =
            if placement == PeerPlacement::SeparateCpus { SPIN_NS } else { MAX_RECEIVER_WAIT_NS };
        let end = now_ns() + max_ns;
        while self.receiver_is_ready.load(Ordering::Acquire) == 0 && now_ns() < end {
            match placement {
                PeerPlacement::SeparateCpus => spin_loop(),
                PeerPlacement::OneCpu | PeerPlacement::Unpinned => sched_yield(),
            }
        }
    }

    /// Records `now_ns`, read just before the first byte is sent.
    #[inline]
    pub fn begin(&self, now_ns: u64) {
        self.begin_ns.store(now_ns, Ordering::Release);
    }

    /// Records `now_ns`, read just after the last of `messages` arrived.
    pub fn finish(&self, now_ns: u64, messages: u64) {
        self.messages.store(messages, Ordering::Relaxed);
        self.end_ns.store(now_ns, Ordering::Release);
    }

    /// Records the length of a tick of the time stamp counter in this phase.
    pub fn calibrate(&self, ns_per_tick: f64) {
        self.ns_per_tick.store(ns_per_tick.to_bits(), Ordering::Relaxed);
    }

    /// Length of a tick from the last [`Control::calibrate`], ns.
    #[must_use]
    pub fn ns_per_tick(&self) -> f64 {
        f64::from_bits(self.ns_per_tick.load(Ordering::Relaxed))
    }

    /// Records the time zero of a schedule, ticks; called before its first message is sent.
    pub fn begin_schedule(&self, ticks: u64) {
        self.schedule_start.store(ticks, Ordering::Release);
    }

    /// Time zero of the schedule, ticks.
    #[must_use]
    pub fn schedule_start(&self) -> u64 {
        self.schedule_start.load(Ordering::Acquire)
    }

    /// Announces that `messages` will have been sent at the end, although the schedule has more; called before the last of
    /// them is sent.
    pub fn shorten_schedule(&self, messages: u64) {
        self.shortened_to.store(messages, Ordering::Release);
    }

    /// Number of messages that will be sent, if it was announced.
    #[must_use]
    pub fn shortened_schedule(&self) -> Option<u64> {
        Some(self.shortened_to.load(Ordering::Acquire)).filter(|messages| *messages > 0)
    }

    /// Time given to the last [`Control::begin`], ns: just before the first byte was sent.
    #[must_use]
    pub fn began_ns(&self) -> u64 {
        self.begin_ns.load(Ordering::Acquire)
    }

    /// Time given to the last [`Control::finish`], ns: just after the last byte was received.
    #[must_use]
    pub fn ended_ns(&self) -> u64 {
        self.end_ns.load(Ordering::Acquire)
    }

    /// Time between the last [`Control::begin`] and [`Control::finish`], ns; at least 1.
    #[must_use]
    pub fn elapsed_ns(&self) -> u64 {
        self.ended_ns().saturating_sub(self.began_ns()).max(1)
    }

    /// Number of messages that arrived in the last phase.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }

    /// Whether the receiver of a lossy stream has seen its end.
    #[must_use]
    pub fn stream_has_ended(&self) -> bool {
        self.stream_ended.load(Ordering::Acquire) != 0
    }

    /// Marks that the receiver of a lossy stream has seen its end.
    pub fn end_stream(&self) {
        self.stream_ended.store(1, Ordering::Release);
        // Waking a futex on mapped memory cannot fail.
        let _ = futex::wake(&self.stream_ended, futex::Flags::empty(), 1);
    }

    /// Waits until the receiver has seen the end, or for `limit`, which is below one second.
    pub fn wait_for_stream_end(&self, limit: Duration) {
        let limit = Timespec { tv_sec: 0, tv_nsec: i64::from(limit.subsec_nanos()) };
        // The caller checks the state, whatever ended the wait.
        let _ = futex::wait(&self.stream_ended, futex::Flags::empty(), 0, Some(&limit));
    }

    /// Resets the state for the next phase; called by the sender before the peers meet.
    pub(crate) fn reset_phase(&self) {
        self.stream_ended.store(0, Ordering::Release);
        self.receiver_is_ready.store(0, Ordering::Release);
        self.shortened_to.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receiver_is_waited_for_but_not_for_long() {
        let control = Control::default();
        for nearness in
            [PeerPlacement::SeparateCpus, PeerPlacement::OneCpu, PeerPlacement::Unpinned]
        {
            control.reset_phase();
            let begin = now_ns();
            control.wait_for_receiver(nearness);
            assert!(now_ns() - begin >= SPIN_NS, "it was not there");
            control.set_receiver_ready();
            control.wait_for_receiver(nearness);
        }
    }
}
