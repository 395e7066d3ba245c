//! Options that several mechanisms share.

use crate::channel::{OptionSpec, OptionValues};

/// Option of `bus-copy` and `bus-memfd` that adds metadata to the length of each message.
pub(super) const METADATA: OptionSpec = OptionSpec {
    name: "metadata",
    about: "metadata sent with each message: the time of sending, the sender's credentials, both, \
        or none",
    values: OptionValues::OneOf(&["none", "timestamp", "credentials", "both"]),
    default: "none",
};

/// Maximum number of additional descriptors passed with a message. `sendmsg` fails with `ETOOMANYREFS` while
/// more descriptors are in flight for the sender's user than the sender may have open (1024), unless it is
/// privileged. A queue holds up to about 280 messages, so a stream may fail from four descriptors on.
pub(super) const MAX_EXTRA_FDS: usize = 64;

/// Option of mechanisms whose messages carry descriptors.
pub(super) const FDS: OptionSpec = OptionSpec {
    name: "fds",
    about: "number of descriptors of /dev/null passed with each message",
    values: OptionValues::Number(0..=MAX_EXTRA_FDS as u64),
    default: "3",
};

/// Option of mechanisms that keep the payload in files.
pub(super) const DIR: OptionSpec = OptionSpec {
    name: "dir",
    about: "folder for the files, which determines their file system; default: TMPDIR, or /tmp if \
        TMPDIR is not set",
    values: OptionValues::Folder,
    default: "default",
};
