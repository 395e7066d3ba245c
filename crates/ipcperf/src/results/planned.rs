//! The plan as it stands in the header of a results file, from which `resume` makes it again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ipcperf_engine::RunSpec;
use ipcperf_engine::mechanism::find;
use ipcperf_engine::placement::Placement;
use ipcperf_observe::Disturbs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::record::CaseIdentity;
use crate::plan::{
    Case, Enough, Extent, Looks, NameParts, Plan, Precision, Watched, custom_sha256,
};

/// Everything that was to be run, and what was not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct PlanRecord {
    /// Kept repetitions that each case gets; one more block comes first and is set aside.
    pub(crate) repetitions: u32,
    /// How well medians are to be known, where that decides when to stop.
    #[serde(default)]
    pub(crate) until_ci: Option<Precision>,
    /// When the claims of the study are judged while it is measured, where that decides when to stop: `repetitions`
    /// is then the number at the first look.
    #[serde(default)]
    pub(crate) until_decided: Option<Looks>,
    /// Runs made for one repetition at most, until one is undisturbed.
    #[serde(default = "one")]
    pub(crate) attempts: u32,
    /// The most a run may last, s.
    pub(crate) deadline_s: f64,
    /// The cases by name.
    pub(crate) cases: Vec<String>,
    /// What a worker is told for each of the cases, in their order; none in files of old.
    #[serde(default)]
    pub(crate) specs: Vec<SpecRecord>,
    /// Cells that could not be carried.
    pub(crate) refused: Vec<RefusedRecord>,
    /// Mechanisms that cannot be used on this machine.
    pub(crate) unavailable: Vec<UnavailableRecord>,
    /// Instruments that were asked for, and events of theirs, that cannot be had on this machine.
    #[serde(default)]
    pub(crate) unwatched: Vec<UnwatchedRecord>,
    /// The files of the plan's custom mechanisms; null where it has none.
    #[serde(default)]
    pub(crate) custom: Option<CustomRecord>,
    /// Versions of the libraries that mechanisms of the plan are made of.
    #[serde(default)]
    pub(crate) libraries: BTreeMap<String, String>,
}

/// The files of custom mechanisms as they were when the plan was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct CustomRecord {
    /// The folder that relative paths in the command or the study start from; null where it had no name.
    pub(crate) folder: Option<String>,
    /// SHA-256 of each file, in hexadecimal, by the name of the mechanism; null where it could not be read.
    pub(crate) sha256: BTreeMap<String, Option<String>>,
}

impl CustomRecord {
    /// What is true now of the files of `mechanisms`; `None` where none of these is a custom one.
    fn of<'a>(mechanisms: impl Iterator<Item = &'a str>) -> Option<Self> {
        let names: BTreeSet<&str> = mechanisms.collect();
        let sha256 = |name: &&str| Some(((*name).to_owned(), custom_sha256(name)?.ok()));
        let sha256: BTreeMap<String, Option<String>> = names.iter().filter_map(sha256).collect();
        let folder = std::env::current_dir().ok().and_then(|path| path.to_str().map(str::to_owned));
        (!sha256.is_empty()).then_some(Self { folder, sha256 })
    }

    /// That each file is still the one that it was.
    ///
    /// # Errors
    /// Which one is not, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (name, then) in &self.sha256 {
            let now = custom_sha256(name).and_then(Result::ok);
            if let (Some(then), Some(now)) = (then, &now)
                && then != now
            {
                return Err(format!(
                    "the file of {name} has changed since: its SHA-256 was {then} and is {now}; what is \
                     left would be measured of another one: put the file back, or measure anew"
                ));
            }
        }
        Ok(())
    }
}

const fn one() -> u32 {
    1
}

/// A case as a worker is told of it, so that `resume` can go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct SpecRecord {
    /// Placement, from which the CPUs were found.
    pub(crate) placement: String,
    /// The run.
    pub(crate) spec: RunSpec,
    /// Instruments that watch it.
    #[serde(default)]
    pub(crate) instruments: Vec<String>,
    /// What those of them count of which events can be chosen.
    #[serde(default)]
    pub(crate) events: BTreeMap<String, Vec<String>>,
    /// The case that is watched, where this is its undisturbed twin.
    #[serde(default)]
    pub(crate) twin_of: Option<String>,
    /// What of the name of the case the run does not say.
    #[serde(default)]
    pub(crate) name_parts: NameParts,
    /// The matrices of the study that have it.
    #[serde(default)]
    pub(crate) matrices: Vec<String>,
}

/// A cell of the matrix that could not be carried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RefusedRecord {
    /// Which cell.
    #[serde(flatten)]
    pub(crate) case: CaseIdentity,
    /// Why.
    pub(crate) reason: String,
}

/// A mechanism that cannot be used on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnavailableRecord {
    /// Its name.
    pub(crate) mechanism: String,
    /// What is missing.
    pub(crate) reason: String,
    /// What would help.
    pub(crate) remedy: String,
}

/// An instrument, or an event of it, that cannot be had on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct UnwatchedRecord {
    /// The instrument's name.
    pub(crate) instrument: String,
    /// Whether it watches without the event.
    pub(crate) watches: bool,
    /// What is missing.
    pub(crate) reason: String,
    /// What would help.
    pub(crate) remedy: String,
    /// Cells that were not run, as nobody could have watched them.
    #[serde(default)]
    pub(crate) cells_left_out: usize,
    /// The matrices of the study that those are of.
    #[serde(default)]
    pub(crate) matrices: Vec<String>,
}

impl PlanRecord {
    pub(crate) fn of(plan: &Plan) -> Self {
        Self {
            repetitions: plan.enough.least_repetitions(),
            until_ci: match plan.enough {
                Enough::UntilCi(precision) => Some(precision),
                Enough::Repetitions(_) | Enough::UntilDecided(_) => None,
            },
            until_decided: match &plan.enough {
                Enough::UntilDecided(looks) => Some(looks.clone()),
                Enough::Repetitions(_) | Enough::UntilCi(_) => None,
            },
            attempts: plan.attempts,
            deadline_s: plan.deadline.as_secs_f64(),
            cases: plan.cases.iter().map(|case| case.id.clone()).collect(),
            specs: plan.cases.iter().map(SpecRecord::of).collect(),
            refused: plan.refused.iter().map(RefusedRecord::of).collect(),
            unavailable: plan.unavailable.iter().map(UnavailableRecord::of).collect(),
            unwatched: plan.unwatched.iter().map(UnwatchedRecord::of).collect(),
            custom: CustomRecord::of(plan.cases.iter().map(|case| case.spec.mechanism.as_str())),
            libraries: plan.cases.iter().filter_map(library).collect(),
        }
    }
}

/// The library that the case's mechanism is made of, and its version.
fn library(case: &Case) -> Option<(String, String)> {
    let library = find(&case.spec.mechanism)?.library?;
    Some((library.name.to_owned(), library.version.to_owned()))
}

impl PlanRecord {
    /// The plan again, with what `seed` shuffles.
    ///
    /// # Errors
    /// What is missing, in words: files of old do not say what a worker was told.
    pub(crate) fn plan(&self, seed: u64) -> Result<Plan, String> {
        if self.specs.len() != self.cases.len() {
            return Err("it was written by an ipcperf that did not store its plan".to_owned());
        }
        let cases = self.cases.iter().zip(&self.specs).map(|(id, record)| record.case(id));
        Ok(Plan {
            cases: cases.collect::<Result<_, _>>()?,
            refused: Vec::new(),
            unavailable: Vec::new(),
            unwatched: Vec::new(),
            enough: self.enough(),
            attempts: self.attempts,
            seed,
            deadline: Duration::try_from_secs_f64(self.deadline_s)
                .map_err(|error| format!("deadline_s: {error}"))?,
        })
    }
}

impl PlanRecord {
    /// When a case has been measured often enough.
    fn enough(&self) -> Enough {
        match (self.until_ci, &self.until_decided) {
            (Some(precision), _) => Enough::UntilCi(precision),
            (None, Some(looks)) => Enough::UntilDecided(looks.clone()),
            (None, None) => Enough::Repetitions(self.repetitions),
        }
    }
}

/// Whether one of `instruments` disturbs; one that is not known may do anything.
pub(super) fn disturb(instruments: &[String]) -> bool {
    let known = |name: &String| ipcperf_observe::find(name);
    instruments.iter().any(|name| known(name).is_none_or(|it| it.disturbs == Disturbs::Yes))
}

impl SpecRecord {
    /// Whether an instrument that disturbs watches it.
    pub(crate) fn is_disturbed(&self) -> bool {
        disturb(&self.instruments)
    }

    fn case(&self, id: &str) -> Result<Case, String> {
        let placement = self.placement.parse::<Placement>().map_err(|error| error.to_string())?;
        let by = self.instruments.iter().map(|name| known(name)).collect::<Result<_, _>>()?;
        let chosen = |(name, events): (&String, &Vec<String>)| Ok((known(name)?, events.clone()));
        let events = self.events.iter().map(chosen).collect::<Result<_, String>>()?;
        let watched = Watched { by, events, twin_of: self.twin_of.clone() };
        let (spec, matrices) = (self.spec.clone(), self.matrices.clone());
        let name = self.name_parts.clone();
        Ok(Case { id: id.to_owned(), name, placement, spec, watched, matrices })
    }

    fn of(case: &Case) -> Self {
        Self {
            placement: case.placement.to_string(),
            spec: case.spec.clone(),
            instruments: case.watched.by.iter().map(|&name| name.to_owned()).collect(),
            events: case
                .watched
                .events
                .iter()
                .map(|(&name, events)| (name.to_owned(), events.clone()))
                .collect(),
            twin_of: case.watched.twin_of.clone(),
            name_parts: case.name.clone(),
            matrices: case.matrices.clone(),
        }
    }
}

fn known(instrument: &str) -> Result<&'static str, String> {
    let known = ipcperf_observe::find(instrument).map(|known| known.name);
    known.ok_or_else(|| format!("it was watched by {instrument}, which this ipcperf does not have"))
}

impl RefusedRecord {
    fn of(refused: &crate::plan::Refused) -> Self {
        let case = CaseIdentity::of(&refused.id, &refused.spec, refused.placement);
        Self { case, reason: refused.reason.clone() }
    }
}

impl UnavailableRecord {
    fn of(absent: &crate::plan::Absent) -> Self {
        Self {
            mechanism: absent.mechanism.to_owned(),
            reason: absent.reason.clone(),
            remedy: absent.remedy.clone(),
        }
    }
}

impl UnwatchedRecord {
    fn of(missing: &crate::plan::Unwatched) -> Self {
        Self {
            instrument: missing.instrument.to_owned(),
            watches: missing.extent == Extent::Event,
            reason: missing.why.reason.clone(),
            remedy: missing.why.remedy.clone(),
            cells_left_out: missing.cells_left_out,
            matrices: missing.matrices.clone(),
        }
    }
}
