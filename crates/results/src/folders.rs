//! Folders that the command makes for what it writes.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// What an owner must be allowed to write into a folder and read it again.
const OWNERS: u32 = 0o700;

/// Makes `folder`, and those above it that are not there, with what the umask leaves of `mode`. Their owner may use
/// them whatever the umask is: the next thing to be done is to write into them.
///
/// # Errors
/// That one cannot be made, or is no folder.
pub fn make(folder: &Path, mode: u32) -> io::Result<()> {
    // What is relative ends in an empty path, which stands for where we are.
    if folder.is_dir() || folder.as_os_str().is_empty() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make(above, mode)?;
    }
    match DirBuilder::new().mode(mode).create(folder) {
        Ok(()) => open_to_owner(folder),
        // Somebody else was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

fn open_to_owner(folder: &Path) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    match mode & OWNERS {
        OWNERS => Ok(()),
        _ => fs::set_permissions(folder, Permissions::from_mode(mode | OWNERS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_with_those_above_it_and_may_be_there() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("a/b/c");
        make(&inner, 0o700).unwrap();
        make(&inner, 0o700).unwrap();
        let mode = fs::metadata(place.path().join("a")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        fs::write(inner.join("file"), "").unwrap();
        assert!(make(&inner.join("file/d"), 0o700).is_err());
        make(Path::new("."), 0o700).unwrap();
    }

    #[test]
    fn the_owner_gets_what_the_umask_took() {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o050)).unwrap();
        open_to_owner(place.path()).unwrap();
        let mode = fs::metadata(place.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o750);
    }
}
