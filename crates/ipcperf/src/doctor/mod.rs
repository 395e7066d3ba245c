//! Diagnosis of this machine: what works, what does not and how to fix it, and what killed runs left behind. Only reads
//! and tries; changes nothing unless asked to clean up.
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

/// Kind of item that is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Subject {
    /// A mechanism.
    Mechanism,
    /// An instrument.
    Instrument,
}

/// Extent of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Extent {
    /// The whole item does not work.
    Whole,
    /// Only one value of an option, or one event, does not work.
    Part,
}

/// Result for one item, or for a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) subject: Subject,
    /// Name as on the command line; for an option, with its mechanism and value.
    pub(crate) name: String,
    /// `None` if it works.
    pub(crate) ailment: Option<Ailment>,
}

/// Problem with an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ailment {
    pub(crate) extent: Extent,
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

/// Whether leftovers of killed runs are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cleaning {
    /// They are only listed.
    Look,
    /// They are removed.
    Remove,
}

/// State of an object that a killed run left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Fate {
    /// It exists.
    Found,
    /// It existed and was removed.
    Removed,
    /// It exists and cannot be removed.
    NotRemoved,
}

/// Objects that the runs of one dead command left behind.
#[derive(Clone, Debug)]
pub(crate) struct LeftBehind {
    /// The command, if its journal names it.
    pub(crate) owner: Option<Owner>,
    pub(crate) names: Vec<(Leftover, Fate)>,
}

/// Returns what dead commands of this user left behind. When cleaning, also removes dead journals without leftovers.
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

/// Examines every mechanism and instrument.
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
