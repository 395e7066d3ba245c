//! Reading a results file, whole or torn.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use memchr::{memchr, memchr_iter};

use super::SCHEMA;
use super::blocks::{Blocks, Ending, Spare};
use super::plain::plain_sample;
use super::record::{FailedRun, Footer, Header, Line, ObservationRecord, RunIdentity, check_name};
use super::roles::KnownKeys;
use super::sample::Sample;
use crate::error::Error;
use crate::parallel::map;

/// A results file, read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Results {
    pub(crate) header: Header,
    pub(crate) samples: Vec<Sample>,
    pub(crate) observations: Vec<ObservationRecord>,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// In a footer.
    Closed,
    /// In anything else.
    #[default]
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
    let told = |wrong| match wrong {
        Wrong::Unreadable(source) => Error::Unreadable { path: path.to_owned(), source },
        Wrong::Contents(words) => Error::usage(format!("{}: {words}", path.display())),
    };
    parse(File::open(path).map_err(|source| told(Wrong::Unreadable(source)))?).map_err(told)
}

/// Why there are no results.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// The system does not hand the file over.
    Unreadable(io::Error),
    /// What is in it, in one line.
    Contents(String),
}

/// More characters than this of what is wrong say no more: a line may be anything.
const MOST_SAID: usize = 400;

impl From<String> for Wrong {
    fn from(words: String) -> Self {
        // Words may quote the file, and there may be a newline, or an escape that paints the screen.
        let on_one_line = words.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
        Self::Contents(on_one_line.take(MOST_SAID).collect())
    }
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// What `input`, all of a file, holds. Blocks of it are read by as many threads as there are CPUs.
pub(crate) fn parse(input: impl Read + Send) -> Result<Results, Wrong> {
    let spare = Spare::default();
    let mut blocks = Blocks::of(input, &spare);
    let first = blocks.next().transpose()?.unwrap_or_default();
    let header_bytes = memchr(b'\n', &first).map_or(first.len(), |newline| newline + 1);
    let (line, rest) = first.split_at(header_bytes);
    let mut results = Results::of(header(line)?);
    // The header is line 1.
    let mut next_line = 2;
    results.append(Part::read(rest), &mut next_line)?;
    let read_block = |block: Result<Vec<u8>, Wrong>| {
        let block = block?;
        let part = Part::read(&block);
        spare.put(block);
        Ok(part)
    };
    let parts = map(&mut blocks, read_block).into_iter().collect::<Result<Vec<_>, Wrong>>();
    for part in parts? {
        results.append(part, &mut next_line)?;
    }
    results.end(&blocks.ending());
    Ok(results)
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
            Ok(Line::Header(header)) => {
                header.plan.refused.iter().try_for_each(|cell| cell.case.check_names())?;
                Ok(header)
            }
            Ok(_) => Err(foreign()),
            Err(error) => Err(format!("bad header: {error}")),
        },
        _ => Err("bad header: no version".to_owned()),
    }
}

impl Results {
    /// The failures that no later run has answered.
    pub(crate) fn standing_failures(&self) -> impl Iterator<Item = &FailedRun> {
        let run = |run: &RunIdentity| (run.block, run.case.case_id.clone());
        let made: HashSet<_> = self.samples.iter().map(|sample| run(&sample.run)).collect();
        self.failures
            .iter()
            .filter(move |failure| !failure.transient || !made.contains(&run(&failure.run)))
    }

    /// Whether every run of the plan has its line.
    pub(crate) fn is_complete(&self) -> bool {
        let complete = self.footer.as_ref().is_some_and(|footer| footer.complete);
        complete && self.end == End::Closed
    }

    fn of(header: Header) -> Self {
        Self {
            header,
            samples: Vec::new(),
            observations: Vec::new(),
            failures: Vec::new(),
            footer: None,
            end: End::Open,
            warnings: Vec::new(),
            whole_bytes: 0,
        }
    }

    /// Adds `part`, whose first line has the number `next_line`.
    fn append(&mut self, part: Part, next_line: &mut u64) -> Result<(), String> {
        if let Some((at, words)) = part.wrong {
            return Err(format!("line {}: {words}", *next_line + at));
        }
        *next_line += part.lines;
        self.samples.extend(part.samples);
        self.observations.extend(part.observations);
        self.failures.extend(part.failures);
        self.footer = part.footer.or_else(|| self.footer.take());
        if part.lines > 0 {
            self.end = part.end;
        }
        Ok(())
    }

    fn end(&mut self, ending: &Ending) {
        self.whole_bytes = ending.whole_bytes;
        if ending.torn_bytes > 0 {
            self.end = End::Open;
            self.warnings.push("the last line is torn and was left out".to_owned());
        }
        if self.end == End::Open {
            self.warnings.push(NO_FOOTER.to_owned());
        }
    }
}

/// Some lines, read.
#[derive(Default)]
struct Part {
    lines: u64,
    samples: Vec<Sample>,
    observations: Vec<ObservationRecord>,
    failures: Vec<FailedRun>,
    footer: Option<Footer>,
    end: End,
    /// How many lines come before the first that is wrong, and what is wrong with it.
    wrong: Option<(u64, String)>,
}

impl Part {
    /// Reads the lines of `block`, up to the first that is wrong.
    fn read(block: &[u8]) -> Self {
        let newlines = memchr_iter(b'\n', block);
        let samples = Vec::with_capacity(newlines.clone().count());
        let (mut part, mut start) = (Self { samples, ..Self::default() }, 0);
        // All at once, which is sooner done than string by string.
        let text = str::from_utf8(block).ok();
        let mut known = KnownKeys::default();
        for end in newlines {
            let sample = text.and_then(|text| plain_sample(&text[start..end], &mut known));
            if let Err(words) = part.add(sample, &block[start..end]) {
                part.wrong = Some((part.lines, words));
                break;
            }
            part.lines += 1;
            start = end + 1;
        }
        part
    }

    /// Adds what `line` is: `plain`, where it has been seen to be that.
    fn add(&mut self, plain: Option<Sample>, line: &[u8]) -> Result<(), String> {
        self.end = End::Open;
        if let Some(sample) = plain {
            return self.add_sample(sample);
        }
        match serde_json::from_slice(line).map_err(|error| format!("bad line: {error}"))? {
            Line::Header(_) => return Err("a second header".to_owned()),
            Line::Sample(sample) => return self.add_sample(sample),
            Line::Observation(told) => {
                [&told.run_id, &told.instrument]
                    .into_iter()
                    .try_for_each(|name| check_name(name))?;
                self.observations.push(told);
            }
            Line::Failure(failure) => {
                failure.run.case.check_names()?;
                self.failures.push(failure);
            }
            Line::Footer(footer) => {
                self.footer = Some(footer);
                self.end = End::Closed;
            }
        }
        Ok(())
    }
}

impl Part {
    fn add_sample(&mut self, sample: Sample) -> Result<(), String> {
        sample.run.case.check_names()?;
        check_name(sample.cpu_pair_class.as_deref().unwrap_or_default())?;
        self.samples.push(sample);
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
            unwatched: Vec::new(),
            libraries: std::collections::BTreeMap::new(),
        };
        let header = Header {
            schema: SCHEMA,
            command: vec!["run".to_owned()],
            quick: false,
            study: None,
            study_hash: None,
            study_text: None,
            study_only: Vec::new(),
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
            probe_effects: Vec::new(),
            elapsed_ns: 1,
            ended: "2026-11-20T10:00:01Z".to_owned(),
        };
        let sample = sample("pipe", Kind::Stream, 64, 1, 1_000_000);
        let lines = [Line::Header(header), Line::Sample(sample), Line::Footer(footer)];
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
    }

    fn words(text: &str) -> String {
        match parse(text.as_bytes()).unwrap_err() {
            Wrong::Contents(words) => words,
            Wrong::Unreadable(error) => panic!("{error}"),
        }
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

    #[test]
    fn words_about_a_file_are_one_short_line() {
        let text = file();
        let line = text.lines().nth(1).unwrap();
        let odd = line.replacen("\"stream\"", &format!("\"a\\nb\\u001b{}\"", "x".repeat(9_999)), 1);
        let words = words(&text.replacen(line, &odd, 1));
        assert!(words.starts_with("line 2: bad line: unknown variant"), "{words}");
        assert!(!words.contains(char::is_control) && words.chars().count() <= MOST_SAID, "{words}");
    }

    #[test]
    fn the_first_bad_line_of_a_long_file_is_told_with_its_number() {
        let text = file();
        let [header, sample, footer] = text.lines().collect::<Vec<_>>()[..] else { panic!() };
        let mut lines = vec![sample; 4_000];
        (lines[3_001], lines[3_000]) = ("{}", "[]");
        let text = format!("{header}\n{}\n{footer}\n", lines.join("\n"));
        assert!(words(&text).starts_with("line 3002: bad line"));
        let whole = parse(text.replace("{}\n", "").replace("[]\n", "").as_bytes()).unwrap();
        assert_eq!((whole.samples.len(), whole.is_complete()), (3_998, true));
        assert_eq!(whole.whole_bytes, text.len() as u64 - 6);
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
