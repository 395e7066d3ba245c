//! Paced traffic of the peer that is connected to several others.

use ipcperf_model::Failure;

use super::hub::{HubTask, for_each_arrival, is_last_of_all, select, until_all_have_ended};
use super::latency_recorder::LatencyRecorder;
use super::lossy::{self, Arrival};
use super::multiplexer::Multiplexer;
use super::paced::{PacedPeer, receive_one, schedule_start};
use super::send_times::SendStamp;
use super::transfer;
use crate::channel::MessageEnd;
use crate::clock::{now_ns, ticks_after_loads};
use crate::payload_check::MessageDirection;
use crate::shared_state::Control;

/// Sends every message over each connection when it is due. All connections have the same schedule.
///
/// # Errors
/// Returns the first call that failed.
pub fn send_paced_to_all<'a>(
    peer: &mut PacedPeer,
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
) -> Result<(), Failure> {
    let (mut meter, times) = (task.meter, peer.times());
    peer.send_each(controls.to_vec(), |stamp| {
        let bytes = task.request_bytes(stamp.number);
        (0..controls.len()).try_for_each(|connection| {
            select(task, controls, connection);
            let complete = |content: &mut [u8]| times.store(stamp, content);
            let what = (stamp.number, bytes);
            transfer::send_with(task, what, MessageDirection::Forward, &mut meter, complete)?;
            task.flush()
        })
    })?;
    task.meter = meter;
    if !task.end.traits().lossy {
        return Ok(());
    }
    (0..controls.len()).try_for_each(|connection| {
        select(task, controls, connection);
        lossy::send_end(task)
    })
}

/// Receives every message of each connection, as they arrive, and records its latency for the one of `peers` that stands for
/// the connection.
///
/// # Errors
/// Returns the first call that failed, or the first message that was wrong.
pub fn receive_paced_from_all<'a>(
    peers: &mut [PacedPeer],
    task: &mut HubTask<'a>,
    controls: &[&'a Control],
    multiplexer: &mut Multiplexer,
) -> Result<(), Failure> {
    let times: Vec<_> = peers.iter().map(PacedPeer::times).collect();
    let mut recorders: Vec<LatencyRecorder<'_>> =
        peers.iter_mut().map(PacedPeer::recorder).collect();
    if task.end.traits().lossy {
        let mut next = vec![0_u64; controls.len()];
        until_all_have_ended(task, controls, multiplexer, |task, at| {
            let arrival = receive_one(task, times[at], &mut recorders[at], &mut next[at])?;
            if arrival == Arrival::End {
                task.control.finish(now_ns(), recorders[at].counts().arrived);
            }
            Ok(arrival)
        })?;
    } else {
        for_each_arrival(task, controls, multiplexer, |task, number| {
            let (at, control) = (task.end.current, task.control);
            let arrived = |message: &[u8]| {
                let now = ticks_after_loads();
                let stamp = SendStamp { number, ..times[at].load(number, message) };
                recorders[at].record(schedule_start(control), stamp, now);
            };
            let (mut meter, what) = (task.meter, (number, task.request_bytes(number)));
            transfer::receive_with(task, what, MessageDirection::Forward, &mut meter, arrived)?;
            task.meter = meter;
            if is_last_of_all(task, number) {
                control.finish(now_ns(), number + 1);
            }
            Ok(())
        })?;
    }
    let counts: Vec<_> = recorders.iter().map(LatencyRecorder::counts).collect();
    peers.iter_mut().zip(counts).for_each(|(peer, counts)| peer.counts = counts);
    Ok(())
}
