//! What the command prints: results of commands on standard output, everything else on standard error.

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

/// Prints `text` to `out`, as far as it is safe to print. A reader that has gone away is an error like any other.
pub(crate) fn print_to(mut out: impl Write, text: &str) -> std::io::Result<()> {
    out.write_all(printable(text).as_bytes()).and_then(|()| out.flush())
}

/// Prints `value` as JSON for people, and a newline, to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<Ending, Error> {
    let text = pretty_json(value);
    print_with(|out| writeln!(out, "{text}"))
}

/// Prints what `write` writes, which must be safe to print, to standard output. A reader that has gone away, as in
/// `ipcperf show FILE | head`, is a clean end.
pub(crate) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<Ending, Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::Output(error)),
        _ => Ok(Ending::Done),
    }
}

/// Tells the user something beside the results, on standard error.
pub(crate) fn tell(words: &str) {
    // Where nobody can be told, as on a full disk, that is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{}", printable(words));
}
