//! What people see: tables, words, progress.

mod grid;
mod heading;
mod limits;
mod lists;
mod machine;
mod notes;
mod plan;
mod progress;
mod table;
pub(crate) mod units;
mod width;
mod words;

pub(crate) use grid::Figures;
pub(crate) use heading::{Beside, Heading, headings};
pub(crate) use limits::limit_rows;
#[cfg(test)]
pub(crate) use lists::mechanism_page;
pub(crate) use lists::{
    exporter_list, exporters_json, mechanism_list, mechanisms_json, workload_list, workloads_json,
};
pub(crate) use machine::{facts, machine_json, machine_page, warning_line};
pub(crate) use notes::{notes, set_aside_in_words};
pub(crate) use plan::plan_table;
pub(crate) use progress::{Progress, Visibility};
pub(crate) use table::{ROOFS, refusals, sections, tables};
pub(crate) use width::{columns, fit};
pub(crate) use words::{closing_words, place_of, ranked_in_words, survey_words};

use std::io::{BufWriter, Write};

use crate::error::{Ending, Error};

/// Prints `text` and a newline to standard output.
pub(crate) fn print(text: &str) -> Result<Ending, Error> {
    print_with(|out| writeln!(out, "{text}"))
}

/// Prints what `write` writes to standard output. A reader that has gone away, as in
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
#[allow(clippy::print_stderr, reason = "the one place for words beside the results")]
pub(crate) fn tell(words: &str) {
    eprintln!("{words}");
}
