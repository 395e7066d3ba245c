//! Attaches strace and reads its output.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ipcperf_model::Unavailable;
use ipcperf_model::instrument::strace::UnparsedLines;
use ipcperf_model::observation::Observation;

use super::phases::PhaseTracker;
use crate::tool_process::{Tool, ToolOutput, ToolProcess};
use crate::{Member, Scope, Targets, Watch, tool_syscalls};

const TOOL: Tool = Tool {
    program: "strace",
    version_argument: "-V",
    remedy,
    max_output_bytes: 1 << 30,
    timeout: Duration::from_secs(60),
};

/// An attached strace.
#[derive(Debug)]
struct StraceWatch {
    tool: ToolProcess,
    targets: Targets,
    /// Threads that existed when it attached, each with the index of its peer.
    owners: HashMap<u32, usize>,
}

pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    let version = TOOL.version()?;
    let tracee = Tracee::start()?;
    let attached = attach(&tracee.to_targets());
    attached.map(|_| Vec::new()).map_err(|refusal| Unavailable {
        reason: format!("{version}: {}", refusal.reason),
        ..refusal
    })
}

pub(super) fn arm(targets: &Targets) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(attach(targets)?))
}

fn attach(targets: &Targets) -> Result<StraceWatch, Unavailable> {
    let tracees = tracees(targets);
    let mut tool = TOOL.start(&arguments(targets, &tracees), &[])?;
    let mut refusal = None;
    tool.wait_until(|output| {
        refusal = attach_error(output);
        refusal.is_some() || tracees.iter().all(|&tracee| is_attached(output, tracee))
    })?;
    if let Some(reason) = refusal {
        return Err(Unavailable { remedy: remedy(&reason).to_owned(), reason });
    }
    Ok(StraceWatch { tool, targets: targets.clone(), owners: owners(targets) })
}

/// Whether strace must attach to whole processes, because a daemon or a library's helper threads are observed as well.
fn needs_processes(targets: &Targets) -> bool {
    targets.members.iter().any(|member| member.scope != Scope::Thread)
}

/// Returns the IDs that strace attaches to: processes with all of their threads, or the peers' threads only, because it
/// would stop all other threads too. Never both: strace cannot attach to a thread that it already traces through its
/// process.
fn tracees(targets: &Targets) -> Vec<u32> {
    let id = |member: &Member| if needs_processes(targets) { member.pid } else { member.tid };
    let mut tracees: Vec<u32> = targets.members.iter().map(id).collect();
    tracees.sort_unstable();
    tracees.dedup();
    tracees
}

fn arguments(targets: &Targets, tracees: &[u32]) -> Vec<String> {
    let cheap_options = ["-e", "raw=!clone,clone3", "-e", "signal=none", "-s", "0", "-a", "1"];
    let output_options = ["--syscall-times=ns", "-o", "/proc/self/fd/1"];
    let mut arguments: Vec<String> =
        output_options.iter().chain(&cheap_options).map(|&word| word.to_owned()).collect();
    if needs_processes(targets) {
        arguments.push("-f".to_owned());
    }
    arguments.extend(tracees.iter().flat_map(|tracee| ["-p".to_owned(), tracee.to_string()]));
    arguments
}

/// Whether strace reports that it has attached to `tracee`. From then on the thread stops at its next entry into, or
/// exit from, the kernel.
fn is_attached(output: &ToolOutput, tracee: u32) -> bool {
    let message = format!("strace: Process {tracee} attached");
    output.err.lines().any(|line| {
        line.strip_prefix(&message).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// Returns why strace could not attach to one of the tracees; strace continues without it.
fn attach_error(output: &ToolOutput) -> Option<String> {
    let mut lines = output.err.lines();
    lines.find_map(|line| line.strip_prefix("strace: attach: ")).map(str::to_owned)
}

/// Returns the existing threads, each with the index of its peer.
fn owners(targets: &Targets) -> HashMap<u32, usize> {
    let mut owners = HashMap::new();
    for (index, member) in targets.members.iter().enumerate() {
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

fn remedy(message: &str) -> &'static str {
    if message.contains("Operation not permitted") {
        return "run as root, or allow it: sysctl kernel.yama.ptrace_scope=0";
    }
    if message.contains("option") {
        return "install a newer strace";
    }
    "see strace(1)"
}

impl Watch for StraceWatch {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { tool, targets, owners } = *self;
        let mut phases = PhaseTracker::new(&targets, owners);
        for line in BufReader::new(tool.terminate()?).split(b'\n') {
            let line = line.map_err(|error| Unavailable {
                reason: format!("cannot read the output of strace: {error}"),
                remedy: "repeat the run".to_owned(),
            })?;
            phases.add_line(&String::from_utf8_lossy(&line));
        }
        observations(&targets, &phases)
    }
}

fn observations(
    targets: &Targets,
    phases: &PhaseTracker<'_>,
) -> Result<Vec<Observation>, Unavailable> {
    if let Some(role) = phases.first_incomplete_role() {
        let reason =
            format!("strace missed the start or the end of the measured phase of the {role}");
        return Err(Unavailable { reason, remedy: "repeat the run".to_owned() });
    }
    let mut observations = tool_syscalls::observations(targets, phases.rows());
    if phases.unparsed_lines() > 0 {
        observations.push(Observation::from_row(
            None,
            &UnparsedLines { unparsed_lines: phases.unparsed_lines() },
        ));
    }
    Ok(observations)
}

/// A process on which strace is tried. It waits until it is killed.
#[derive(Debug)]
struct Tracee(Child);

impl Tracee {
    fn start() -> Result<Self, Unavailable> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "read line"]).stdin(Stdio::piped());
        shell.spawn().map(Self).map_err(|error| Unavailable {
            reason: format!("cannot start /bin/sh, which is needed to test strace: {error}"),
            remedy: "check that /bin/sh can be started".to_owned(),
        })
    }

    fn to_targets(&self) -> Targets {
        let (pid, role) = (self.0.id(), "both".to_owned());
        Targets::new(vec![Member { role, pid, tid: pid, scope: Scope::Thread }])
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
    use crate::testing::forked_pair::{ForkedPair, PairWorkload};
    use crate::testing::skip::skip_if_unavailable;
    use crate::testing::tool_conformance;
    use crate::tool_process::is_gone;

    fn watch(rehearsal: &ForkedPair) -> (Box<StraceWatch>, Pid) {
        let watch = Box::new(attach(&rehearsal.targets).unwrap());
        let pid = watch.tool.pid();
        (watch, pid)
    }

    #[test]
    fn the_last_phase_is_counted_call_by_call() {
        if skip_if_unavailable("strace") {
            return;
        }
        let mut rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 100, messages: 300, phases: 3, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let done = rehearsal.run();
        let told = watch.finish().unwrap();
        tool_conformance::assert_matches_counts(&told, done);
        assert!(is_gone(pid));
    }

    #[test]
    fn of_two_threads_each_has_its_own() {
        tool_conformance::assert_threads_are_separate("strace");
    }

    #[test]
    fn a_librarys_threads_and_a_daemon_are_watched_with_those_they_work_for() {
        tool_conformance::assert_process_and_daemon_are_observed("strace");
    }

    #[test]
    fn a_strace_that_is_killed_tells_nothing_and_leaves_nothing() {
        if skip_if_unavailable("strace") {
            return;
        }
        let mut rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 1, messages: 100_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            kill_process(pid, Signal::KILL)
        });
        rehearsal.run();
        killer.join().unwrap().unwrap();
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("ended unexpectedly"), "{refusal}");
        assert!(is_gone(pid));
    }

    #[test]
    fn a_watch_that_is_dropped_lets_the_parties_go_on() {
        if skip_if_unavailable("strace") {
            return;
        }
        let mut rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 1, messages: 100_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let dropper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(watch);
        });
        assert_eq!(rehearsal.run()[0].calls, 100_000);
        dropper.join().unwrap();
        assert!(is_gone(pid));
    }

    #[test]
    fn a_run_that_never_began_tells_nothing() {
        if skip_if_unavailable("strace") {
            return;
        }
        let rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 1, messages: 1, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal);
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("the sender"), "{refusal}");
        assert!(is_gone(pid));
    }

    #[test]
    fn who_is_not_there_is_refused_in_straces_words() {
        if skip_if_unavailable("strace") {
            return;
        }
        let member = Member {
            role: "both".to_owned(),
            pid: 4_194_304,
            tid: 4_194_304,
            scope: Scope::Thread,
        };
        let refusal = attach(&Targets::new(vec![member])).unwrap_err();
        assert!(
            refusal.reason.contains("4194304") && refusal.reason.contains("No such"),
            "{refusal}"
        );
    }
}
