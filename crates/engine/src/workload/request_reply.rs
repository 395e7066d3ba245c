//! `request-reply`: each message is answered before the next is sent, by itself or by a message of
//! another size.
//!
//! Its loops and its clock are those of [`RoundTrip`](super::RoundTrip), which is the case of an
//! answer that is as large as what it answers and written by the receiver. What differs is the
//! [`Answer`](super::Answer).

use super::{Facts, Kind};

/// What `request-reply` is.
pub(super) const FACTS: Facts = Facts {
    kind: Kind::RequestReply,
    name: "request-reply",
    about: "each message is sent back, or answered by one of --reply bytes, before the next is sent",
    measures: "time there and back in ns: mean (elapsed time over trips) and distribution",
};
