//! Functions and constants of `zmq.h` (libzmq 4.3) that are used here.

use std::ffi::{c_char, c_int, c_void};

/// `ZMQ_PAIR`.
pub(crate) const PAIR: c_int = 0;

/// `ZMQ_ZAP_DOMAIN`, a text.
pub(crate) const ZAP_DOMAIN: c_int = 55;

/// Socket options, each an `int`.
pub(crate) const LINGER: c_int = 17;
pub(crate) const SNDHWM: c_int = 23;
pub(crate) const RCVHWM: c_int = 24;
pub(crate) const USE_FD: c_int = 89;

unsafe extern "C" {
    pub(crate) fn zmq_errno() -> c_int;
    pub(crate) fn zmq_ctx_new() -> *mut c_void;
    pub(crate) fn zmq_ctx_term(context: *mut c_void) -> c_int;
    pub(crate) fn zmq_socket(context: *mut c_void, kind: c_int) -> *mut c_void;
    pub(crate) fn zmq_close(socket: *mut c_void) -> c_int;
    pub(crate) fn zmq_setsockopt(
        socket: *mut c_void,
        option: c_int,
        value: *const c_void,
        bytes: usize,
    ) -> c_int;
    pub(crate) fn zmq_bind(socket: *mut c_void, address: *const c_char) -> c_int;
    pub(crate) fn zmq_connect(socket: *mut c_void, address: *const c_char) -> c_int;
    pub(crate) fn zmq_send(
        socket: *mut c_void,
        message: *const c_void,
        bytes: usize,
        flags: c_int,
    ) -> c_int;
    pub(crate) fn zmq_recv(
        socket: *mut c_void,
        into: *mut c_void,
        bytes: usize,
        flags: c_int,
    ) -> c_int;
}
