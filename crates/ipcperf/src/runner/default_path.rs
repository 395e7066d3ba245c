//! Default path of a results file.

use std::ffi::OsString;
use std::path::PathBuf;

use ipcperf_engine::host;
use ipcperf_results::folders;

use crate::error::{Error, WriteStage};

/// Returns the path of the results file when none is named: a file in `ipcperf/` in the user's data folder, named after
/// the command and the time.
///
/// # Errors
/// Fails if there is no data folder, or if it cannot be created.
pub(crate) fn default_path(command: &str) -> Result<PathBuf, Error> {
    let folder = data_folder(|name| std::env::var_os(name), host::home_folder)
        .ok_or(Error::NoFolder)?
        .join("ipcperf");
    let time = jiff::Zoned::now().strftime("%Y%m%dT%H%M%S");
    let path = folder.join(format!("{command}-{time}-{}.jsonl", std::process::id()));
    match folders::create_all(&folder, 0o700) {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::Unwritable { path, stage: WriteStage::Create, source }),
    }
}

/// Returns the user's data folder, from the environment or else from the home folder in the password database. Relative
/// paths are ignored: they would mean another folder in each working directory.
fn data_folder(
    variable: impl Fn(&str) -> Option<OsString>,
    database: impl Fn() -> Option<PathBuf>,
) -> Option<PathBuf> {
    let absolute =
        |name| variable(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let home = || absolute("HOME").or_else(&database);
    absolute("XDG_DATA_HOME").or_else(|| Some(home()?.join(".local/share")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_go_to_the_users_own_folder_or_nowhere() {
        let folder = |data: &str, home: &str, database: Option<&str>| {
            let variable = |name: &str| match name {
                "XDG_DATA_HOME" => Some(OsString::from(data)),
                "HOME" => Some(OsString::from(home)),
                other => panic!("{other}"),
            };
            let found = data_folder(variable, || database.map(PathBuf::from));
            found.map(|path| path.to_str().unwrap().to_owned())
        };
        assert_eq!(folder("/data", "/home/me", None).unwrap(), "/data");
        assert_eq!(folder("data", "/home/me", None).unwrap(), "/home/me/.local/share");
        assert_eq!(folder("", "", Some("/home/me")).unwrap(), "/home/me/.local/share");
        assert_eq!(folder("", "me", Some("/home/me")).unwrap(), "/home/me/.local/share");
        assert_eq!(folder("", "", None), None);
        assert_eq!(data_folder(|_| None, || None), None);
    }
}
