//! Rust view of `include/ipcperf.h`. Change the two together, and the ABI number with them.

use std::ffi::{c_char, c_int, c_void};

/// `IPCPERF_ABI`.
pub(super) const ABI: u32 = 1;

/// Name of the only function that a library exports, NUL-terminated.
pub(super) const ENTRY_SYMBOL: &[u8] = b"ipcperf_mechanism\0";

/// `IPCPERF_KEEPS_BOUNDARIES`.
pub(super) const KEEPS_BOUNDARIES: u32 = 1;
/// `IPCPERF_TWO_THREADS`.
pub(super) const TWO_THREADS: u32 = 2;
/// `IPCPERF_ONE_THREAD`.
pub(super) const ONE_THREAD: u32 = 4;

/// `ipcperf_mechanism`.
pub(super) type Entry = unsafe extern "C" fn() -> *const CMechanism;

/// `open` of `struct ipcperf_mechanism`.
pub(super) type Open = unsafe extern "C" fn(
    *const CSetup,
    *mut [*mut c_void; 2],
    *mut u64,
    *mut c_char,
    usize,
) -> c_int;

/// `struct ipcperf_option`.
#[derive(Debug)]
#[repr(C)]
pub(super) struct COption {
    pub(super) name: *const c_char,
    pub(super) value: *const c_char,
}

/// `struct ipcperf_setup`.
#[derive(Debug)]
#[repr(C)]
pub(super) struct CSetup {
    pub(super) buffer_bytes: u64,
    pub(super) kernel_buffer_bytes: u64,
    pub(super) folder: *const c_char,
    pub(super) options: *const COption,
    pub(super) option_count: u32,
    pub(super) nonblocking: u32,
}

/// `struct ipcperf_mechanism`.
#[derive(Debug)]
#[repr(C)]
pub(super) struct CMechanism {
    pub(super) abi: u32,
    pub(super) flags: u32,
    pub(super) about: *const c_char,
    pub(super) open: Option<Open>,
    pub(super) prepare: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub(super) send: Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> isize>,
    pub(super) recv: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> isize>,
    pub(super) close: Option<unsafe extern "C" fn(*mut c_void)>,
    pub(super) disown: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// Functions that an endpoint calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct LibraryFunctions {
    pub(super) prepare: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    pub(super) send: unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> isize,
    pub(super) recv: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> isize,
    pub(super) close: unsafe extern "C" fn(*mut c_void),
    pub(super) disown: Option<unsafe extern "C" fn(*mut c_void)>,
}
