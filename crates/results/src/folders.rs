//! Creates the folders for the files that the command writes.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// Permissions that the owner needs in order to write into a folder and read it again.
const OWNER_ACCESS: u32 = 0o700;

/// Creates `folder` and its missing parents, with `mode` reduced by the umask. The owner gets full access whatever
/// the umask is, because the command writes into them next.
///
/// # Errors
/// Returns an error if one cannot be created, or is not a folder.
pub fn create_all(folder: &Path, mode: u32) -> io::Result<()> {
    // The topmost parent of a relative path is the empty path, which stands for the current folder.
    if folder.is_dir() || folder.as_os_str().is_empty() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        create_all(above, mode)?;
    }
    match DirBuilder::new().mode(mode).create(folder) {
        Ok(()) => grant_owner_access(folder),
        // Another process created it first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

fn grant_owner_access(folder: &Path) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    match mode & OWNER_ACCESS {
        OWNER_ACCESS => Ok(()),
        _ => fs::set_permissions(folder, Permissions::from_mode(mode | OWNER_ACCESS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_with_those_above_it_and_may_be_there() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("a/b/c");
        create_all(&inner, 0o700).unwrap();
        create_all(&inner, 0o700).unwrap();
        let mode = fs::metadata(place.path().join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::write(inner.join("file"), "").unwrap();
        assert!(create_all(&inner.join("file/d"), 0o700).is_err());
        create_all(Path::new("."), 0o700).unwrap();
    }

    #[test]
    fn the_owner_gets_what_the_umask_took() {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o050)).unwrap();
        grant_owner_access(place.path()).unwrap();
        let mode = fs::metadata(place.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o750);
    }
}
