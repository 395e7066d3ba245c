//! Output of the command: results on standard output, everything else on standard error.

mod custom;
#[cfg(test)]
mod docs_page;
mod list_json;
mod lists;
mod manual_page;
mod manuals;
mod mechanism_manual;
mod option_values;
mod progress;

#[cfg(test)]
pub(crate) use docs_page::mechanism_page;
pub(crate) use lists::{LIST_KINDS, ListKind, overview};
pub(crate) use manuals::WHICH_ANSWERED_WORKLOAD;
#[cfg(test)]
pub(crate) use option_values::values_text;
pub(crate) use progress::{Progress, Visibility};

use std::io::{BufWriter, Write};

use ipcperf_model::printable::{pretty_json, printable};
use serde::Serialize;

use crate::error::{Error, ExitStatus};

/// Prints `text` and a newline to standard output.
pub(crate) fn print(text: &str) -> Result<ExitStatus, Error> {
    let text = printable(text);
    print_with(|out| writeln!(out, "{text}"))
}

/// Prints `text` to `out`, with unsafe characters escaped. A closed pipe is an error like any other.
pub(crate) fn print_to(mut out: impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(printable(text).as_bytes()).and_then(|()| out.flush())
}

/// Prints `value` to standard output as indented JSON with a newline.
pub(crate) fn print_json(value: &impl Serialize) -> Result<ExitStatus, Error> {
    let text = pretty_json(value);
    print_with(|out| writeln!(out, "{text}"))
}

/// Prints the output of `write`, which must be safe to print, to standard output. A reader that has closed the pipe, as
/// in `ipcperf show FILE | head`, is not an error.
pub(crate) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<ExitStatus, Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Stdout(error)),
        _ => Ok(ExitStatus::Done),
    }
}

/// Prints a message for the user to standard error.
pub(crate) fn print_message(words: &str) {
    // An error is ignored: a message that cannot be printed, as on a full disk, is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{}", printable(words));
}
