//! A study file on disk: reads it, and recognizes files that are no study.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::string::FromUtf8Error;

use ipcperf_plan::unknown_word_error;
use ipcperf_results::Origin;

use super::bundled::STUDIES;
use super::document::MAX_BYTES;
use super::error::Error;
use super::mistake::{Mistake, Mistakes};

/// Reads a file and its origin. Stops one byte past the size limit, which is enough to detect a file that is too long.
pub(super) fn read_file(path: &Path, name: &str) -> Result<(Vec<u8>, Origin), Error> {
    let is_missing = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| {
        let origin = Origin::from_file(&file)?;
        file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        Ok(origin)
    });
    match read {
        Ok(origin) => Ok((bytes, origin)),
        Err(error) if is_missing(&error) && !name.contains(['/', '.']) => {
            Err(unknown_word_error("study", name, STUDIES.iter().map(|(name, _)| *name)).into())
        }
        Err(source) => Err(Error::Unreadable { path: path.to_owned(), source }),
    }
}

/// Description and remedy of a file that exceeds the size limit.
const TOO_LONG: (&str, &str) =
    ("the file is too large; the maximum size of a study is 1 MiB", "name a study file");

/// Returns the description and remedy if `text` is recognizably something other than a study.
pub(super) fn detect_non_study(text: &str) -> Option<(&'static str, &'static str)> {
    let empty = "create one with: ipcperf study new FILE";
    if text.len() > MAX_BYTES {
        return Some(TOO_LONG);
    }
    match text.trim_start().chars().next() {
        None => Some(("the file is empty", empty)),
        Some('{') => Some((
            "this is a results file or other JSON, not a study",
            "name a study file; to judge a results file: ipcperf study judge FILE",
        )),
        Some(_) => None,
    }
}

/// Reports the line of the first invalid UTF-8 sequence.
pub(super) fn utf8_mistakes(error: &FromUtf8Error) -> Vec<Mistake> {
    let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
    let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let mut mistakes = Mistakes::default();
    if error.as_bytes().len() > MAX_BYTES {
        mistakes.add((1, "TOML"), TOO_LONG.0, TOO_LONG.1);
    } else {
        mistakes.add((line, "TOML"), "invalid UTF-8", "save the file as UTF-8");
    }
    mistakes.into_sorted()
}
