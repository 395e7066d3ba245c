//! Opens a group of counters for each thread; the peers read them.

use std::fs;

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::Count;
use ipcperf_model::observation::Observation;
use rustix::io::Errno;

use super::group::{Group, Whose};
use super::scale::Told;
use super::{availability, divide, refusal, words};
use crate::counters::event::{Event, Machine};
use crate::counters::ratios;
use crate::{Armed, Dial, Member, Parties, Played, Reading, Scope, Watch};

/// Starts counting the events in `asked` for `parties`, as one group.
pub(in crate::counters) fn arm(parties: &Parties, asked: &[String]) -> Armed {
    let events = permitted(asked)?;
    let mut groups = Vec::new();
    for member in &parties.members {
        groups.extend(groups_of(member, &events)?);
    }
    Ok(Box::new(Counters { events, groups, readings: Vec::new() }))
}

/// Returns the events, in the spaces in which this user may count; for the default selection, its first group.
fn permitted(asked: &[String]) -> Result<Vec<Event>, Unavailable> {
    let own = if asked.is_empty() { divide(asked)?.into_iter().next() } else { None };
    let tried = |word: &String| match availability::try_kernel(word, Machine::here()) {
        Ok(trial) => Ok(trial.event),
        Err(failed) => Err(failed.why()),
    };
    own.unwrap_or_else(|| words(asked)).iter().map(tried).collect()
}

/// Opens a group for each thread of `member`. In a process or a daemon, threads that are started during the run are
/// counted with the thread that starts them.
fn groups_of(member: &Member, events: &[Event]) -> Result<Vec<Counted>, Unavailable> {
    let mut groups = Vec::new();
    for tid in threads(member) {
        let whose = match member.scope {
            Scope::Thread => Whose::Thread(tid),
            Scope::Process | Scope::Daemon => Whose::Descendants(tid),
        };
        match Group::open(events, whose) {
            Ok(group) => groups.push(Counted { role: member.role.clone(), group }),
            // A library's thread that has just exited.
            Err((_, Errno::SRCH)) if tid != member.tid && tid != member.pid => {}
            Err((index, errno)) => return Err(refused(member, &events[index].name, errno)),
        }
    }
    Ok(groups)
}

/// Returns the current threads of `member`.
fn threads(member: &Member) -> Vec<u32> {
    if member.scope == Scope::Thread {
        return vec![member.tid];
    }
    let entries =
        fs::read_dir(format!("/proc/{}/task", member.pid)).into_iter().flatten().flatten();
    let number = |name: std::ffi::OsString| name.to_str()?.parse().ok();
    let mut threads: Vec<u32> = entries.filter_map(|entry| number(entry.file_name())).collect();
    if threads.is_empty() {
        threads.push(member.pid);
    }
    threads
}

/// Explains why an event that works on this process was refused for `member`.
fn refused(member: &Member, event: &str, errno: Errno) -> Unavailable {
    match errno {
        Errno::ACCESS | Errno::PERM => Unavailable {
            reason: format!("{event}: the {} is not this user's to count", member.role),
            remedy: "run as root, or as the user that runs it".to_owned(),
        },
        _ => refusal::of(event, errno),
    }
}

/// A group and the role that it counts.
#[derive(Debug)]
struct Counted {
    role: String,
    group: Group,
}

#[derive(Debug)]
struct Counters {
    events: Vec<Event>,
    groups: Vec<Counted>,
    readings: Vec<Reading>,
}

impl Watch for Counters {
    fn dials(&self) -> Vec<Dial<'_>> {
        let dials = self.groups.iter().filter_map(|counted| {
            Some(Dial { role: &counted.role, descriptor: counted.group.leader()? })
        });
        dials.collect()
    }

    fn told(&mut self, played: &Played) {
        self.readings.clone_from(&played.readings);
    }

    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        if self.readings.iter().all(|reading| reading.after.is_empty()) {
            return Err(Unavailable {
                reason: "no party has read its counters".to_owned(),
                remedy: "look for the failure of the run".to_owned(),
            });
        }
        let mut roles: Vec<&str> = self.groups.iter().map(|counted| &*counted.role).collect();
        roles.dedup();
        Ok(roles.into_iter().flat_map(|role| self.observations(role)).collect())
    }
}

impl Counters {
    fn observations(&self, role: &str) -> Vec<Observation> {
        let rows = rows(&self.events, self.told_of(role).as_ref());
        let ratios = ratios::of(&rows);
        let counts = rows.iter().map(|row| Observation::of(Some(role), row));
        counts.chain(ratios.iter().map(|row| Observation::of(Some(role), row))).collect()
    }

    /// Returns the total of all groups of `role`; `None` if one of them was not read.
    fn told_of(&self, role: &str) -> Option<Told> {
        let counters = self.events.iter().map(|event| event.spaces.len()).sum();
        let unread = Reading::default();
        let readings = self.readings.iter().chain(std::iter::repeat(&unread));
        let of_role = self.groups.iter().zip(readings).filter(|(counted, _)| counted.role == role);
        let told: Option<Vec<Told>> =
            of_role.map(|(_, reading)| Told::of(reading, counters)).collect();
        told?.into_iter().reduce(Told::and)
    }
}

/// Returns a row for each event and space, in the order of the counters.
fn rows(events: &[Event], told: Option<&Told>) -> Vec<Count> {
    let counters =
        events.iter().flat_map(|event| event.spaces.iter().map(move |space| (event, space)));
    let rows = counters.enumerate().map(|(index, (event, &space))| Count {
        event: event.name.clone(),
        space,
        count: told.and_then(|told| told.scaled.as_ref()?.get(index).copied()),
        counted_share: told.and_then(Told::share),
        raw_count: told.and_then(|told| told.raw.get(index).copied()),
    });
    rows.collect()
}
