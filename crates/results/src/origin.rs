//! Owner of a file that names programs and libraries to run.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::{fmt, io};

use rustix::process::geteuid;

/// Permission bits that let users other than the owner write.
const OTHERS_WRITE: u32 = 0o022;

/// Origin of a file, which decides whether it is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The file belongs to the user and only the user may write to it, or it is part of ipcperf.
    #[default]
    Trusted,
    /// The file belongs to another user, with this user id.
    OtherUser(u32),
    /// Others may write to the file, which has these permissions.
    WritableByOthers(u32),
}

impl Origin {
    /// Returns the origin of the open `file`. It takes a file rather than a path, because the file at a path could
    /// be replaced.
    ///
    /// # Errors
    /// Returns the error of the system if the metadata cannot be read.
    pub fn from_file(file: &File) -> io::Result<Self> {
        let facts = file.metadata()?;
        let mode = facts.mode() & 0o7777;
        Ok(match facts.uid() {
            owner if owner != geteuid().as_raw() => Self::OtherUser(owner),
            _ if mode & OTHERS_WRITE != 0 => Self::WritableByOthers(mode),
            _ => Self::Trusted,
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Trusted => f.write_str("you own it"),
            Self::OtherUser(user) => write!(f, "it belongs to another user (uid {user})"),
            Self::WritableByOthers(mode) => {
                write!(f, "other users may write to it (mode {mode:04o})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_others_may_write_to_is_not_the_users_own() {
        let file = tempfile::tempfile().unwrap();
        for (mode, origin) in [
            (0o600, Origin::Trusted),
            (0o644, Origin::Trusted),
            (0o664, Origin::WritableByOthers(0o664)),
            (0o646, Origin::WritableByOthers(0o646)),
        ] {
            file.set_permissions(std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(Origin::from_file(&file).unwrap(), origin);
        }
        let root = File::open("/proc/version").unwrap();
        let wanted = if geteuid().is_root() { Origin::Trusted } else { Origin::OtherUser(0) };
        assert_eq!(Origin::from_file(&root).unwrap(), wanted);
    }
}
