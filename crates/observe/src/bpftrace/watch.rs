//! Attaches bpftrace and reads its maps.

use std::fs::{File, read_link};
use std::io::{BufRead, BufReader};
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::Duration;

use ipcperf_model::Unavailable;
use ipcperf_model::observation::Observation;

use super::maps::Maps;
use super::script;
use crate::tool_process::{Tool, ToolOutput, ToolProcess};
use crate::{Targets, Watch, tool_syscalls};

const TOOL: Tool = Tool {
    program: "bpftrace",
    version_argument: "--version",
    remedy,
    max_output_bytes: 64 << 20,
    timeout: Duration::from_secs(60),
};

/// Environment that makes room for the rows of all phases: the default is 4096 rows, and excess rows are lost. Older
/// versions use one name, newer versions the other.
const MAP_SIZE_ENVIRONMENT: &[(&str, &str)] =
    &[("BPFTRACE_MAP_KEYS_MAX", "16384"), ("BPFTRACE_MAX_MAP_KEYS", "16384")];

/// Target of the PID namespace link of a process in the initial namespace.
const INITIAL_PID_NAMESPACE: &str = "pid:[4026531836]";

/// An attached bpftrace.
#[derive(Debug)]
struct BpftraceWatch {
    tool: ToolProcess,
    targets: Targets,
}

pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    let version = TOOL.version()?;
    let attached = attach(&Targets::default());
    attached.map(|_| Vec::new()).map_err(|refusal| Unavailable {
        reason: format!("{version}: {}", refusal.reason),
        ..refusal
    })
}

pub(super) fn arm(targets: &Targets) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(attach(targets)?))
}

fn attach(targets: &Targets) -> Result<BpftraceWatch, Unavailable> {
    let witness = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    let script = script::script(targets, witness);
    let arguments = ["-f", "json", "-B", "none", "-e", &script].map(str::to_owned);
    let mut tool = TOOL.start(&arguments, MAP_SIZE_ENVIRONMENT)?;
    tool.wait_until(is_armed).map_err(|refusal| Unavailable {
        remedy: namespace_remedy().map_or(refusal.remedy, str::to_owned),
        ..refusal
    })?;
    Ok(BpftraceWatch { tool, targets: targets.clone() })
}

/// Whether the probes have seen this thread make a mark. bpftrace's own messages do not show that: it reports the
/// number of probes, and runs BEGIN, before it attaches them.
fn is_armed(output: &ToolOutput) -> bool {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a complete `rusage`. The result is ignored.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    output.out.contains(script::ARMED)
}

fn remedy(message: &str) -> &'static str {
    if message.contains("root") || message.contains("permitted") {
        return "run as root";
    }
    if message.contains("tracepoint not found") {
        return "mount the tracing file system: mount -t tracefs tracefs /sys/kernel/tracing";
    }
    "see bpftrace(8)"
}

/// Returns a remedy if this process is in a container: older versions of bpftrace identify threads by the IDs of the
/// initial PID namespace, so they do not find those of a container.
fn namespace_remedy() -> Option<&'static str> {
    let namespace = read_link("/proc/self/ns/pid").ok()?;
    (namespace != Path::new(INITIAL_PID_NAMESPACE))
        .then_some("run ipcperf outside the container, which has its own process IDs")
}

impl Watch for BpftraceWatch {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { tool, targets } = *self;
        let maps = read_maps(tool.terminate()?)?;
        if let Some(role) = maps.first_incomplete_role(&targets) {
            let reason =
                format!("bpftrace missed the start or the end of the measured phase of the {role}");
            return Err(Unavailable { reason, remedy: "repeat the run".to_owned() });
        }
        Ok(tool_syscalls::observations(&targets, maps.rows(&targets)))
    }
}

fn read_maps(output: File) -> Result<Maps, Unavailable> {
    let mut maps = Maps::default();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.map_err(|error| Unavailable {
            reason: format!("cannot read the output of bpftrace: {error}"),
            remedy: "repeat the run".to_owned(),
        })?;
        maps.add_line(&String::from_utf8_lossy(&line));
    }
    Ok(maps)
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::testing::forked_pair::{ForkedPair, PairWorkload};
    use crate::testing::skip::skip_if_unavailable;
    use crate::testing::tool_conformance;
    use crate::tool_process::is_gone;

    fn watch(targets: &Targets) -> (Box<BpftraceWatch>, Pid) {
        let watch = Box::new(attach(targets).unwrap());
        let pid = watch.tool.pid();
        (watch, pid)
    }

    #[test]
    fn the_last_phase_is_counted_in_the_kernel() {
        if skip_if_unavailable("bpftrace") {
            return;
        }
        let mut rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 100, messages: 3_000, phases: 3, cpus: None });
        let (watch, pid) = watch(&rehearsal.targets);
        let done = rehearsal.run();
        let told = watch.finish().unwrap();
        tool_conformance::assert_matches_counts(&told, done);
        assert!(is_gone(pid));
    }

    #[test]
    fn of_two_threads_each_has_its_own() {
        tool_conformance::assert_threads_are_separate("bpftrace");
    }

    #[test]
    fn a_librarys_threads_and_a_daemon_are_watched_with_those_they_work_for() {
        tool_conformance::assert_process_and_daemon_are_observed("bpftrace");
    }

    #[test]
    fn a_bpftrace_that_is_killed_tells_nothing_and_leaves_nothing() {
        if skip_if_unavailable("bpftrace") {
            return;
        }
        let mut rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 1, messages: 1_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal.targets);
        kill_process(pid, Signal::KILL).unwrap();
        rehearsal.run();
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("ended unexpectedly"), "{refusal}");
        assert!(is_gone(pid));
    }

    #[test]
    fn a_watch_that_is_dropped_lets_the_parties_go_on() {
        if skip_if_unavailable("bpftrace") {
            return;
        }
        let mut rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 1, messages: 1_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal.targets);
        drop(watch);
        assert_eq!(rehearsal.run()[0].calls, 1_000);
        assert!(is_gone(pid));
    }

    #[test]
    fn a_run_that_never_began_tells_nothing() {
        if skip_if_unavailable("bpftrace") {
            return;
        }
        let rehearsal =
            ForkedPair::fork(PairWorkload { bytes: 1, messages: 1, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal.targets);
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("the sender"), "{refusal}");
        assert!(is_gone(pid));
    }
}
