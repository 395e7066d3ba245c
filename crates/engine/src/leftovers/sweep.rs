//! Removal of files by prefix, without a list of names. Safe in a signal handler on Linux: uses only system calls there, and
//! memory on the stack.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, SeekFrom, openat, seek, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::platform::folder::list;

/// Size of the buffer for directory entries, bytes.
const LISTING_BYTES: usize = 2048;

/// Removes the entries of `folder` that begin with `prefix` and belong to this user.
#[cfg(target_os = "linux")]
pub(super) fn remove_with_prefix(folder: &CStr, prefix: &str) {
    // A folder that cannot be opened holds nothing that could be removed.
    if let Ok(folder) = openat(CWD, folder, FOLDER_FLAGS, Mode::empty()) {
        remove_matching(&folder, |name| {
            name.to_bytes().starts_with(prefix.as_bytes()) && is_owned(&folder, name)
        });
    }
}

/// Files in `folder` whose names begin with `prefix` and that belong to this user.
pub(super) fn owned_names(folder: &CStr, prefix: &str) -> Vec<String> {
    let Ok(folder) = openat(CWD, folder, FOLDER_FLAGS, Mode::empty()) else { return Vec::new() };
    let mut listing = [MaybeUninit::uninit(); LISTING_BYTES];
    let (mut names, mut found) = (list(&folder, &mut listing), Vec::new());
    while let Some(Ok(entry)) = names.next() {
        let name = entry.file_name();
        let is_named = name.to_bytes().starts_with(prefix.as_bytes());
        if is_named && entry.file_type() != FileType::Directory && is_owned(&folder, name) {
            found.push(name.to_string_lossy().into_owned());
        }
    }
    found
}

fn is_owned(folder: &impl AsFd, name: &CStr) -> bool {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|status| status.st_uid == geteuid().as_raw())
}

/// Removes everything in `folder`.
pub(super) fn remove_contents(folder: &impl AsFd) {
    remove_matching(folder, |name| name != c"." && name != c"..");
}

pub(super) const FOLDER_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Removes matching entries. Restarts the listing until nothing more is removed: a listing may skip entries while
/// others are removed.
fn remove_matching(folder: &impl AsFd, is_match: impl Fn(&CStr) -> bool) {
    while seek(folder, SeekFrom::Start(0)).is_ok() {
        let mut listing = [MaybeUninit::uninit(); LISTING_BYTES];
        let mut names = list(folder, &mut listing);
        let mut is_changed = false;
        while let Some(Ok(name)) = names.next() {
            let name = name.file_name();
            is_changed |= is_match(name) && remove(folder, name);
        }
        if !is_changed {
            return;
        }
    }
}

/// Removes `name` and its contents; returns whether it is gone.
fn remove(folder: &impl AsFd, name: &CStr) -> bool {
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        gone => return gone.is_ok(),
    }
    if let Ok(inner) = openat(folder, name, FOLDER_FLAGS, Mode::empty()) {
        remove_contents(&inner);
    }
    unlinkat(folder, name, AtFlags::REMOVEDIR).is_ok()
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs::{create_dir_all, read_dir, write};
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn what_begins_so_goes_with_all_it_holds_and_the_rest_stays() {
        let place = std::env::temp_dir().join(format!("ipcperf-test-sweep-{}", std::process::id()));
        create_dir_all(place.join("ours-deep/er/still")).unwrap();
        write(place.join("ours-deep/er/still/file"), "").unwrap();
        // More names than fit into one listing.
        for number in 0..200 {
            write(place.join(format!("ours-{number}-with-a-rather-long-name")), "").unwrap();
        }
        write(place.join("theirs"), "").unwrap();
        let folder = CString::new(place.as_os_str().as_bytes()).unwrap();
        remove_with_prefix(&folder, "ours-");
        let left: Vec<_> = read_dir(&place).unwrap().map(|one| one.unwrap().file_name()).collect();
        std::fs::remove_dir_all(&place).unwrap();
        assert_eq!(left, ["theirs"]);
    }
}
