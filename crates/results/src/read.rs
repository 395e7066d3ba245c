//! Reads a results file, complete or torn.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use ipcperf_model::mechanism::CaseFacts;
use ipcperf_model::parallel::map;
use memchr::memchr;

use super::blocks::{Blocks, BufferPool, InputEnd};
use super::identity::CaseIdentity;
use super::line_checker::RawLines;
use super::parse_error::{ParseError, shorten};
use super::parsed_block::{MAX_BAD_LINES, ParseContext, ParsedBlock};
use super::peer_record::PeerRecord;
use super::planned::RefusedRecord;
use super::record::{FailedRun, Footer, Header, ObservationRecord, ResultsLine, final_failures};
use super::tally::Tally;
use super::{SCHEMA, missing, warnings};
use crate::error::Error;
use crate::sample::Sample;

/// Contents of a results file.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// Header: the first line.
    pub header: Header,
    /// Samples, in the order of their runs.
    pub samples: Vec<Sample>,
    /// Peers of runs with more than two.
    pub peers: Vec<PeerRecord>,
    /// Observations of instruments.
    pub observations: Vec<ObservationRecord>,
    /// Failures that no later attempt at the same run corrected.
    pub failures: Vec<FailedRun>,
    /// The last footer.
    pub footer: Option<Footer>,
    /// Whether that footer is the last line. If not, the command that wrote the lines after it was killed.
    pub end: FileEnd,
    /// Warnings about irregularities, as messages.
    pub warnings: Vec<String>,
    /// Warnings about the end of the file, if it is not a footer, as messages.
    pub end_warnings: Vec<String>,
    /// Missing and unreadable parts of the file.
    pub completeness: Completeness,
}

/// Completeness of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completeness {
    /// Position after the last complete line.
    pub whole_bytes: u64,
    /// Number of lines that count.
    pub tally: Tally,
    /// Number of planned runs without a line, if the footer says that the file is complete.
    pub missing_runs: u64,
    /// Description of the first unreadable line.
    pub bad_line: Option<String>,
}

/// Last line of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileEnd {
    /// A footer.
    Closed,
    /// Any other line.
    #[default]
    Open,
}

/// Treatment of an unreadable line within the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// The line is ignored, with a warning.
    Lenient,
    /// The file is rejected.
    Strict,
}

/// Warning for a file whose command was killed.
const NO_FOOTER: &str =
    "no footer: the command did not finish; ipcperf resume continues the measurement";

const TORN: &str = "the last line is incomplete and was ignored";

/// Reads the results file at `path`.
///
/// # Errors
/// Returns an error if the file cannot be read, is not a results file, or is of a newer version; if strict, also if
/// it has an unreadable line. A torn last line, a missing footer, and missing or duplicated lines are warnings.
pub fn read(path: &Path, strictness: Strictness) -> Result<Results, Error> {
    let file = File::open(path);
    let file = file.map_err(|source| Error::Unreadable { path: path.to_owned(), source })?;
    match strictness {
        Strictness::Lenient => parse(file).map_err(|wrong| wrong.into_error(path)),
        Strictness::Strict => read_strictly(file, path),
    }
}

/// Reads `file`, which was opened at `path`, and rejects it if it has an unreadable line.
///
/// # Errors
/// Returns the same errors as [`read`].
pub(super) fn read_strictly(file: impl Read + Send, path: &Path) -> Result<Results, Error> {
    let results = parse(file).map_err(|wrong| wrong.into_error(path))?;
    match results.completeness.bad_line {
        Some(words) => Err(ParseError::Contents(words).into_error(path)),
        None => Ok(results),
    }
}

/// Parses all of `input`. As many threads as there are CPUs parse blocks of it.
///
/// # Errors
///
/// Returns an error if `input` cannot be read, if its header is not one of a results file, or if a different header
/// follows.
pub fn parse(input: impl Read + Send) -> Result<Results, ParseError> {
    let spare = BufferPool::default();
    let mut blocks = Blocks::new(input, &spare);
    let first = blocks.next().transpose()?.unwrap_or_default();
    let header_bytes = memchr(b'\n', &first).map_or(first.len(), |newline| newline + 1);
    let (line, rest) = first.split_at(header_bytes);
    let header = header(line)?;
    let known = ParseContext::new(line, &header);
    let mut reading = ReaderState::default();
    reading.append(ParsedBlock::read(rest, &known))?;
    let read_block = |block: Result<Vec<u8>, ParseError>| {
        let block = block?;
        let part = ParsedBlock::read(&block, &known);
        spare.put(block);
        Ok(part)
    };
    let parts = map(&mut blocks, read_block).into_iter().collect::<Result<Vec<_>, ParseError>>();
    for part in parts? {
        reading.append(part)?;
    }
    Ok(reading.finish(header, &blocks.input_end()))
}

/// Returns the message for a file that is not a results file, for this reason.
fn foreign_file(reason: &str) -> String {
    format!(
        "not an ipcperf results file: {reason}; name a file that ipcperf run or study run wrote (default folder: \
         ~/.local/share/ipcperf)"
    )
}

fn header(line: &[u8]) -> Result<Header, String> {
    let foreign = || foreign_file("the first line is not a header");
    if line.is_empty() {
        return Err(foreign_file("the file is empty"));
    }
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|_| foreign())?;
    if value["kind"] != "header" {
        return Err(foreign());
    }
    match value["schema"].as_u64() {
        Some(version) if version > u64::from(SCHEMA) => Err(format!(
            "written by a newer ipcperf (schema {version}); this version reads schema {SCHEMA}: update ipcperf"
        )),
        Some(version @ 1..) if version < u64::from(SCHEMA) => Err(format!(
            "written by an older ipcperf (schema {version}); this version reads schema {SCHEMA}: measure again, or \
             use the version that wrote the file"
        )),
        Some(1..) => match serde_json::from_value(value) {
            Ok(ResultsLine::Header(mut header)) => {
                header.plan.refused.iter().try_for_each(|cell| cell.case.check_names())?;
                header.plan.refused.iter_mut().for_each(RefusedRecord::name_case);
                Ok(header)
            }
            Ok(_) => Err(foreign()),
            Err(error) => Err(format!("bad header: {error}")),
        },
        _ => Err("bad header: no schema version".to_owned()),
    }
}

impl Results {
    /// Adds the properties of mechanisms from `facts` to cases for which the file has none: those of older versions,
    /// and refused cells.
    pub fn fill_facts(&mut self, facts: impl Fn(&CaseIdentity) -> Option<CaseFacts>) {
        let samples = self.samples.iter_mut().map(|sample| &mut sample.run.case);
        let failures = self.failures.iter_mut().map(|failure| &mut failure.run.case);
        let refused = self.header.plan.refused.iter_mut().map(|cell| &mut cell.case);
        let cases = samples.chain(failures).chain(refused);
        let mut known: HashMap<String, Option<CaseFacts>> = HashMap::new();
        for case in cases.filter(|case| case.facts.is_none()) {
            let found = match known.get(&case.case_id) {
                Some(found) => found.clone(),
                None => known.entry(case.case_id.clone()).or_insert(facts(case)).clone(),
            };
            case.facts = found;
        }
    }

    /// Whether every run of the plan has its line, and none is to be retried.
    pub fn is_complete(&self) -> bool {
        let is_footer_complete =
            |footer: &Footer| footer.complete && self.lost_since_resume(footer) == 0;
        let is_due = |failure: &FailedRun| failure.transient;
        self.end == FileEnd::Closed
            && self.footer.as_ref().is_some_and(is_footer_complete)
            && self.completeness.missing_runs == 0
            && !self.failures.iter().any(is_due)
    }

    /// Number of lines that were lost after the file was last resumed.
    fn lost_since_resume(&self, footer: &Footer) -> u64 {
        self.completeness.tally.lost_lines.saturating_sub(footer.lost_lines)
    }
}

/// State of the reader, to which parts are appended.
#[derive(Default)]
struct ReaderState {
    lines: RawLines,
    /// Number of first attempts at runs that every case has.
    first_attempts: u64,
    bad: Vec<String>,
    bad_count: u64,
    unplanned_runs: u64,
    unplanned_case: Option<String>,
}

impl ReaderState {
    fn append(&mut self, part: ParsedBlock) -> Result<(), String> {
        // The header is line 1.
        let first_line = self.lines.count() + 2;
        if let Some((at, words)) = &part.fatal {
            return Err(format!("line {}: {words}", first_line + at));
        }
        let bad = part.bad.iter().map(|(at, words)| format!("line {}: {words}", first_line + at));
        let room = MAX_BAD_LINES.saturating_sub(self.bad.len());
        self.bad.extend(bad.take(room).map(|words| shorten(&words)));
        self.bad_count += part.bad_count;
        self.first_attempts += part.first_attempts;
        self.unplanned_runs += part.unplanned_runs;
        self.unplanned_case = self.unplanned_case.take().or_else(|| part.unplanned_case.clone());
        self.lines.append(part);
        Ok(())
    }

    fn finish(self, header: Header, ending: &InputEnd) -> Results {
        let (bad, more_bad) = (self.bad, self.bad_count);
        let strays = (self.unplanned_runs, self.unplanned_case);
        let sorted = self.lines.into_checked();
        let mut condition = Completeness {
            whole_bytes: ending.whole_bytes,
            tally: sorted.tally,
            missing_runs: 0,
            bad_line: bad.first().cloned(),
        };
        let is_closed = sorted.is_closed && ending.torn_bytes == 0;
        let mut warnings = warnings::warn_of_bad_lines(&bad, more_bad);
        warnings.extend(warnings::warn_of_line_errors(&sorted));
        if is_closed && bad.is_empty() && sorted.tally.lost_lines == 0 {
            warnings.extend(warnings::of_footer(&sorted));
        }
        warnings.extend(warnings::warn_of_unplanned_runs(&strays));
        if sorted.footer.as_ref().is_some_and(|footer| footer.complete) {
            let missing = missing::find_missing(&header.plan, &sorted, self.first_attempts);
            condition.missing_runs = missing.count;
            warnings.extend(warnings::warn_of_missing_runs(&missing));
        }
        let torn = (ending.torn_bytes > 0).then_some(TORN);
        let open = (!is_closed).then_some(NO_FOOTER);
        Results {
            header,
            failures: final_failures(sorted.failures, &sorted.samples),
            samples: sorted.samples,
            peers: sorted.peers,
            observations: sorted.observations,
            footer: sorted.footer,
            end: if is_closed { FileEnd::Closed } else { FileEnd::Open },
            warnings: warnings.iter().map(|words| shorten(words)).collect(),
            end_warnings: torn.into_iter().chain(open).map(str::to_owned).collect(),
            completeness: condition,
        }
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use proptest::prelude::*;

    use super::*;
    use crate::PlanRecord;
    use crate::testing::{header, sample};

    /// Returns a run of the single case in `block`.
    fn run(block: u32) -> Sample {
        sample("pipe", WorkloadKind::Stream, 64, block, 1_000_000)
    }

    fn file() -> String {
        let made = header(vec![run(0).run.case.case_id], Vec::new());
        let plan = PlanRecord { repetitions: 0, ..made.plan };
        let header = Header { plan, ..made };
        let footer = Footer {
            seq: None,
            complete: true,
            samples: 1,
            observations: Some(0),
            peers: 0,
            failures: 0,
            lost_lines: 0,
            probe_effects: Vec::new(),
            elapsed_ns: 1,
            ended: "2026-11-20T10:00:01Z".to_owned(),
        };
        let sample = run(0);
        let lines =
            [ResultsLine::Header(header), ResultsLine::Sample(sample), ResultsLine::Footer(footer)];
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
    }

    fn error_text(text: &str) -> String {
        match parse(text.as_bytes()).unwrap_err() {
            ParseError::Contents(words) => words,
            ParseError::Unreadable(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_whole_file_is_read_without_warning() {
        let results = parse(file().as_bytes()).unwrap();
        assert_eq!(results.samples.len(), 1);
        assert!(results.is_complete() && results.warnings.is_empty(), "{:?}", results.warnings);
    }

    #[test]
    fn a_torn_last_line_is_a_warning() {
        let text = file();
        let results = parse(&text.as_bytes()[..text.len() - 10]).unwrap();
        assert_eq!(results.samples.len(), 1);
        assert_eq!(results.end_warnings, [TORN, NO_FOOTER]);
    }

    #[test]
    fn a_footer_with_more_behind_it_ends_nothing() {
        let text = file();
        assert!(parse(text.as_bytes()).unwrap().is_complete());
        let sample = text.lines().nth(1).unwrap().replace("0.0.1", "1.0.1");
        let results = parse(format!("{text}{sample}\n").as_bytes()).unwrap();
        assert!(!results.is_complete());
        assert_eq!(results.end_warnings, [NO_FOOTER]);
    }

    #[test]
    fn what_is_no_results_file_is_told_in_words() {
        let empty = error_text("");
        assert!(empty.starts_with("not an ipcperf results file: the file is empty; "), "{empty}");
        assert!(empty.contains("~/.local/share/ipcperf"), "{empty}");
        assert!(error_text("hello\nworld\n").contains("not a header"));
        assert!(error_text("{\"kind\":\"sample\"}\n").contains("not a header"));
        assert!(
            error_text("{\"kind\":\"header\",\"schema\":3}\n").contains("newer ipcperf (schema 3)")
        );
        assert!(
            error_text("{\"kind\":\"header\",\"schema\":1}\n").contains("older ipcperf (schema 1)")
        );
        assert!(error_text("{\"kind\":\"header\",\"schema\":2}\n").contains("bad header: missing"));
        assert!(error_text("{\"kind\":\"header\"}\n").contains("no schema version"));
    }

    fn bad_line(text: &str) -> String {
        parse(text.as_bytes()).unwrap().completeness.bad_line.unwrap_or_default()
    }

    #[test]
    fn a_bad_line_inside_is_left_out_and_told_with_its_number() {
        let text = file();
        let lines: Vec<&str> = text.lines().collect();
        let broken = format!("{}\n{{\"kind\":\"sam\n{}\n{}\n", lines[0], lines[1], lines[2]);
        let results = parse(broken.as_bytes()).unwrap();
        assert_eq!((results.samples.len(), results.is_complete()), (1, true));
        assert!(bad_line(&broken).starts_with("line 2: bad line"), "{}", bad_line(&broken));
        assert_eq!(results.warnings.len(), 1, "{:?}", results.warnings);
        let many = format!("{}\n{}{}\n", lines[0], "{}\n".repeat(100_000), lines[2]);
        let results = parse(many.as_bytes()).unwrap();
        let told = "another 99995 lines cannot be parsed and were ignored";
        assert_eq!(results.warnings[5], told, "{:?}", results.warnings);
    }

    #[test]
    fn another_header_is_no_part_of_the_file() {
        let text = file();
        let other = text.replacen("\"seed\":1", "\"seed\":2", 1);
        assert_eq!(
            error_text(&format!("{text}{other}")),
            "line 4: a second header, of another measurement"
        );
    }

    #[test]
    fn words_about_a_file_are_one_short_line() {
        let text = file();
        let line = text.lines().nth(1).unwrap();
        let odd = line.replacen("\"stream\"", &format!("\"a\\nb\\u001b{}\"", "x".repeat(9_999)), 1);
        let words = bad_line(&text.replacen(line, &odd, 1));
        assert!(
            words.starts_with("line 2: bad line (within this line: unknown variant"),
            "{words}"
        );
        assert!(
            !words.contains(char::is_control)
                && words.chars().count() <= crate::parse_error::MAX_MESSAGE_CHARS,
            "{words}"
        );
    }

    #[test]
    fn the_first_bad_line_of_a_long_file_is_told_with_its_number() {
        let text = file();
        let [header, sample, _] = text.lines().collect::<Vec<_>>()[..] else { panic!() };
        let named = |number: u32| sample.replace("0.0.1", &format!("{number}.0.1"));
        let mut lines: Vec<String> = (0..4_000).map(named).collect();
        (lines[3_001], lines[3_000]) = ("{}".to_owned(), "[]".to_owned());
        let text = format!("{header}\n{}\n", lines.join("\n"));
        assert!(bad_line(&text).starts_with("line 3002: bad line"), "{}", bad_line(&text));
        let whole = parse(text.replace("{}\n", "").replace("[]\n", "").as_bytes()).unwrap();
        assert_eq!((whole.samples.len(), whole.warnings.len()), (3_998, 0));
        assert_eq!(whole.completeness.whole_bytes, text.len() as u64 - 6);
    }

    proptest! {
        #[test]
        fn any_prefix_and_any_change_is_read_or_refused(cut: prop::sample::Index, flip in 1_u8..) {
            let mut bytes = file().into_bytes();
            let at = cut.index(bytes.len());
            let _ = parse(&bytes[..at]);
            bytes[at] ^= flip;
            let _ = parse(bytes.as_slice());
        }
    }
}
