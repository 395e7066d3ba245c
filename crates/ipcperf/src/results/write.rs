//! Writing a results file: each line is appended and handed to the system at once.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::record::{Header, Line};
use crate::error::Error;

/// Whether an existing file may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overwrite {
    /// It is kept; the command refuses.
    Refuse,
    /// It is replaced.
    Replace,
}

/// An open results file.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    path: PathBuf,
}

impl Writer {
    /// Creates the file and writes its header.
    ///
    /// # Errors
    /// Usage where it exists and may not be replaced; else that it cannot be written.
    pub(crate) fn create(
        path: PathBuf,
        overwrite: Overwrite,
        header: Header,
    ) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        match overwrite {
            Overwrite::Refuse => options.write(true).create_new(true),
            Overwrite::Replace => options.write(true).create(true).truncate(true),
        };
        match options.open(&path) {
            Ok(file) => {
                let mut writer = Self { file, path };
                writer.append(&Line::Header(header))?;
                Ok(writer)
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(Error::usage(
                format!("{} exists; choose another name or add --force", path.display()),
            )),
            Err(source) => Err(Error::Unwritable { path, source }),
        }
    }

    /// Appends one line. A line is written whole or, on a full disk, torn at its end only.
    ///
    /// # Errors
    /// That it cannot be written.
    pub(crate) fn append(&mut self, line: &Line) -> Result<(), Error> {
        let text = serde_json::to_string(line).map_err(std::io::Error::from);
        let written = text.and_then(|mut text| {
            text.push('\n');
            self.file.write_all(text.as_bytes())
        });
        written.map_err(|source| Error::Unwritable { path: self.path.clone(), source })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Where results go when no file is named: `ipcperf/` in the user's folder for data, named after
/// the command and the time.
///
/// # Errors
/// That the folder cannot be made.
pub(crate) fn default_path(command: &str) -> Result<PathBuf, Error> {
    let data = std::env::var_os("XDG_DATA_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share"));
    let folder = data.or_else(home).unwrap_or_else(std::env::temp_dir).join("ipcperf");
    let time = jiff::Zoned::now().strftime("%Y%m%dT%H%M%S");
    let path = folder.join(format!("{command}-{time}-{}.jsonl", std::process::id()));
    match std::fs::create_dir_all(&folder) {
        Ok(()) => Ok(path),
        Err(source) => Err(Error::Unwritable { path, source }),
    }
}
