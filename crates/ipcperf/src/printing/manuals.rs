//! Manuals of workloads, instruments, export formats and tests of hypotheses.

use ipcperf_model::instrument::Intrusive;
use ipcperf_model::workload::WORKLOADS;
use ipcperf_observe::{INSTRUMENTS, Instrument};
use ipcperf_report::export::EXPORTERS;
use ipcperf_report::terminal::study_page;
use ipcperf_study::hypothesis::TESTS;
use ipcperf_study::{Key, Study};

use super::manual_page::ManualPage;

/// Advice on the choice between `round-trip` and `request-reply`, the two workloads with answers.
pub(crate) const WHICH_ANSWERED_WORKLOAD: &str = "round-trip measures the latency of a mechanism; request-reply \
    measures a service whose replies have another size than its requests";

/// Explanation of the number of peers.
const WHICH_PEERS: &str = "--peers sets the number of peers on the side that has several, or of pairs: 1 to 64, or a list of \
    numbers. Each peer has a separate connection. A table shows the rate of the slowest and of the fastest peer. With --rate \
    and at least three numbers of peers, it also shows what one more peer costs in CPU time.";

/// Returns the manual of the workload called `name`, at most `columns` wide.
pub(super) fn workload_manual(name: &str, columns: usize) -> Option<String> {
    let facts = WORKLOADS.iter().find(|facts| facts.name == name)?;
    let mut page = ManualPage::new(name, facts.about, columns);
    page.section("Measures", facts.measures);
    if facts.kind.takes_peers() {
        page.section("Peers", WHICH_PEERS);
    } else if facts.kind.is_answered() {
        page.section("Which workload to choose", &format!("{WHICH_ANSWERED_WORKLOAD}."));
    }
    let example = format!("ipcperf run -m pipe,unix-stream -w {name} -b 64 {}", facts.needs);
    page.section("Example", example.trim_end());
    Some(page.into_text())
}

/// Returns the manual of the instrument called `name`, at most `columns` wide. Tries the instrument, which may take a
/// tenth of a second.
pub(super) fn instrument_manual(name: &str, columns: usize) -> Option<String> {
    let instrument = INSTRUMENTS.iter().find(|known| known.facts.name == name)?;
    let mut page = ManualPage::new(name, instrument.about, columns);
    page.facts(&instrument_facts(instrument));
    page.section(
        "Example",
        &format!("ipcperf trace -m pipe -b 64KiB --instrument {name}; see docs/instruments.md"),
    );
    Some(page.into_text())
}

/// Returns the properties of an instrument, each with its label.
fn instrument_facts(instrument: &Instrument) -> Vec<(&'static str, String)> {
    let mut facts = match instrument.check_available(&[]) {
        Err(why) => vec![("available", format!("no: {}", why.reason)), ("remedy", why.remedy)],
        Ok(missing) => {
            let missing = missing.iter().map(|why| ("without", why.to_string()));
            std::iter::once(("available", "yes".to_owned())).chain(missing).collect()
        }
    };
    let intrusive = match instrument.facts.intrusive {
        Intrusive::Yes => "yes: its runs are separate, each paired with a run without it",
        Intrusive::No => "no: it observes every run in which it is requested, at no cost",
    };
    facts.push(("needs", instrument.needs.to_owned()));
    facts.push(("intrusive", intrusive.to_owned()));
    facts
}

/// Returns the manual of the export format called `name`, at most `columns` wide.
pub(super) fn exporter_manual(name: &str, columns: usize) -> Option<String> {
    let exporter = EXPORTERS.iter().find(|exporter| exporter.name == name)?;
    let mut page = ManualPage::new(name, exporter.about, columns);
    page.section("Content", exporter.details);
    page.section("Example", &format!("ipcperf export {name} FILE -o PATH"));
    Some(page.into_text())
}

/// Returns the manual of the bundled study called `name`, at most `columns` wide.
pub(super) fn study_manual(name: &str, columns: usize) -> Option<String> {
    let is_bundled = Study::bundled_titles().iter().any(|(known, _)| *known == name);
    let study = is_bundled.then(|| Study::find(name).ok()).flatten()?;
    Some(study_page(&study, columns))
}

/// What the manuals of all tests mean by their words.
const TERMS_OF_TESTS: &str = "A level is one value of the factor that the claim is about, such as one buffer size. A \
    line is the curve of one mechanism, or of otherwise equal cases, over these levels. A block is one repetition of all \
    cases. The keys `first` and `second` select the first and the second side. A claim is judged in parts, for example \
    one for each line; m is the number of parts. The claim holds if all parts hold, or at least the fraction of them that \
    `min_fraction` states (default 1). `alpha` (default 0.05) is the largest probability that a false claim is supported. \
    An interval by order statistics is that of a median; an interval by Student's t on logarithms is that of a geometric \
    mean. `alpha` and `min_fraction` are keys of every hypothesis.";

/// Returns the manual of the test of hypotheses called `name`, at most `columns` wide.
pub(super) fn test_manual(name: &str, columns: usize) -> Option<String> {
    let test = TESTS.iter().find(|test| test.name == name)?;
    let mut page = ManualPage::new(name, test.about, columns);
    page.section("Estimate", test.estimate);
    page.section("Supported if", test.supported_if);
    page.section("Rejected if", test.rejected_if);
    page.section("Assumptions", test.assumptions);
    page.section("Source", test.source);
    if !test.keys.is_empty() {
        page.entries("Keys of a hypothesis with this test", test.keys.iter().map(key_entry));
    }
    page.section("Terms", TERMS_OF_TESTS);
    page.section("More", "docs/hypotheses.md; keys of every hypothesis: docs/writing-a-study.md");
    Some(page.into_text())
}

/// Returns a key's name and description: value, meaning and default.
fn key_entry(key: &Key) -> (String, Vec<String>) {
    let default = key
        .default()
        .map_or_else(|| "required".to_owned(), |default| format!("default: {default}"));
    let example = format!("example: {} = {}", key.name, key.example);
    let about = format!("{} [{default}]", key.about);
    (key.name.to_owned(), vec![key.value_type.description(), about, example])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_exporter_and_test_has_a_manual_that_fits() {
        let workloads = WORKLOADS.iter().map(|facts| workload_manual(facts.name, 80));
        let exporters = EXPORTERS.iter().map(|exporter| exporter_manual(exporter.name, 80));
        let tests = TESTS.iter().map(|test| test_manual(test.name, 80));
        for manual in workloads.chain(exporters).chain(tests) {
            let manual = manual.expect("a manual");
            assert!(manual.lines().all(|line| line.chars().count() <= 80), "{manual}");
        }
    }

    #[test]
    fn workloads_with_answers_say_which_one_is_yours() {
        let says = |name: &str| {
            let manual = workload_manual(name, 1_000).unwrap();
            manual.contains(WHICH_ANSWERED_WORKLOAD)
        };
        assert!(says("round-trip") && says("request-reply") && !says("stream"));
    }

    #[test]
    fn a_test_has_all_its_keys_in_its_manual() {
        for test in TESTS {
            let manual = test_manual(test.name, 80).unwrap();
            for key in test.keys {
                let line = format!("  {}", key.name);
                assert!(manual.lines().any(|one| one.starts_with(&line)), "{line}:\n{manual}");
            }
        }
    }
}
