//! What works on this machine, what does not, and what exactly would make it work; and what killed runs left.
//! It tries and looks, and changes nothing unless asked to clean up.
//!
//! ```text
//! mechanisms, their options, instruments, their events -> Finding -> Ailment -> page, JSON
//! ```

mod page;

use ipcperf_engine::channel::{Lack, Mechanism, OptionSpec};
use ipcperf_engine::leftovers::Leftover;
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_observe::{INSTRUMENTS, Instrument};
use serde::Serialize;

use crate::journal::{self, Owner};

pub(crate) use page::{doctor_json, doctor_page};

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Subject {
    /// A way for bytes to get from one party to another.
    Mechanism,
    /// Something that watches a run.
    Instrument,
}

/// How much of it does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// A value of an option, or an event: the rest works.
    Part,
}

/// One thing that was looked at, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) subject: Subject,
    /// As it is typed: a mechanism's option with its value.
    pub(crate) name: String,
    /// None where it works.
    pub(crate) ailment: Option<Ailment>,
}

/// Why something does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ailment {
    pub(crate) extent: Extent,
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

/// Whether what killed runs left is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cleaning {
    /// It is looked at.
    Look,
    /// It is removed.
    Remove,
}

/// What became of something that a killed run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fate {
    /// It is there.
    Found,
    /// It was there, and is removed.
    Removed,
    /// It is there, and cannot be removed.
    NotRemoved,
}

/// What the runs of one dead command left.
#[derive(Clone, Debug)]
pub(crate) struct LeftBehind {
    /// The command, where its journal says so.
    pub(crate) owner: Option<Owner>,
    pub(crate) names: Vec<(Leftover, Fate)>,
}

/// What dead commands of this user left. Dead journals of which nothing is left are removed with the rest.
pub(crate) fn left_behind(cleaning: Cleaning) -> Vec<LeftBehind> {
    let of = |journal: journal::DeadJournal| {
        let (owner, found) = (journal.owner.clone(), journal.leftovers());
        let stays = (cleaning == Cleaning::Remove).then(|| journal.clean());
        let fate = |one: &Leftover| match &stays {
            None => Fate::Found,
            Some(stays) if stays.contains(one) => Fate::NotRemoved,
            Some(_) => Fate::Removed,
        };
        let names = found.into_iter().map(|one| (one.clone(), fate(&one))).collect();
        LeftBehind { owner, names }
    };
    let all = journal::dead().into_iter().map(of);
    all.filter(|left| !left.names.is_empty()).collect()
}

/// Tries everything there is.
pub(crate) fn examine() -> Vec<Finding> {
    let mechanisms = MECHANISMS.iter().flat_map(|mechanism| of_mechanism(mechanism));
    mechanisms.chain(INSTRUMENTS.iter().flat_map(of_instrument)).collect()
}

fn of_mechanism(mechanism: &Mechanism) -> Vec<Finding> {
    let finding = |name: String, ailment| Finding { subject: Subject::Mechanism, name, ailment };
    if let Err(why) = mechanism.available() {
        let (reason, remedy) = (why.reason, why.remedy);
        let ailment = Ailment { extent: Extent::Whole, reason, remedy };
        return vec![finding(mechanism.name.to_owned(), Some(ailment))];
    }
    let lacks = mechanism.options.iter().flat_map(OptionSpec::lacks);
    let lacking = lacks.map(|Lack { option, value, missing }| {
        let (reason, remedy) = (missing.reason, missing.remedy);
        let ailment = Ailment { extent: Extent::Part, reason, remedy };
        finding(format!("{}.{option}={value}", mechanism.name), Some(ailment))
    });
    std::iter::once(finding(mechanism.name.to_owned(), None)).chain(lacking).collect()
}

fn of_instrument(instrument: &Instrument) -> Vec<Finding> {
    let name = instrument.facts.name.to_owned();
    let finding = |ailment| Finding { subject: Subject::Instrument, name: name.clone(), ailment };
    let ailing = |extent, why: ipcperf_model::Unavailable| {
        finding(Some(Ailment { extent, reason: why.reason, remedy: why.remedy }))
    };
    match instrument.lacks(&[]) {
        Err(why) => vec![ailing(Extent::Whole, why)],
        Ok(events) => {
            let lacking = events.into_iter().map(|why| ailing(Extent::Part, why));
            std::iter::once(finding(None)).chain(lacking).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_the_registries_is_looked_at_once() {
        let findings = examine();
        let whole = |finding: &&Finding| {
            finding.ailment.as_ref().is_none_or(|ailment| ailment.extent == Extent::Whole)
        };
        let names: Vec<&str> = findings.iter().filter(whole).map(|one| &*one.name).collect();
        let mechanisms = MECHANISMS.iter().map(|mechanism| mechanism.name);
        let all: Vec<&str> =
            mechanisms.chain(INSTRUMENTS.iter().map(|one| one.facts.name)).collect();
        assert_eq!(names, all);
    }

    #[test]
    fn what_does_not_work_has_a_reason_and_a_remedy() {
        for finding in examine() {
            let Some(ailment) = finding.ailment else { continue };
            assert!(!ailment.reason.is_empty() && !ailment.remedy.is_empty(), "{}", finding.name);
        }
    }
}
