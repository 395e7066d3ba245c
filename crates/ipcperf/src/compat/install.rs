//! Symbolic links to the command, named after the compatibility programs.

use std::fs::{read_link, remove_file, symlink_metadata};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ipcperf_results::folders;

use super::names;
use crate::error::{Error, ExitStatus};
use crate::printing::print;

/// Creates a symbolic link in `folder` for each name and prints it. An existing link to ipcperf is replaced.
///
/// # Errors
/// Fails if a link cannot be created, or if its name is in use by something else.
pub(crate) fn install(folder: &Path) -> Result<ExitStatus, Error> {
    let target = std::env::current_exe()
        .map_err(|error| Error::Machine(format!("cannot find this program: {error}")))?;
    let not_written = |path: PathBuf| move |source| Error::NotWritten { path, source };
    folders::create_all(folder, 0o777).map_err(not_written(folder.to_owned()))?;
    let paths: Vec<PathBuf> = names().map(|name| folder.join(name)).collect();
    paths.iter().try_for_each(|path| check(path, &target))?;
    let mut made = Vec::new();
    for path in paths {
        if symlink_metadata(&path).is_ok() {
            remove_file(&path).map_err(not_written(path.clone()))?;
        }
        symlink(&target, &path).map_err(not_written(path.clone()))?;
        made.push(path.display().to_string());
    }
    print(&made.join("\n"))
}

/// Checks that `path` does not exist, or is a symbolic link to an ipcperf like `target`.
fn check(path: &Path, target: &Path) -> Result<(), Error> {
    if symlink_metadata(path).is_err() {
        return Ok(());
    }
    let is_ours = read_link(path).is_ok_and(|there| there.file_name() == target.file_name());
    let path = path.display();
    let words = format!("{path} is not a link to ipcperf; move it, or choose another folder");
    if is_ours { Ok(()) } else { Err(Error::usage(words)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_anew_and_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let within = folder.path().join("bin");
        for _ in 0..2 {
            install(&within).unwrap();
        }
        let linked = |name: &str| read_link(within.join(name)).unwrap();
        assert!(names().all(|name| linked(name) == std::env::current_exe().unwrap()));
        let own = within.join("ipc");
        remove_file(&own).unwrap();
        std::fs::write(&own, "mine").unwrap();
        let refused = install(&within).unwrap_err().to_string();
        assert!(refused.contains("ipc is not a link"), "{refused}");
        assert_eq!(std::fs::read_to_string(&own).unwrap(), "mine");
        remove_file(&own).unwrap();
        symlink("/usr/lib/lmbench/ipc", &own).unwrap();
        assert!(install(&within).is_err(), "somebody else's link");
        let file = folder.path().join("file");
        std::fs::write(&file, "mine").unwrap();
        let refused = install(&file).unwrap_err().to_string();
        assert!(refused.ends_with("name a folder, not a file"), "{refused}");
    }
}
