//! The folder for journals: this user's alone, and where the next command looks for it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use ipcperf_engine::leftovers::make_private_folder;
use rustix::process::geteuid;

/// Where the folder may be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    path: PathBuf,
    parent: Parent,
}

/// What is asked of the folder that it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parent {
    /// It is there and this user's.
    Own,
    /// It is this user's, or can be made in a folder that is.
    Made,
    /// It is everybody's; the folder's name has the user's number, and its owner is checked.
    Shared,
}

/// Why there is no folder that can be used.
#[derive(Debug)]
pub(super) struct Unusable {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

/// What `make` makes in the first folder where it can; folders that are not there are made.
///
/// # Errors
/// Why it cannot be made in the first of them.
pub(super) fn in_the_first_usable<T>(make: impl Fn(&Path) -> io::Result<T>) -> Result<T, Unusable> {
    let mut first = None;
    for candidate in candidates() {
        match candidate.open_or_make().and_then(|()| make(&candidate.path)) {
            Ok(made) => return Ok(made),
            Err(error) => {
                first.get_or_insert(Unusable { path: candidate.path, error });
            }
        }
    }
    Err(first.unwrap_or_else(|| Unusable {
        path: std::env::temp_dir(),
        error: io::ErrorKind::NotFound.into(),
    }))
}

/// The folders that are there and can be trusted. Sessions of one user differ in their environment, so that
/// the command that died may have chosen another than this one would.
pub(super) fn existing() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = candidates().into_iter().map(|one| one.path).collect();
    paths.dedup();
    paths.retain(|path| check(path).is_ok());
    paths
}

fn candidates() -> Vec<Candidate> {
    let set = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        // As the XDG base directory specification has it, a relative path is ignored.
        value.filter(|path| path.is_absolute())
    };
    let runtime = set("XDG_RUNTIME_DIR").map(|folder| (folder, Parent::Own));
    let home = || set("HOME").map(|home| home.join(".local/state"));
    let state = set("XDG_STATE_HOME").or_else(home).map(|folder| (folder, Parent::Made));
    let of_user = [runtime, state].into_iter().flatten();
    let of_user =
        of_user.map(|(folder, parent)| Candidate { path: folder.join("ipcperf"), parent });
    let shared = std::env::temp_dir().join(format!("ipcperf-{}", geteuid().as_raw()));
    of_user.chain([Candidate { path: shared, parent: Parent::Shared }]).collect()
}

impl Candidate {
    fn open_or_make(&self) -> io::Result<()> {
        match check(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            checked => return checked,
        }
        let parent = self.path.parent().ok_or(io::ErrorKind::NotFound)?;
        match self.parent {
            Parent::Own => owned(parent)?,
            Parent::Made => make_with_parents(parent)?,
            Parent::Shared => {}
        }
        match make_private_folder(&self.path) {
            // Another command was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check(&self.path),
            made => made,
        }
    }
}

/// Makes `path`, and the folders above it that are missing, in one of this user's: root makes none in the home
/// of somebody else, whom they would keep out.
fn make_with_parents(path: &Path) -> io::Result<()> {
    match owned(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    make_with_parents(path.parent().ok_or(io::ErrorKind::NotFound)?)?;
    match make_private_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn owned(path: &Path) -> io::Result<()> {
    let status = fs::metadata(path)?;
    if status.is_dir() && status.uid() == geteuid().as_raw() {
        return Ok(());
    }
    Err(refused("it is not a folder of this user"))
}

/// Whether `path` is a folder, not a link to one, that this user alone may use. One that others may enter is
/// closed to them.
fn check(path: &Path) -> io::Result<()> {
    let status = fs::symlink_metadata(path)?;
    if !status.is_dir() || status.uid() != geteuid().as_raw() {
        return Err(refused("it is not a folder of this user"));
    }
    if status.mode() & 0o077 != 0 {
        fs::set_permissions(path, PermissionsExt::from_mode(0o700))?;
    }
    Ok(())
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_made_with_those_above_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("state/of/mine/ipcperf");
        let candidate = Candidate { path: path.clone(), parent: Parent::Made };
        candidate.open_or_make().unwrap();
        candidate.open_or_make().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_may_enter_is_closed_to_them() {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        check(place.path()).unwrap();
        assert_eq!(fs::metadata(place.path()).unwrap().mode() & 0o777, 0o700);
    }

    /// Anybody can make a link in a shared folder.
    #[test]
    fn a_link_in_place_of_the_folder_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (target, path) = (place.path().join("target"), place.path().join("ipcperf-0"));
        make_private_folder(&target).unwrap();
        symlink(&target, &path).unwrap();
        let refused = Candidate { path, parent: Parent::Shared }.open_or_make().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_runtime_folder_that_is_not_there_is_not_made() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run/ipcperf");
        Candidate { path: path.clone(), parent: Parent::Own }.open_or_make().unwrap_err();
        assert!(!path.exists());
    }
}
