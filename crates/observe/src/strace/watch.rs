//! Attaches strace and reads its output.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::strace::Unread;
use ipcperf_model::observation::Observation;

use super::phases::Phases;
use crate::tool_process::{Attached, Said, Tool};
use crate::{Member, Parties, Scope, Watch, tool_syscalls};

const TOOL: Tool = Tool {
    program: "strace",
    version: "-V",
    remedy,
    most_bytes: 1 << 30,
    patience: Duration::from_secs(60),
};

/// An attached strace.
#[derive(Debug)]
struct Trace {
    tool: Attached,
    parties: Parties,
    /// Threads that existed when it attached, each with the index of its peer.
    owners: HashMap<u32, usize>,
}

pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    let version = TOOL.version()?;
    let tracee = Tracee::start()?;
    let attached = attach(&tracee.as_parties());
    attached.map(|_| Vec::new()).map_err(|refusal| Unavailable {
        reason: format!("{version}: {}", refusal.reason),
        ..refusal
    })
}

pub(super) fn arm(parties: &Parties) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(attach(parties)?))
}

fn attach(parties: &Parties) -> Result<Trace, Unavailable> {
    let tracees = tracees(parties);
    let mut tool = TOOL.start(&arguments(parties, &tracees), &[])?;
    let mut refusal = None;
    tool.wait_until(|said| {
        refusal = refused(said);
        refusal.is_some() || tracees.iter().all(|&tracee| is_attached(said, tracee))
    })?;
    if let Some(reason) = refusal {
        return Err(Unavailable { remedy: remedy(&reason).to_owned(), reason });
    }
    Ok(Trace { tool, parties: parties.clone(), owners: owners(parties) })
}

/// Whether strace must attach to whole processes, because a daemon or a library's helper threads are observed as well.
fn needs_processes(parties: &Parties) -> bool {
    parties.members.iter().any(|member| member.scope != Scope::Thread)
}

/// Returns the IDs that strace attaches to: processes with all of their threads, or the peers' threads only, because it
/// would stop all other threads too. Never both: strace cannot attach to a thread that it already traces through its
/// process.
fn tracees(parties: &Parties) -> Vec<u32> {
    let of = |member: &Member| if needs_processes(parties) { member.pid } else { member.tid };
    let mut tracees: Vec<u32> = parties.members.iter().map(of).collect();
    tracees.sort_unstable();
    tracees.dedup();
    tracees
}

fn arguments(parties: &Parties, tracees: &[u32]) -> Vec<String> {
    let cheapest = ["-e", "raw=!clone,clone3", "-e", "signal=none", "-s", "0", "-a", "1"];
    let told = ["--syscall-times=ns", "-o", "/proc/self/fd/1"];
    let mut arguments: Vec<String> =
        told.iter().chain(&cheapest).map(|&word| word.to_owned()).collect();
    if needs_processes(parties) {
        arguments.push("-f".to_owned());
    }
    arguments.extend(tracees.iter().flat_map(|tracee| ["-p".to_owned(), tracee.to_string()]));
    arguments
}

/// Whether strace reports that it has attached to `tracee`. From then on the thread stops at its next entry into, or
/// exit from, the kernel.
fn is_attached(said: &Said, tracee: u32) -> bool {
    let words = format!("strace: Process {tracee} attached");
    said.err.lines().any(|line| {
        line.strip_prefix(&words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// Returns why strace could not attach to one of the tracees; strace continues without it.
fn refused(said: &Said) -> Option<String> {
    let mut lines = said.err.lines();
    lines.find_map(|line| line.strip_prefix("strace: attach: ")).map(str::to_owned)
}

/// Returns the existing threads, each with the index of its peer.
fn owners(parties: &Parties) -> HashMap<u32, usize> {
    let mut owners = HashMap::new();
    for (index, member) in parties.members.iter().enumerate() {
        owners.insert(member.tid, index);
        if member.scope != Scope::Thread {
            owners.extend(threads(member.pid).map(|tid| (tid, index)));
        }
    }
    owners
}

fn threads(pid: u32) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn remedy(words: &str) -> &'static str {
    if words.contains("Operation not permitted") {
        return "run as root, or allow it: sysctl kernel.yama.ptrace_scope=0";
    }
    if words.contains("option") {
        return "install a newer strace";
    }
    "see strace(1)"
}

impl Watch for Trace {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { tool, parties, owners } = *self;
        let mut phases = Phases::of(&parties, owners);
        for line in BufReader::new(tool.end()?).split(b'\n') {
            let line = line.map_err(|error| Unavailable {
                reason: format!("what strace wrote cannot be read: {error}"),
                remedy: "run it again".to_owned(),
            })?;
            phases.take(&String::from_utf8_lossy(&line));
        }
        told(&parties, &phases)
    }
}

fn told(parties: &Parties, phases: &Phases<'_>) -> Result<Vec<Observation>, Unavailable> {
    if let Some(role) = phases.unseen() {
        let reason = format!("strace did not see the {role} from its first call to its last");
        return Err(Unavailable { reason, remedy: "run it again".to_owned() });
    }
    let mut told = tool_syscalls::observations(parties, phases.rows());
    if phases.unread() > 0 {
        told.push(Observation::of(None, &Unread { unread_lines: phases.unread() }));
    }
    Ok(told)
}

/// A process on which strace is tried. It waits until it is killed.
#[derive(Debug)]
struct Tracee(Child);

impl Tracee {
    fn start() -> Result<Self, Unavailable> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read line"]).stdin(Stdio::piped());
        shell.spawn().map(Self).map_err(|error| Unavailable {
            reason: format!("no process to try strace on: /bin/sh: {error}"),
            remedy: "see why /bin/sh cannot be started".to_owned(),
        })
    }

    fn as_parties(&self) -> Parties {
        let (pid, role) = (self.0.id(), "both".to_owned());
        Parties { members: vec![Member { role, pid, tid: pid, scope: Scope::Thread }] }
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        // Both fail only if the process is already gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::testing::conformance;
    use crate::testing::forked_pair::{Rehearsal, Script};
    use crate::testing::skip::lacks;
    use crate::tool_process::is_gone;

    fn watch(rehearsal: &Rehearsal) -> (Box<Trace>, Pid) {
        let watch = Box::new(attach(&rehearsal.parties).unwrap());
        let pid = watch.tool.pid();
        (watch, pid)
    }

    #[test]
    fn the_last_phase_is_counted_call_by_call() {
        if lacks("strace") {
            return;
        }
        let mut rehearsal =
            Rehearsal::of(Script { bytes: 100, messages: 300, phases: 3, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let done = rehearsal.play();
        let told = watch.finish().unwrap();
        conformance::is_what_was_done(&told, done);
        assert!(is_gone(pid));
    }

    #[test]
    fn of_two_threads_each_has_its_own() {
        conformance::tells_threads_apart("strace");
    }

    #[test]
    fn a_librarys_threads_and_a_daemon_are_watched_with_those_they_work_for() {
        conformance::watches_a_household("strace");
    }

    #[test]
    fn a_strace_that_is_killed_tells_nothing_and_leaves_nothing() {
        if lacks("strace") {
            return;
        }
        let mut rehearsal =
            Rehearsal::of(Script { bytes: 1, messages: 100_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            kill_process(pid, Signal::KILL)
        });
        rehearsal.play();
        killer.join().unwrap().unwrap();
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("ended before its time"), "{refusal}");
        assert!(is_gone(pid));
    }

    #[test]
    fn a_watch_that_is_dropped_lets_the_parties_go_on() {
        if lacks("strace") {
            return;
        }
        let mut rehearsal =
            Rehearsal::of(Script { bytes: 1, messages: 100_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let dropper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(watch);
        });
        assert_eq!(rehearsal.play()[0].calls, 100_000);
        dropper.join().unwrap();
        assert!(is_gone(pid));
    }

    #[test]
    fn a_run_that_never_began_tells_nothing() {
        if lacks("strace") {
            return;
        }
        let rehearsal = Rehearsal::of(Script { bytes: 1, messages: 1, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("the sender"), "{refusal}");
        assert!(is_gone(pid));
    }

    #[test]
    fn who_is_not_there_is_refused_in_straces_words() {
        if lacks("strace") {
            return;
        }
        let member = Member {
            role: "both".to_owned(),
            pid: 4_194_304,
            tid: 4_194_304,
            scope: Scope::Thread,
        };
        let refusal = attach(&Parties { members: vec![member] }).unwrap_err();
        assert!(
            refusal.reason.contains("4194304") && refusal.reason.contains("No such"),
            "{refusal}"
        );
    }
}
