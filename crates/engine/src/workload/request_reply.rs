//! `request-reply`: each message is answered before the next is sent, by itself or by a message of
//! another size.
//!
//! Its loops and its clock are those of [`RoundTrip`](super::RoundTrip), which is the case of an
//! answer that is as large as what it answers and written by the receiver. What differs is the
//! [`Answer`](ipcperf_model::Answer).
