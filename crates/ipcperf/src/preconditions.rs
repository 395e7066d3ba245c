//! Preconditions of every command, checked first: resource limits under which it would crash, a handle to its own
//! executable, and that it is not set-user-ID.

use ipcperf_engine::{privilege, signal_dispositions};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::Error;
use ipcperf_plan::program_file;

/// A resource limit that leads to a crash, not to an error, when it is too low.
struct MinLimit {
    resource: Resource,
    name: &'static str,
    /// Minimum that suffices for every command and worker.
    min_bytes: u64,
    /// Option letter of `ulimit`, which counts in KiB.
    letter: char,
}

const MIN_LIMITS: [MinLimit; 3] = [
    MinLimit { resource: Resource::Stack, name: "stack size", min_bytes: 512 << 10, letter: 's' },
    MinLimit { resource: Resource::As, name: "address space", min_bytes: 128 << 20, letter: 'v' },
    MinLimit { resource: Resource::Data, name: "data segment", min_bytes: 32 << 20, letter: 'd' },
];

/// Checks all preconditions and establishes those that it can.
///
/// # Errors
/// Fails if a limit is too low and cannot be raised, or if the executable is set-user-ID or set-group-ID.
#[inline(never)]
pub(crate) fn establish() -> Result<(), Error> {
    MIN_LIMITS.iter().try_for_each(MinLimit::ensure)?;
    if privilege::is_set_user_id() {
        let words = "the executable of ipcperf is set-user-ID or set-group-ID, which is refused because ipcperf runs \
            programs that its user names; to remove the bits: sudo chmod u-s,g-s $(command -v ipcperf)";
        return Err(Error::Machine(words.to_owned()));
    }
    signal_dispositions::ignore_file_size();
    program_file::open_once();
    Ok(())
}

impl MinLimit {
    /// Raises a soft limit that is too low, as far as the hard limit allows. Workers inherit the limit.
    fn ensure(&self) -> Result<(), Error> {
        let Rlimit { current, maximum } = getrlimit(self.resource);
        let suffices = |limit: Option<u64>| limit.is_none_or(|bytes| bytes >= self.min_bytes);
        if suffices(current) {
            return Ok(());
        }
        let raised = Rlimit { current: Some(self.min_bytes), maximum };
        if suffices(maximum) && setrlimit(self.resource, raised).is_ok() {
            return Ok(());
        }
        let (name, letter) = (self.name, self.letter);
        let [has, needs] = [current.unwrap_or(0), self.min_bytes].map(|bytes| bytes / 1024);
        Err(Error::Machine(format!(
            "the limit on the {name} is {has} KiB, but ipcperf needs {needs} KiB; to raise the limit: ulimit -{letter} \
             {needs}"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_cannot_be_raised_is_told_with_how_to_raise_it() {
        let need = |least_bytes| MinLimit {
            resource: Resource::Nofile,
            name: "a table of open files",
            min_bytes: least_bytes,
            letter: 'n',
        };
        assert!(need(1).ensure().is_ok());
        if getrlimit(Resource::Nofile).maximum.is_some_and(|most| most < u64::MAX) {
            let words = need(u64::MAX).ensure().unwrap_err().to_string();
            assert!(words.contains("ulimit -n "), "{words}");
        }
    }
}
