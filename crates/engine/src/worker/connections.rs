//! State that the peers of a run share: a [`Control`] for each connection between two of them.
//!
//! All peers meet at the barrier of the first one. Each of the others is written only by the two peers that it connects.

use rustix::io::Errno;

use crate::channel::PeerPlacement;
use crate::peer_memory::PeerMemory;
use crate::shared_state::Control;

/// The shared state of each connection of a run; there is at least one.
#[derive(Clone, Debug)]
pub(super) struct Connections {
    controls: Vec<&'static Control>,
}

impl Connections {
    /// Maps the state of `connections` in the next parts of `memory`. `peers` of them meet at its barrier.
    ///
    /// # Errors
    /// Returns the system's error if it cannot provide the memory.
    pub(super) fn new_shared(
        connections: usize,
        peers: u32,
        memory: &PeerMemory,
    ) -> Result<Self, Errno> {
        let new = |_| Control::new_shared(memory);
        let controls: Vec<&'static Control> =
            (0..connections.max(1)).map(new).collect::<Result<_, _>>()?;
        controls[0].expect_peers(peers);
        Ok(Self { controls })
    }

    /// State of the first connection.
    pub(super) fn first(&self) -> &'static Control {
        self.controls[0]
    }

    /// State of each connection.
    pub(super) fn all(&self) -> &[&'static Control] {
        &self.controls
    }

    /// Waits at the barrier until all peers have arrived.
    pub(super) fn wait_at_barrier(&self, placement: PeerPlacement) {
        // Several peers may share a CPU, where one that spins would keep another from arriving.
        let placement = if self.controls.len() == 1 { placement } else { PeerPlacement::Unpinned };
        self.first().wait_at_barrier(placement);
    }

    /// Resets the state for the next phase; called by one peer before all meet.
    pub(super) fn reset_phase(&self) {
        self.controls.iter().for_each(|control| control.reset_phase());
    }

    /// Records the length of a tick of the time stamp counter in this phase.
    pub(super) fn calibrate(&self, ns_per_tick: f64) {
        self.controls.iter().for_each(|control| control.calibrate(ns_per_tick));
    }

    /// Time just before the first byte was sent, ns.
    pub(super) fn began_ns(&self) -> u64 {
        self.controls.iter().map(|control| control.began_ns()).min().unwrap_or_default()
    }

    /// Time from just before the first byte was sent over any connection to just after the last was received, ns; at least 1.
    pub(super) fn elapsed_ns(&self) -> u64 {
        let ended_ns = self.controls.iter().map(|control| control.ended_ns()).max();
        ended_ns.unwrap_or_default().saturating_sub(self.began_ns()).max(1)
    }

    /// Number of messages that arrived over all connections in the last phase.
    pub(super) fn messages(&self) -> u64 {
        self.controls.iter().map(|control| control.messages()).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_clock_of_a_run_is_that_of_all_connections() {
        let connections = Connections::new_shared(3, 4, &PeerMemory::Inherited).unwrap();
        for (number, control) in (1..).zip(connections.all()) {
            control.begin(100 * number);
            control.finish(1_000 * number, 5);
        }
        assert_eq!(connections.began_ns(), 100);
        assert_eq!((connections.elapsed_ns(), connections.messages()), (2_900, 15));
    }

    /// The threads are not joined: they would hang with a barrier that expects another number.
    #[test]
    fn as_many_peers_meet_as_there_are() {
        let connections = Connections::new_shared(2, 3, &PeerMemory::Inherited).unwrap();
        let (ended, all_ended) = mpsc::channel();
        for _ in 0..3 {
            let (connections, ended) = (connections.clone(), ended.clone());
            thread::spawn(move || {
                (0..50).for_each(|_| connections.wait_at_barrier(PeerPlacement::SeparateCpus));
                ended.send(()).unwrap();
            });
        }
        let limit = Duration::from_secs(60);
        (0..3).for_each(|_| all_ended.recv_timeout(limit).expect("all meet each time"));
    }
}
