//! Folder for journals: private to this user, and where the next command looks for it.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use ipcperf_engine::leftovers::make_private_folder;
use rustix::process::geteuid;

/// Possible location of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    path: PathBuf,
    parent: ParentRule,
}

/// Requirement on the parent folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParentRule {
    /// Exists and belongs to this user.
    Existing,
    /// Belongs to this user, or can be created in a folder that does.
    Created,
    /// Shared by all users: the folder's name contains the user ID, and its owner is checked.
    Shared,
}

/// Reason why no folder can be used.
#[derive(Debug)]
pub(super) struct UnusableFolder {
    pub(super) path: PathBuf,
    pub(super) error: io::Error,
}

impl fmt::Display for UnusableFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.error)
    }
}

/// Calls `make` for each folder, in order, until it succeeds; missing folders are created.
///
/// # Errors
/// Returns the error of the first folder.
pub(super) fn in_first_usable<T>(
    make: impl Fn(&Path) -> io::Result<T>,
) -> Result<T, UnusableFolder> {
    let mut first = None;
    for candidate in candidates() {
        match candidate.open_or_create().and_then(|()| make(&candidate.path)) {
            Ok(made) => return Ok(made),
            Err(error) => {
                first.get_or_insert(UnusableFolder { path: candidate.path, error });
            }
        }
    }
    Err(first.unwrap_or_else(|| UnusableFolder {
        path: std::env::temp_dir(),
        error: io::ErrorKind::NotFound.into(),
    }))
}

/// Returns the folders that exist and can be trusted. Sessions of one user have different environments, so the command
/// that died may have used another folder than this one would.
pub(super) fn existing() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = candidates().into_iter().map(|one| one.path).collect();
    paths.dedup();
    paths.retain(|path| check(path).is_ok());
    paths
}

fn candidates() -> Vec<Candidate> {
    let set = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        // The XDG Base Directory Specification says that relative paths are ignored.
        value.filter(|path| path.is_absolute())
    };
    let runtime = set("XDG_RUNTIME_DIR").map(|folder| (folder, ParentRule::Existing));
    let home = || set("HOME").map(|home| home.join(".local/state"));
    let state = set("XDG_STATE_HOME").or_else(home).map(|folder| (folder, ParentRule::Created));
    let of_user = [runtime, state].into_iter().flatten();
    let of_user =
        of_user.map(|(folder, parent)| Candidate { path: folder.join("ipcperf"), parent });
    let shared = std::env::temp_dir().join(format!("ipcperf-{}", geteuid().as_raw()));
    of_user.chain([Candidate { path: shared, parent: ParentRule::Shared }]).collect()
}

impl Candidate {
    fn open_or_create(&self) -> io::Result<()> {
        match check(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            checked => return checked,
        }
        let parent = self.path.parent().ok_or(io::ErrorKind::NotFound)?;
        match self.parent {
            ParentRule::Existing => check_owner(parent)?,
            ParentRule::Created => create_with_parents(parent)?,
            ParentRule::Shared => {}
        }
        match make_private_folder(&self.path) {
            // Another command created it first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => check(&self.path),
            made => made,
        }
    }
}

/// Creates `path` and its missing parents inside a folder of this user. Root therefore creates none in another user's
/// home, where they would lock that user out.
fn create_with_parents(path: &Path) -> io::Result<()> {
    match check_owner(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    create_with_parents(path.parent().ok_or(io::ErrorKind::NotFound)?)?;
    match make_private_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn check_owner(path: &Path) -> io::Result<()> {
    let status = fs::metadata(path)?;
    if status.is_dir() && status.uid() == geteuid().as_raw() {
        return Ok(());
    }
    Err(permission_denied("it is not a folder, or it belongs to another user"))
}

/// Checks that `path` is a folder, not a symbolic link, that belongs to this user. If other users have access to it,
/// removes that access.
fn check(path: &Path) -> io::Result<()> {
    let status = fs::symlink_metadata(path)?;
    if !status.is_dir() || status.uid() != geteuid().as_raw() {
        return Err(permission_denied("it is not a folder, or it belongs to another user"));
    }
    if status.mode() & 0o077 != 0 {
        fs::set_permissions(path, PermissionsExt::from_mode(0o700))?;
    }
    Ok(())
}

fn permission_denied(why: &str) -> io::Error {
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
        let candidate = Candidate { path: path.clone(), parent: ParentRule::Created };
        candidate.open_or_create().unwrap();
        candidate.open_or_create().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_may_enter_is_closed_to_them() {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        check(place.path()).unwrap();
        assert_eq!(fs::metadata(place.path()).unwrap().mode() & 0o777, 0o700);
    }

    /// Any user can create a symbolic link in a shared folder.
    #[test]
    fn a_link_in_place_of_the_folder_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (target, path) = (place.path().join("target"), place.path().join("ipcperf-0"));
        make_private_folder(&target).unwrap();
        symlink(&target, &path).unwrap();
        let refused = Candidate { path, parent: ParentRule::Shared }.open_or_create().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_runtime_folder_that_is_not_there_is_not_made() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("run/ipcperf");
        Candidate { path: path.clone(), parent: ParentRule::Existing }
            .open_or_create()
            .unwrap_err();
        assert!(!path.exists());
    }
}
