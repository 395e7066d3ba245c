//! Names that a run creates in system-wide namespaces: folders, message queues, shared memory, System V objects.
//!
//! ```text
//! command: RunNames::new -> journal -> worker: mechanisms create objects -> command: remove
//! ```
//!
//! Every name is derived from a [`RunToken`], which cannot be guessed. So no other user can create one of them first,
//! and two runs never collide, not even if two PID namespaces share `/tmp`. Objects to remove are recognized by the
//! token and by their owner, never by a pattern.

mod folder;
mod leftover;
pub(crate) mod message_queue;
pub(crate) mod path_text;
mod shared_memory;
mod sweep;
pub(crate) mod system_v;
mod token;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::time::clock_gettime;
use serde::{Deserialize, Serialize};

pub use folder::make_private_folder;
pub(crate) use folder::{remove_owned_folder, to_cstring};
pub use leftover::Leftover;
#[cfg(target_os = "linux")]
pub(crate) use shared_memory::{SHM_FOLDER, remove_shared_memory};
pub use system_v::SystemV;
pub use token::RunToken;

use ipcperf_model::{Failure, FailureKind};

use crate::platform::folder::FILE_CLOCK;

/// Prefix of all names of a run; the token follows.
pub const PREFIX: &str = "ipcperf-run-";

/// Names that a run may create. They are drawn and recorded before the run, so that the leftovers of a killed run can
/// be found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunNames {
    token: RunToken,
    /// Folders in which the run may create its own. The first is the folder for temporary files.
    #[serde(with = "path_text::list")]
    places: Vec<PathBuf>,
    /// Time when the names were drawn, s since the epoch, on the clock that stamps System V objects.
    began_s: i64,
}

impl RunNames {
    /// Draws names for a run that keeps files in the folder for temporary files, or in one of `places`.
    ///
    /// # Errors
    /// Returns an error if no random numbers are available, or if a relative path has no current folder.
    pub fn new<'a>(places: impl IntoIterator<Item = &'a Path>) -> io::Result<Self> {
        let all =
            std::iter::once(std::env::temp_dir()).chain(places.into_iter().map(Path::to_owned));
        Ok(Self {
            token: RunToken::random()?,
            places: all.map(std::path::absolute).collect::<Result<_, _>>()?,
            began_s: clock_gettime(FILE_CLOCK).tv_sec,
        })
    }

    /// Random part of the names.
    #[must_use]
    pub fn token(&self) -> RunToken {
        self.token
    }

    /// Time when the names were drawn, s since the epoch.
    #[must_use]
    pub fn began_s(&self) -> i64 {
        self.began_s
    }

    /// Prefix of all names of this run, including the token.
    #[must_use]
    pub fn prefix(&self) -> String {
        format!("{PREFIX}{}", self.token)
    }

    /// Folder of the run among temporary files.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.folder_in(self.places.first().map_or(Path::new("/tmp"), PathBuf::as_path))
    }

    /// Folder of the run in `place`.
    pub(crate) fn folder_in(&self, place: &Path) -> PathBuf {
        place.join(self.prefix())
    }

    /// Existing objects of this user under the run's names.
    #[must_use]
    pub fn existing(&self) -> Vec<Leftover> {
        // A relative path depends on the current folder, which has changed since.
        let places = self.places.iter().filter(|place| place.is_absolute());
        let folders =
            places.map(|place| self.folder_in(place)).filter(|path| folder::is_owned_folder(path));
        let mut found: Vec<Leftover> = folders.map(Leftover::Folder).collect();
        found.dedup();
        found.extend(message_queue::existing(self).into_iter().map(Leftover::MessageQueue));
        found.extend(shared_memory::existing(self).into_iter().map(Leftover::SharedMemory));
        found.extend(system_v::existing(self).map(|(kind, id)| Leftover::SystemV { kind, id }));
        found
    }

    /// Removes the objects of this user under the run's names; returns those that could not be removed.
    pub fn remove(&self) -> Vec<Leftover> {
        self.existing().into_iter().filter(|one| one.remove().is_err()).collect()
    }
}

/// Names of this worker's run. A worker carries out one run.
static RUN_NAMES: OnceLock<RunNames> = OnceLock::new();

/// Sets the names that the mechanism of this process may create.
pub(crate) fn install(names: RunNames) {
    // Fails only for a second run in one process; a worker carries out one.
    let _ = RUN_NAMES.set(names);
}

/// Names that were installed, if any.
pub(crate) fn installed() -> Option<&'static RunNames> {
    RUN_NAMES.get()
}

/// Names of this run. Outside a worker each call draws new ones.
///
/// # Errors
/// Returns [`FailureKind::SetUp`] if none can be drawn.
pub(crate) fn run_names() -> Result<RunNames, Failure> {
    match installed() {
        Some(names) => Ok(names.clone()),
        None => RunNames::new([]).map_err(|error| names_unavailable(&error)),
    }
}

/// Failure of a run for which no names can be drawn.
pub(crate) fn names_unavailable(error: &io::Error) -> Failure {
    Failure {
        errno: error.raw_os_error(),
        ..Failure::new(FailureKind::SetUp, "generating random names for the run")
            .with_remedy("allow getrandom in the seccomp filter, and start in a folder that exists")
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn names_are_read_back_from_json_also_where_a_path_is_no_text() {
        let odd = Path::new(OsStr::from_bytes(b"/dev/\xFF"));
        let names = RunNames::new([odd, Path::new("/dev/shm")]).unwrap();
        let json = serde_json::to_string(&names).unwrap();
        assert_eq!(serde_json::from_str::<RunNames>(&json).unwrap(), names);
        assert!(json.contains("\"/dev/shm\""), "{json}");
    }

    #[test]
    fn what_a_run_leaves_is_found_and_removed() {
        let names = RunNames::new([]).unwrap();
        assert_eq!(names.existing(), []);
        make_private_folder(&names.folder()).unwrap();
        std::fs::write(names.folder().join("file"), "").unwrap();
        assert_eq!(names.existing(), [Leftover::Folder(names.folder())]);
        assert_eq!(names.remove(), []);
        assert!(!names.folder().exists());
    }

    /// A folder in /dev/shm also appears in the search for shared memory.
    #[test]
    fn a_folder_in_shared_memory_is_one_leftover() {
        let place = Path::new("/dev/shm");
        let names = RunNames::new([place]).unwrap();
        let folder = names.folder_in(place);
        if make_private_folder(&folder).is_err() {
            return;
        }
        assert_eq!(names.existing(), [Leftover::Folder(folder)]);
        assert_eq!(names.remove(), []);
    }

    /// A forged list of names reaches only folders that its token names.
    #[test]
    fn a_place_that_leads_elsewhere_is_not_touched() {
        let own = RunNames::new([]).unwrap().folder();
        make_private_folder(&own).unwrap();
        let token = RunToken::random().unwrap();
        let places = vec![own.clone(), own.join(".."), PathBuf::from("relative")];
        let names = RunNames { token, places, began_s: 0 };
        assert_eq!(names.existing(), []);
        assert_eq!(names.remove(), []);
        assert!(own.exists());
        remove_owned_folder(&to_cstring(&own).unwrap()).unwrap();
    }
}
