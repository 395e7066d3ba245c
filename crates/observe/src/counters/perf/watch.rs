//! Opens a group of counters for each thread; the peers read them.

use std::fs;

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::EventCount;
use ipcperf_model::observation::Observation;
use rustix::io::Errno;

use super::group::{CounterGroup, CounterTarget};
use super::scale::ScaledCount;
use super::{availability, divide, refusal, requested_or_default};
use crate::counters::event::{Event, Machine};
use crate::counters::ratios;
use crate::{ArmResult, CounterFd, Member, Reading, RunResult, Scope, Targets, Watch};

/// Starts counting the events in `requested` for `targets`, as one group.
pub(in crate::counters) fn arm(targets: &Targets, requested: &[String]) -> ArmResult {
    let events = permitted_events(requested)?;
    let mut groups = Vec::new();
    for member in &targets.members {
        groups.extend(open_groups(member, &events)?);
    }
    Ok(Box::new(CounterWatch { events, groups, readings: Vec::new() }))
}

/// Returns the events, in the spaces in which this user may count; for the default selection, its first group.
fn permitted_events(requested: &[String]) -> Result<Vec<Event>, Unavailable> {
    let default_group =
        if requested.is_empty() { divide(requested)?.into_iter().next() } else { None };
    let open_event = |word: &String| match availability::try_open(word, Machine::current()) {
        Ok(trial) => Ok(trial.event),
        Err(failed) => Err(failed.into_unavailable()),
    };
    default_group
        .unwrap_or_else(|| requested_or_default(requested))
        .iter()
        .map(open_event)
        .collect()
}

/// Opens a group for each thread of `member`. In a process or a daemon, threads that are started during the run are
/// counted with the thread that starts them.
fn open_groups(member: &Member, events: &[Event]) -> Result<Vec<RoleGroup>, Unavailable> {
    let mut groups = Vec::new();
    for tid in threads(member) {
        let target = match member.scope {
            Scope::Thread => CounterTarget::Thread(tid),
            Scope::Process | Scope::Daemon => CounterTarget::ThreadWithChildren(tid),
        };
        match CounterGroup::open(events, target) {
            Ok(group) => groups.push(RoleGroup { role: member.role.clone(), group }),
            // A library's thread that has just exited.
            Err((_, Errno::SRCH)) if tid != member.tid && tid != member.pid => {}
            Err((index, errno)) => return Err(member_refusal(member, &events[index].name, errno)),
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
fn member_refusal(member: &Member, event: &str, errno: Errno) -> Unavailable {
    match errno {
        Errno::ACCESS | Errno::PERM => Unavailable {
            reason: format!("{event}: this user may not count events of the {}", member.role),
            remedy: "run as root, or as the user of that process".to_owned(),
        },
        _ => refusal::from_errno(event, errno),
    }
}

/// A group and the role that it counts.
#[derive(Debug)]
struct RoleGroup {
    role: String,
    group: CounterGroup,
}

#[derive(Debug)]
struct CounterWatch {
    events: Vec<Event>,
    groups: Vec<RoleGroup>,
    readings: Vec<Reading>,
}

impl Watch for CounterWatch {
    fn counter_fds(&self) -> Vec<CounterFd<'_>> {
        let counter_fds = self.groups.iter().filter_map(|counted| {
            Some(CounterFd { role: &counted.role, fd: counted.group.leader()? })
        });
        counter_fds.collect()
    }

    fn set_run_result(&mut self, result: &RunResult) {
        self.readings.clone_from(&result.readings);
    }

    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        if self.readings.iter().all(|reading| reading.after.is_empty()) {
            return Err(Unavailable {
                reason: "no peer has read its counters".to_owned(),
                remedy: "see why the run failed".to_owned(),
            });
        }
        let mut roles: Vec<&str> = self.groups.iter().map(|counted| &*counted.role).collect();
        roles.dedup();
        Ok(roles.into_iter().flat_map(|role| self.observations(role)).collect())
    }
}

impl CounterWatch {
    fn observations(&self, role: &str) -> Vec<Observation> {
        let rows = rows(&self.events, self.role_total(role).as_ref());
        let ratios = ratios::compute(&rows);
        let counts = rows.iter().map(|row| Observation::from_row(Some(role), row));
        counts.chain(ratios.iter().map(|row| Observation::from_row(Some(role), row))).collect()
    }

    /// Returns the total of all groups of `role`; `None` if one of them was not read.
    fn role_total(&self, role: &str) -> Option<ScaledCount> {
        let counters = self.events.iter().map(|event| event.spaces.len()).sum();
        let unread = Reading::default();
        let readings = self.readings.iter().chain(std::iter::repeat(&unread));
        let of_role = self.groups.iter().zip(readings).filter(|(counted, _)| counted.role == role);
        let counts: Option<Vec<ScaledCount>> =
            of_role.map(|(_, reading)| ScaledCount::from_reading(reading, counters)).collect();
        counts?.into_iter().reduce(ScaledCount::merge)
    }
}

/// Returns a row for each event and space, in the order of the counters.
fn rows(events: &[Event], total: Option<&ScaledCount>) -> Vec<EventCount> {
    let counters =
        events.iter().flat_map(|event| event.spaces.iter().map(move |space| (event, space)));
    let rows = counters.enumerate().map(|(index, (event, &space))| EventCount {
        event: event.name.clone(),
        space,
        count: total.and_then(|told| told.scaled.as_ref()?.get(index).copied()),
        running_share: total.and_then(ScaledCount::running_share),
        raw_count: total.and_then(|told| told.raw.get(index).copied()),
    });
    rows.collect()
}
