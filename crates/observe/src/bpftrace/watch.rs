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
use crate::tool_process::{Attached, Said, Tool};
use crate::{Parties, Watch, tool_syscalls};

const TOOL: Tool = Tool {
    program: "bpftrace",
    version: "--version",
    remedy,
    most_bytes: 64 << 20,
    patience: Duration::from_secs(60),
};

/// Environment that makes room for the rows of all phases: the default is 4096 rows, and excess rows are lost. Older
/// versions use one name, newer versions the other.
const ROOM: &[(&str, &str)] =
    &[("BPFTRACE_MAP_KEYS_MAX", "16384"), ("BPFTRACE_MAX_MAP_KEYS", "16384")];

/// Target of the PID namespace link of a process in the initial namespace.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// An attached bpftrace.
#[derive(Debug)]
struct Probes {
    tool: Attached,
    parties: Parties,
}

pub(super) fn available() -> Result<Vec<Unavailable>, Unavailable> {
    let version = TOOL.version()?;
    let attached = attach(&Parties::default());
    attached.map(|_| Vec::new()).map_err(|refusal| Unavailable {
        reason: format!("{version}: {}", refusal.reason),
        ..refusal
    })
}

pub(super) fn arm(parties: &Parties) -> Result<Box<dyn Watch>, Unavailable> {
    Ok(Box::new(attach(parties)?))
}

fn attach(parties: &Parties) -> Result<Probes, Unavailable> {
    let witness = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    let script = script::script(parties, witness);
    let arguments = ["-f", "json", "-B", "none", "-e", &script].map(str::to_owned);
    let mut tool = TOOL.start(&arguments, ROOM)?;
    tool.wait_until(is_armed).map_err(|refusal| Unavailable {
        remedy: namespace_remedy().map_or(refusal.remedy, str::to_owned),
        ..refusal
    })?;
    Ok(Probes { tool, parties: parties.clone() })
}

/// Whether the probes have seen this thread make a mark. bpftrace's own messages do not show that: it reports the
/// number of probes, and runs BEGIN, before it attaches them.
fn is_armed(said: &Said) -> bool {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a complete `rusage`. The result is ignored.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    said.out.contains(script::ARMED)
}

fn remedy(words: &str) -> &'static str {
    if words.contains("root") || words.contains("permitted") {
        return "run as root";
    }
    if words.contains("tracepoint not found") {
        return "mount the kernel's list of them: mount -t tracefs tracefs /sys/kernel/tracing";
    }
    "see bpftrace(8)"
}

/// Returns a remedy if this process is in a container: older versions of bpftrace identify threads by the IDs of the
/// initial PID namespace, so they do not find those of a container.
fn namespace_remedy() -> Option<&'static str> {
    let namespace = read_link("/proc/self/ns/pid").ok()?;
    (namespace != Path::new(FIRST_NAMESPACE))
        .then_some("run outside the container, whose process numbers are its own")
}

impl Watch for Probes {
    fn finish(self: Box<Self>) -> Result<Vec<Observation>, Unavailable> {
        let Self { tool, parties } = *self;
        let maps = read(tool.end()?)?;
        if let Some(role) = maps.unseen(&parties) {
            let reason = format!("bpftrace did not see the {role} from its first call to its last");
            return Err(Unavailable { reason, remedy: "run it again".to_owned() });
        }
        Ok(tool_syscalls::observations(&parties, maps.rows(&parties)))
    }
}

fn read(written: File) -> Result<Maps, Unavailable> {
    let mut maps = Maps::default();
    for line in BufReader::new(written).split(b'\n') {
        let line = line.map_err(|error| Unavailable {
            reason: format!("what bpftrace wrote cannot be read: {error}"),
            remedy: "run it again".to_owned(),
        })?;
        maps.take(&String::from_utf8_lossy(&line));
    }
    Ok(maps)
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::testing::conformance;
    use crate::testing::forked_pair::{Rehearsal, Script};
    use crate::testing::skip::lacks;
    use crate::tool_process::is_gone;

    fn watch(parties: &Parties) -> (Box<Probes>, Pid) {
        let watch = Box::new(attach(parties).unwrap());
        let pid = watch.tool.pid();
        (watch, pid)
    }

    #[test]
    fn the_last_phase_is_counted_in_the_kernel() {
        if lacks("bpftrace") {
            return;
        }
        let mut rehearsal =
            Rehearsal::of(Script { bytes: 100, messages: 3_000, phases: 3, cpus: None });
        let (watch, pid) = watch(&rehearsal.parties);
        let done = rehearsal.play();
        let told = watch.finish().unwrap();
        conformance::is_what_was_done(&told, done);
        assert!(is_gone(pid));
    }

    #[test]
    fn of_two_threads_each_has_its_own() {
        conformance::tells_threads_apart("bpftrace");
    }

    #[test]
    fn a_librarys_threads_and_a_daemon_are_watched_with_those_they_work_for() {
        conformance::watches_a_household("bpftrace");
    }

    #[test]
    fn a_bpftrace_that_is_killed_tells_nothing_and_leaves_nothing() {
        if lacks("bpftrace") {
            return;
        }
        let mut rehearsal =
            Rehearsal::of(Script { bytes: 1, messages: 1_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal.parties);
        kill_process(pid, Signal::KILL).unwrap();
        rehearsal.play();
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("ended before its time"), "{refusal}");
        assert!(is_gone(pid));
    }

    #[test]
    fn a_watch_that_is_dropped_lets_the_parties_go_on() {
        if lacks("bpftrace") {
            return;
        }
        let mut rehearsal =
            Rehearsal::of(Script { bytes: 1, messages: 1_000, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal.parties);
        drop(watch);
        assert_eq!(rehearsal.play()[0].calls, 1_000);
        assert!(is_gone(pid));
    }

    #[test]
    fn a_run_that_never_began_tells_nothing() {
        if lacks("bpftrace") {
            return;
        }
        let rehearsal = Rehearsal::of(Script { bytes: 1, messages: 1, phases: 1, cpus: None });
        let (watch, pid) = watch(&rehearsal.parties);
        let refusal = watch.finish().unwrap_err();
        assert!(refusal.reason.contains("the sender"), "{refusal}");
        assert!(is_gone(pid));
    }
}
