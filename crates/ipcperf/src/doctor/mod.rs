//! Diagnosis of this machine: what works, what does not and how to fix it, and leftovers of killed runs. Only reads and
//! tries; changes nothing unless asked to clean up.
//!
//! ```text
//! mechanisms, their options, instruments, their events -> Finding, Problem -> page, JSON
//! ```

mod page;

use ipcperf_engine::channel::{Mechanism, OptionSpec, UnavailableValue};
use ipcperf_engine::leftovers::Leftover;
use ipcperf_engine::mechanism::MECHANISMS;
use ipcperf_observe::{INSTRUMENTS, Instrument};
use serde::Serialize;

use crate::journal::{self, Owner};

pub(crate) use page::{doctor_json, doctor_page};

/// Kind of item that is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ItemKind {
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
    pub(crate) subject: ItemKind,
    /// Name as on the command line; for an option, with its mechanism and value.
    pub(crate) name: String,
    /// `None` if it works.
    pub(crate) problem: Option<Problem>,
}

/// Problem with an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) extent: Extent,
    pub(crate) reason: String,
    pub(crate) remedy: String,
}

/// Whether leftovers of killed runs are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cleanup {
    /// They are only listed.
    List,
    /// They are removed.
    Remove,
}

/// State of an object that a killed run left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LeftoverState {
    /// It exists.
    Found,
    /// It existed and was removed.
    Removed,
    /// It exists and cannot be removed.
    NotRemoved,
}

/// Objects that the runs of one dead command left behind.
#[derive(Clone, Debug)]
pub(crate) struct RunLeftovers {
    /// The command, if its journal names it.
    pub(crate) owner: Option<Owner>,
    pub(crate) objects: Vec<(Leftover, LeftoverState)>,
}

/// Returns what dead commands of this user left behind. When cleaning, also removes dead journals without leftovers.
pub(crate) fn leftovers(cleaning: Cleanup) -> Vec<RunLeftovers> {
    let clean_or_list = |journal: journal::StaleJournal| {
        let (owner, found) = (journal.owner.clone(), journal.leftovers());
        let stays = (cleaning == Cleanup::Remove).then(|| journal.clean());
        let fate = |one: &Leftover| match &stays {
            None => LeftoverState::Found,
            Some(stays) if stays.contains(one) => LeftoverState::NotRemoved,
            Some(_) => LeftoverState::Removed,
        };
        let names = found.into_iter().map(|one| (one.clone(), fate(&one))).collect();
        RunLeftovers { owner, objects: names }
    };
    let all = journal::stale_journals().into_iter().map(clean_or_list);
    all.filter(|left| !left.objects.is_empty()).collect()
}

/// Examines every mechanism and instrument.
pub(crate) fn examine() -> Vec<Finding> {
    let mechanisms = MECHANISMS.iter().flat_map(|mechanism| examine_mechanism(mechanism));
    mechanisms.chain(INSTRUMENTS.iter().flat_map(examine_instrument)).collect()
}

fn examine_mechanism(mechanism: &Mechanism) -> Vec<Finding> {
    let finding =
        |name: String, ailment| Finding { subject: ItemKind::Mechanism, name, problem: ailment };
    if let Err(why) = mechanism.available() {
        let (reason, remedy) = (why.reason, why.remedy);
        let ailment = Problem { extent: Extent::Whole, reason, remedy };
        return vec![finding(mechanism.name.to_owned(), Some(ailment))];
    }
    let lacks = mechanism.options.iter().flat_map(OptionSpec::unavailable_values);
    let lacking = lacks.map(|UnavailableValue { option, value, missing }| {
        let (reason, remedy) = (missing.reason, missing.remedy);
        let ailment = Problem { extent: Extent::Part, reason, remedy };
        finding(format!("{}.{option}={value}", mechanism.name), Some(ailment))
    });
    std::iter::once(finding(mechanism.name.to_owned(), None)).chain(lacking).collect()
}

fn examine_instrument(instrument: &Instrument) -> Vec<Finding> {
    let name = instrument.facts.name.to_owned();
    let finding =
        |ailment| Finding { subject: ItemKind::Instrument, name: name.clone(), problem: ailment };
    let with_problem = |extent, why: ipcperf_model::Unavailable| {
        finding(Some(Problem { extent, reason: why.reason, remedy: why.remedy }))
    };
    match instrument.check_available(&[]) {
        Err(why) => vec![with_problem(Extent::Whole, why)],
        Ok(events) => {
            let lacking = events.into_iter().map(|why| with_problem(Extent::Part, why));
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
            finding.problem.as_ref().is_none_or(|ailment| ailment.extent == Extent::Whole)
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
            let Some(ailment) = finding.problem else { continue };
            assert!(!ailment.reason.is_empty() && !ailment.remedy.is_empty(), "{}", finding.name);
        }
    }
}
