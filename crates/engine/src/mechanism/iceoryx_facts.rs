//! Facts that `iceoryx2-pubsub` and `iceoryx2-reqres` share in the list of mechanisms.

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{Library, PayloadTransfer};

use crate::channel::{OptionSpec, OptionValues};

/// The library.
pub(super) const ICEORYX2: Library = Library {
    name: "iceoryx2",
    version: env!("VERSION_OF_ICEORYX2"),
    license: "MIT OR Apache-2.0",
};

/// Option of both mechanisms that selects copying or in-place access.
pub(super) const API: OptionSpec = OptionSpec {
    name: "api",
    about: "copy: copy messages to and from the library's memory; loan: write and read messages in \
        place",
    values: OptionValues::OneOf(&["copy", IN_PLACE]),
    default: "copy",
};

/// Value of the option for access in place.
pub(super) const IN_PLACE: &str = "loan";

/// Fate of the payload, which the option decides.
pub(super) const PAYLOAD: PayloadTransfer =
    PayloadTransfer::ByOption { option: API.name, handed_over: IN_PLACE };

/// Reason why processes of different users cannot meet. A feature of the library, meant for its developers,
/// opens the files to all users.
pub(super) const OWNER_ONLY: &str = "its files and its shared memory are accessible only to their \
    owner";

/// Modes with two peers: a send blocks by itself if there is no room.
pub(super) const MODES: [Mode; 2] = [Mode::TwoThreads, Mode::TwoProcesses];
