//! Output of the command: results on standard output, everything else on standard error.

mod lists;
mod progress;

#[cfg(test)]
pub(crate) use lists::mechanism_page;
pub(crate) use lists::{
    exporter_list, exporters_json, instrument_list, instruments_json, mechanism_list,
    mechanisms_json, untried_instrument_list, workload_list, workloads_json,
};
pub(crate) use progress::{Progress, Visibility};

use std::io::{BufWriter, Write};

use ipcperf_model::printable::{pretty_json, printable};
use serde::Serialize;

use crate::error::{Ending, Error};

/// Prints `text` and a newline to standard output.
pub(crate) fn print(text: &str) -> Result<Ending, Error> {
    let text = printable(text);
    print_with(|out| writeln!(out, "{text}"))
}

/// Prints `text` to `out`, with unsafe characters escaped. A closed pipe is an error like any other.
pub(crate) fn print_to(mut out: impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(printable(text).as_bytes()).and_then(|()| out.flush())
}

/// Prints `value` to standard output as indented JSON with a newline.
pub(crate) fn print_json(value: &impl Serialize) -> Result<Ending, Error> {
    let text = pretty_json(value);
    print_with(|out| writeln!(out, "{text}"))
}

/// Prints the output of `write`, which must be safe to print, to standard output. A reader that has closed the pipe, as
/// in `ipcperf show FILE | head`, is not an error.
pub(crate) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<Ending, Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(Ending::Done),
    }
}

/// Prints a message for the user to standard error.
pub(crate) fn tell(words: &str) {
    // An error is ignored: a message that cannot be printed, as on a full disk, is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{}", printable(words));
}
