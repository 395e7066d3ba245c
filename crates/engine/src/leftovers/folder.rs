//! Private folders of a run or of this user: newly created, and recognized by their owner.

use std::ffi::{CStr, CString};
use std::fs::DirBuilder;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, chmod, fstat, openat, rmdir};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::sweep::{FOLDER_FLAGS, remove_contents};
use crate::platform::folder::REFERS_ONLY;

/// Creates the folder `path` with access for its owner only, whatever the umask. Fails if the path exists, since
/// another user may have created it.
///
/// # Errors
/// Returns the system's error.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    let flags = REFERS_ONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(CWD, path, flags, Mode::empty())?;
    let status = fstat(&folder)?;
    if status.st_uid != geteuid().as_raw() {
        // The file system maps files created by root to another user. The folder is then indistinguishable from another
        // user's.
        rmdir(path)?;
        return Err(Errno::PERM.into());
    }
    // The umask may have cleared bits of the owner's. Use the descriptor: the path may by now name another user's
    // folder.
    if status.st_mode & 0o777 != 0o700 {
        chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), Mode::RWXU)?;
    }
    Ok(())
}

/// Converts `path` to a C string; `None` if it contains a NUL byte.
pub(crate) fn to_cstring(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_bytes()).ok()
}

/// Whether `path` is a folder, not a link to one, that belongs to this user.
pub(super) fn is_owned_folder(path: &Path) -> bool {
    let flags = REFERS_ONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
        .and_then(fstat)
        .is_ok_and(|status| status.st_uid == geteuid().as_raw())
}

/// Removes the folder `path` and its contents if it is no link and belongs to this user. On Linux it makes
/// only system calls, so that a signal handler may call it.
///
/// # Errors
/// Returns the reason why it still exists.
pub(crate) fn remove_owned_folder(path: &CStr) -> Result<(), Errno> {
    let folder = match openat(CWD, path, FOLDER_FLAGS, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    if fstat(&folder)?.st_uid != geteuid().as_raw() {
        return Err(Errno::PERM);
    }
    remove_contents(&folder);
    rmdir(path)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::*;
    use crate::leftovers::RunNames;

    #[test]
    fn a_folder_is_private_and_made_once() {
        let path = RunNames::new([]).unwrap().folder();
        make_private_folder(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        let again = make_private_folder(&path).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        fs::write(path.join("file"), "").unwrap();
        remove_owned_folder(&to_cstring(&path).unwrap()).unwrap();
        assert!(!path.exists());
        remove_owned_folder(&to_cstring(&path).unwrap()).unwrap();
    }

    #[test]
    fn a_link_is_not_followed() {
        let names = RunNames::new([]).unwrap();
        let (folder, link) = (names.folder(), names.folder().with_extension("link"));
        make_private_folder(&folder).unwrap();
        fs::write(folder.join("kept"), "").unwrap();
        symlink(&folder, &link).unwrap();
        assert!(!is_owned_folder(&link) && is_owned_folder(&folder));
        remove_owned_folder(&to_cstring(&link).unwrap()).unwrap_err();
        assert!(folder.join("kept").exists());
        fs::remove_file(link).unwrap();
        remove_owned_folder(&to_cstring(&folder).unwrap()).unwrap();
    }
}
