//! Slots of two programs: the receiver creates the memory and passes it to the sender, with the descriptors of the doorbells.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use ipcperf_model::{Failure, Role};
use rustix::io::Errno;

use super::{
    Doorbell, DoorbellLocation, SlotEnd, SlotMemory, memory_bytes, memory_failure, open_ends,
    own_end,
};
use crate::channel::{Granted, Meeting, Opened, Setup};
use crate::mechanism::meeting_fds;
use crate::mechanism::setup_failure::setup_failure;
use crate::platform::memory::shared_file;

/// Name of the socket at the meeting.
const SOCKET: &str = "slots";

/// Where a doorbell comes from.
pub(in super::super) enum DoorbellOrigin {
    /// The calling program creates it.
    New,
    /// The other program has created it, and has passed its descriptor, if it has one.
    Passed(Option<OwnedFd>),
}

/// Returns the end of one program, with bells from `make`.
pub(in super::super) fn meet_ends<B: Doorbell>(
    setup: &Setup<'_>,
    meeting: &Meeting<'_>,
    make: impl Fn(DoorbellLocation, DoorbellOrigin) -> Result<B, Failure>,
) -> Result<(SlotEnd<B>, Granted), Failure> {
    let opened = match meeting.role() {
        Role::Receiver => {
            let file = shared_file("ipcperf-slot", memory_bytes(setup)).map_err(memory_failure)?;
            let opened = open_over(&file, setup, |location| make(location, DoorbellOrigin::New))?;
            pass(&file, &opened, meeting)?;
            opened
        }
        _ => {
            let mut fds = meeting_fds::receive(SOCKET, meeting)?.1.into_iter();
            let file = fds.next().ok_or_else(|| setup_failure("recvmsg", Errno::BADMSG))?;
            open_over(&file, setup, |location| make(location, DoorbellOrigin::Passed(fds.next())))?
        }
    };
    Ok(own_end(opened, meeting.role()))
}

fn open_over<B: Doorbell>(
    file: &OwnedFd,
    setup: &Setup<'_>,
    make: impl FnMut(DoorbellLocation) -> Result<B, Failure>,
) -> Result<Opened<SlotEnd<B>>, Failure> {
    let memory = SlotMemory::from_peer(file, memory_bytes(setup)).map_err(memory_failure)?;
    open_ends(setup, memory, make)
}

/// Passes the memory and the bells, in the order in which [`open_ends`] makes them.
fn pass<B: Doorbell>(
    file: &OwnedFd,
    opened: &Opened<SlotEnd<B>>,
    meeting: &Meeting<'_>,
) -> Result<(), Failure> {
    let (there, back) = (&opened.sender.outgoing, &opened.receiver.outgoing);
    let bells = [&there.full, &there.room, &back.full, &back.room];
    let descriptors = bells.into_iter().filter_map(Doorbell::descriptor);
    let fds: Vec<BorrowedFd<'_>> = std::iter::once(file.as_fd()).chain(descriptors).collect();
    meeting_fds::pass(SOCKET, meeting, 0, &fds)
}
