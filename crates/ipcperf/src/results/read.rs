//! Reading a results file, whole or torn.

use std::path::Path;

use super::SCHEMA;
use super::record::{FailedRun, Footer, Header, Line};
use super::sample::Sample;
use crate::error::Error;

/// A results file, read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Results {
    pub(crate) header: Header,
    pub(crate) samples: Vec<Sample>,
    pub(crate) failures: Vec<FailedRun>,
    /// The last footer.
    pub(crate) footer: Option<Footer>,
    /// Whether that footer is the end: else the command that wrote what follows was killed.
    pub(crate) end: End,
    /// What is not as it should be, in words.
    pub(crate) warnings: Vec<String>,
    /// Where the last whole line ends.
    pub(crate) whole_bytes: u64,
}

/// How a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// In a footer.
    Closed,
    /// In anything else.
    Open,
}

/// What a file lacks whose command was killed.
const NO_FOOTER: &str = "there is no footer: the command did not end; ipcperf resume goes on";

/// Reads the results file at `path`.
///
/// # Errors
/// That it cannot be read; usage where it is no results file, a newer one, or has a bad line
/// inside. A torn last line and a missing footer are warnings.
pub(crate) fn read(path: &Path) -> Result<Results, Error> {
    let bytes = std::fs::read(path)
        .map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    parse(&bytes).map_err(|words| Error::usage(format!("{}: {words}", path.display())))
}

fn parse(bytes: &[u8]) -> Result<Results, String> {
    let (whole, torn) = split_torn(bytes);
    let mut lines = whole.split(|&byte| byte == b'\n').zip(1_u64..);
    let (first, _) = lines.next().ok_or("empty: no results file")?;
    let mut results = Results {
        header: header(first)?,
        samples: Vec::new(),
        failures: Vec::new(),
        footer: None,
        end: End::Open,
        warnings: Vec::new(),
        whole_bytes: (bytes.len() - torn.len()) as u64,
    };
    for (line, number) in lines {
        results.add(line).map_err(|words| format!("line {number}: {words}"))?;
    }
    if !torn.is_empty() {
        results.end = End::Open;
        results.warnings.push("the last line is torn and was left out".to_owned());
    }
    if results.end == End::Open {
        results.warnings.push(NO_FOOTER.to_owned());
    }
    Ok(results)
}

/// The lines that end in a newline, without the last newline, and what comes after it.
fn split_torn(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().rposition(|&byte| byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (&[], bytes),
    }
}

fn header(line: &[u8]) -> Result<Header, String> {
    let foreign = || "no results file of ipcperf: the first line is no header".to_owned();
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| foreign())?;
    if value["kind"] != "header" {
        return Err(foreign());
    }
    match value["schema"].as_u64() {
        Some(version) if version > u64::from(SCHEMA) => Err(format!(
            "written by a newer ipcperf: format {version}, this one reads up to {SCHEMA}; update it"
        )),
        Some(1..) => match serde_json::from_value(value) {
            Ok(Line::Header(header)) => Ok(header),
            Ok(_) => Err(foreign()),
            Err(error) => Err(format!("bad header: {error}")),
        },
        _ => Err("bad header: no version".to_owned()),
    }
}

impl Results {
    /// Whether every run of the plan has its line.
    pub(crate) fn is_complete(&self) -> bool {
        let complete = self.footer.as_ref().is_some_and(|footer| footer.complete);
        complete && self.end == End::Closed
    }

    fn add(&mut self, line: &[u8]) -> Result<(), String> {
        self.end = End::Open;
        match serde_json::from_slice(line).map_err(|error| format!("bad line: {error}"))? {
            Line::Header(_) => return Err("a second header".to_owned()),
            Line::Sample(sample) => self.samples.push(sample),
            Line::Failure(failure) => self.failures.push(failure),
            Line::Footer(footer) => {
                self.footer = Some(footer);
                self.end = End::Closed;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_engine::workload::Kind;
    use proptest::prelude::*;

    use super::*;
    use crate::machine::Environment;
    use crate::results::{PlanRecord, sample};

    fn file() -> String {
        let plan = PlanRecord {
            repetitions: 1,
            until_ci: None,
            attempts: 1,
            specs: Vec::new(),
            deadline_s: 10.0,
            cases: Vec::new(),
            refused: Vec::new(),
            unavailable: Vec::new(),
        };
        let header = Header {
            schema: SCHEMA,
            command: vec!["run".to_owned()],
            quick: false,
            study: None,
            study_hash: None,
            seed: 1,
            started: "2026-11-20T10:00:00Z".to_owned(),
            plan,
            environment: Environment::default(),
            limits: None,
        };
        let footer = Footer {
            complete: true,
            samples: 1,
            failures: 0,
            elapsed_ns: 1,
            ended: "2026-11-20T10:00:01Z".to_owned(),
        };
        let sample = sample("pipe", Kind::Stream, 64, 1, 1_000_000);
        let lines = [Line::Header(header), Line::Sample(sample), Line::Footer(footer)];
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
    }

    fn words(text: &str) -> String {
        parse(text.as_bytes()).unwrap_err()
    }

    #[test]
    fn a_whole_file_is_read_without_warning() {
        let results = parse(file().as_bytes()).unwrap();
        assert_eq!(results.samples.len(), 1);
        assert!(results.footer.unwrap().complete);
        assert!(results.warnings.is_empty());
    }

    #[test]
    fn a_torn_last_line_is_a_warning() {
        let text = file();
        let results = parse(&text.as_bytes()[..text.len() - 10]).unwrap();
        assert_eq!(results.samples.len(), 1);
        assert_eq!(results.warnings.len(), 2, "{:?}", results.warnings);
    }

    #[test]
    fn a_footer_with_more_behind_it_ends_nothing() {
        let text = file();
        assert!(parse(text.as_bytes()).unwrap().is_complete());
        let sample = text.lines().nth(1).unwrap();
        let results = parse(format!("{text}{sample}\n").as_bytes()).unwrap();
        assert!(!results.is_complete());
        assert_eq!(results.warnings, [NO_FOOTER]);
    }

    #[test]
    fn what_is_no_results_file_is_told_in_words() {
        assert_eq!(words(""), "no results file of ipcperf: the first line is no header");
        assert!(words("hello\nworld\n").contains("no header"));
        assert!(words("{\"kind\":\"sample\"}\n").contains("no header"));
        assert!(words("{\"kind\":\"header\",\"schema\":2}\n").contains("newer ipcperf: format 2"));
        assert!(words("{\"kind\":\"header\",\"schema\":1}\n").contains("bad header: missing"));
        assert!(words("{\"kind\":\"header\"}\n").contains("no version"));
    }

    #[test]
    fn a_bad_line_inside_is_told_with_its_number() {
        let text = file();
        let lines: Vec<&str> = text.lines().collect();
        let broken = format!("{}\n{{\"kind\":\"sam\n{}\n", lines[0], lines[2]);
        assert!(words(&broken).starts_with("line 2: bad line"), "{}", words(&broken));
        let twice = format!("{}\n{}\n", lines[0], lines[0]);
        assert_eq!(words(&twice), "line 2: a second header");
    }

    proptest! {
        #[test]
        fn any_prefix_and_any_change_is_read_or_refused(cut: prop::sample::Index, flip in 1_u8..) {
            let mut bytes = file().into_bytes();
            let at = cut.index(bytes.len());
            let _ = parse(&bytes[..at]);
            bytes[at] ^= flip;
            let _ = parse(&bytes);
        }
    }
}
