//! Endpoints of a library: one indirect call for each message sent or received.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::OnceLock;

use ipcperf_model::{CustomName, Failure, FailureKind, RunSpec, Unavailable, WorkerReport};
use rustix::io::Errno;

use super::abi::{COption, CSetup, LibraryFunctions};
use super::library::{LoadedLibrary, check_library_support, checked_count, errno, load};
use super::silence_stdout::StdoutSilencer;
use crate::channel::{Blocking, Channel, Endpoint, Granted, Mechanism, Opened, Setup};
use crate::mechanism::TempDir;
use crate::mechanism::foreign_text::sanitize;
use crate::privilege::Unprivileged;
use crate::worker;

/// Size of the buffer in which a library explains why it cannot be opened, bytes.
const ERROR_BYTES: usize = 256;

/// The loaded library. A worker executes one run, so there is only one.
static LOADED: OnceLock<LoadedLibrary> = OnceLock::new();

/// Executes `spec` with the library that it names.
pub(super) fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    let path = spec.mechanism.custom().map_or(Path::new(""), CustomName::path);
    match load_silenced(path) {
        Ok((_muted, loaded)) if loaded.keeps_boundaries() => {
            worker::execute::<CustomLibrary<true>>(spec, mechanism)
        }
        Ok((_muted, _)) => worker::execute::<CustomLibrary<false>>(spec, mechanism),
        Err(failure) => WorkerReport::Failed(failure),
    }
}

/// Loads the library at `path` and keeps standard output away from it.
fn load_silenced(path: &Path) -> Result<(StdoutSilencer, LoadedLibrary), Failure> {
    check_library_support().map_err(|Unavailable { reason, remedy }| {
        Failure::new(FailureKind::SetUp, reason).with_remedy(remedy)
    })?;
    let unprivileged = Unprivileged::new()?;
    let silencer = StdoutSilencer::new().map_err(|errno| {
        Failure::from_errno(FailureKind::SetUp, "silencing standard output", errno.raw_os_error())
    })?;
    match load(path, unprivileged) {
        Ok(loaded) => Ok((silencer, *LOADED.get_or_init(|| loaded))),
        Err(words) => {
            let place = format!("loading {}: {words}", path.display());
            Err(Failure::new(FailureKind::SetUp, place).with_remedy(
                "see \
                docs/custom-mechanisms.md",
            ))
        }
    }
}

struct CustomLibrary<const KEEPS: bool>;

impl<const KEEPS: bool> Channel for CustomLibrary<KEEPS> {
    type End = LibraryEnd<KEEPS>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let loaded = LOADED
            .get()
            .ok_or_else(|| Failure::new(FailureKind::Worker, "the library was not loaded"))?;
        let folder = TempDir::new()?;
        let ([sender, receiver], granted) = open(loaded, setup, &folder)?;
        let end = |end| LibraryEnd { end, functions: loaded.functions };
        Ok(Opened { sender: end(sender), receiver: end(receiver), granted })
    }
}

/// Strings of a setup, as C strings.
struct SetupStrings {
    folder: CString,
    options: Vec<(CString, CString)>,
}

impl SetupStrings {
    fn from_setup(setup: &Setup<'_>, folder: &TempDir) -> Result<Self, Failure> {
        let text = |bytes: &[u8]| {
            let holds_nul = |_| Failure::new(FailureKind::SetUp, "a string contains NUL");
            CString::new(bytes).map_err(holds_nul)
        };
        let options = setup.options.iter();
        Ok(Self {
            folder: text(folder.folder().as_os_str().as_bytes())?,
            options: options
                .map(|(name, value)| Ok((text(name.as_bytes())?, text(value.as_bytes())?)))
                .collect::<Result<_, _>>()?,
        })
    }

    fn options(&self) -> Vec<COption> {
        let options = self.options.iter();
        options
            .map(|(name, value)| COption { name: name.as_ptr(), value: value.as_ptr() })
            .collect()
    }
}

/// Calls the library to open both endpoints.
fn open(
    loaded: &LoadedLibrary,
    setup: &Setup<'_>,
    folder: &TempDir,
) -> Result<([*mut c_void; 2], Granted), Failure> {
    let texts = SetupStrings::from_setup(setup, folder)?;
    let options = texts.options();
    let c_setup = CSetup {
        buffer_bytes: setup.buffer_bytes,
        kernel_buffer_bytes: setup.kernel_buffer_requested_bytes.unwrap_or(0),
        folder: texts.folder.as_ptr(),
        options: options.as_ptr(),
        option_count: u32::try_from(options.len()).unwrap_or(u32::MAX),
        nonblocking: u32::from(setup.blocking == Blocking::Try),
    };
    let (mut ends, mut granted_bytes) = ([null_mut(); 2], 0);
    let mut message = [0_u8; ERROR_BYTES];
    let message_buffer = message.as_mut_ptr().cast();
    let (c_setup, granted, into) = (&raw const c_setup, &raw mut granted_bytes, &raw mut ends);
    // SAFETY: the header's terms are met: a setup whose strings live until the call returns, room for two
    // endpoints and a number, and a message buffer of the given size, behind which one zero byte remains.
    let opened = unsafe { (loaded.open)(c_setup, into, granted, message_buffer, ERROR_BYTES - 1) };
    if opened != 0 {
        return Err(open_failure(opened, &message));
    }
    let granted = Granted { kernel_buffer_bytes: (granted_bytes != 0).then_some(granted_bytes) };
    Ok((ends, granted))
}

/// Returns the failure of a library that could not open its endpoints, with its own message.
fn open_failure(returned: c_int, message: &[u8]) -> Failure {
    let words = CStr::from_bytes_until_nul(message).unwrap_or_default().to_string_lossy();
    let place = match sanitize(&words).as_str() {
        "" => "the library's function open failed".to_owned(),
        words => format!("the library's function open failed: {words}"),
    };
    match errno(returned as isize) {
        Errno::PROTO => Failure::new(FailureKind::SetUp, place),
        errno => Failure::from_errno(FailureKind::SetUp, place, errno.raw_os_error()),
    }
}

/// An endpoint, identified by the library's pointer.
#[derive(Debug)]
struct LibraryEnd<const KEEPS: bool> {
    end: *mut c_void,
    functions: LibraryFunctions,
}

// SAFETY: the header states that one thread at a time uses an endpoint, which need not be the thread that
// opened it. Only libraries that allow it have their two endpoints used by two threads.
unsafe impl<const KEEPS: bool> Send for LibraryEnd<KEEPS> {}

impl<const KEEPS: bool> Endpoint for LibraryEnd<KEEPS> {
    const KEEPS_BOUNDARIES: bool = KEEPS;
    const COUNTS_CALLS: bool = false;

    fn prepare(&mut self) -> Result<(), Errno> {
        let Some(prepare) = self.functions.prepare else { return Ok(()) };
        // SAFETY: `open` returned the endpoint and it is not closed yet; the same holds for all calls below.
        match unsafe { prepare(self.end) } {
            0 => Ok(()),
            returned => Err(errno(returned as isize)),
        }
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        // SAFETY: see `prepare`; the bytes are readable until the call returns.
        checked_count(
            unsafe { (self.functions.send)(self.end, bytes.as_ptr().cast(), bytes.len()) },
            bytes.len(),
        )
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let max_bytes = bytes.len();
        // SAFETY: see `prepare`; the bytes are writable until the call returns.
        checked_count(
            unsafe { (self.functions.recv)(self.end, bytes.as_mut_ptr().cast(), max_bytes) },
            max_bytes,
        )
    }

    fn close_after_fork(self) {
        let disown = self.functions.disown.unwrap_or(self.functions.close);
        let end = self.end;
        // `disown` replaces `close`.
        std::mem::forget(self);
        // SAFETY: see `prepare`; the endpoint is not used afterwards.
        unsafe { disown(end) }
    }
}

impl<const KEEPS: bool> Drop for LibraryEnd<KEEPS> {
    fn drop(&mut self) {
        // SAFETY: see `prepare`; the endpoint is not used afterwards.
        unsafe { (self.functions.close)(self.end) }
    }
}
