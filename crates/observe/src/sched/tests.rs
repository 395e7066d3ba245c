//! Compares the results of the instrument with what the observed peers report themselves.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ipcperf_model::instrument::sched::SchedRow;
use ipcperf_model::instrument_view::State;

use super::watch::arm;
use crate::testing::forked_pair::{ForkedPair, PairWorkload, Switches, mark, report_skip};
use crate::{Member, Scope, Targets, Watch};

/// Returns the active watch, or `None` if the instrument is not available.
fn arm_or_skip(test: &str, targets: &Targets) -> Option<Box<dyn Watch>> {
    arm(targets).map_err(|why| report_skip(test, &why.to_string())).ok()
}

fn rows(watch: Box<dyn Watch>) -> Vec<SchedRow> {
    watch.finish().unwrap().iter().map(|recorded| recorded.row().unwrap()).collect()
}

/// Returns the CPUs that this process may use.
fn cpus() -> Vec<usize> {
    // SAFETY: an all-zero set is an empty set, and the pointer is to the complete set.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
        set
    };
    // SAFETY: the set has room for 1024 CPUs.
    (0..1024).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

/// Repeats `attempt` until no events were lost; `None` if the instrument is not available.
fn retry_until_complete<T>(
    attempt: impl Fn() -> Option<T>,
    rows: impl Fn(&T) -> Vec<&SchedRow>,
) -> Option<T> {
    let mut seen = attempt()?;
    for _ in 0..10 {
        if rows(&seen).iter().all(|row| row.lost_events == 0) {
            return Some(seen);
        }
        seen = attempt()?;
    }
    panic!("events are missed each time: {:?}", rows(&seen));
}

/// Returns the rows of sender and receiver, with the switches that they counted themselves.
fn run_pair(test: &str, cpus: [usize; 2]) -> Option<[(SchedRow, Switches); 2]> {
    retry_until_complete(
        || run_pair_once(test, cpus),
        |seen| seen.iter().map(|role| &role.0).collect(),
    )
}

fn run_pair_once(test: &str, cpus: [usize; 2]) -> Option<[(SchedRow, Switches); 2]> {
    let script = PairWorkload { bytes: 4096, messages: 3_000, phases: 3, cpus: Some(cpus) };
    let mut rehearsal = ForkedPair::fork(script);
    let watch = arm_or_skip(test, &rehearsal.targets)?;
    rehearsal.run();
    let [sender, receiver]: [SchedRow; 2] = rows(watch).try_into().unwrap();
    let [sends, receives] = rehearsal.switches();
    Some([(sender, sends), (receiver, receives)])
}

fn latencies(row: &SchedRow) -> u64 {
    row.wakeup_latency_log2_histogram_ns.iter().map(|pair| pair.1).sum()
}

/// Checks what holds for a role of one thread on any CPU.
fn check(row: &SchedRow, own: Switches, cpu: usize, other: &str) {
    assert_eq!(row.on_cpu_ns + row.runnable_ns + row.asleep_ns, row.interval_ns);
    // A mark is seen on entry into the call, which reads the counts a moment later.
    assert!(row.voluntary_switches.abs_diff(own.voluntary) <= 1, "{row:?} {own:?}");
    assert!(row.involuntary_switches.abs_diff(own.involuntary) <= 1, "{row:?} {own:?}");
    let [count, asleep_ns] = row
        .sleeps
        .iter()
        .fold([0, 0], |sums, sleep| [sums[0] + sleep.count, sums[1] + sleep.asleep_ns]);
    assert_eq!([count, asleep_ns], [row.voluntary_switches, row.asleep_ns]);
    assert_eq!((row.threads, row.untracked_thread_events, row.migrations), (1, 0, 0));
    assert!(row.cpus.iter().all(|&ran| ran as usize == cpu), "{:?}", row.cpus);
    assert!(row.woken_by.keys().all(|by| by == other), "{:?}", row.woken_by);
    assert_eq!(row.woken_by.values().sum::<u64>(), latencies(row));
    // The total wait for a CPU is at least the sum of the lower bounds of the wakeup latencies.
    let waited_ns: u64 =
        row.wakeup_latency_log2_histogram_ns.iter().map(|pair| pair.0 * pair.1).sum();
    assert!(row.runnable_ns >= waited_ns, "{row:?}");
    assert!(row.timeline.windows(2).all(|pair| pair[0].1 == pair[1].0), "{:?}", row.timeline);
}

fn running(row: &SchedRow) -> impl Iterator<Item = (u64, u64)> + Clone {
    let spans = row.timeline.iter().filter(|span| span.2 == State::Running);
    spans.map(|&(from_ns, to_ns, _)| (from_ns, to_ns))
}

#[test]
fn on_one_cpu_they_take_turns_and_wake_each_other() {
    let cpu = cpus()[0];
    let Some([(sender, sends), (receiver, receives)]) = run_pair("sched on one CPU", [cpu; 2])
    else {
        return;
    };
    check(&sender, sends, cpu, "receiver");
    check(&receiver, receives, cpu, "sender");
    assert!(sender.voluntary_switches + receiver.voluntary_switches > 100);
    assert_eq!(latencies(&sender), sender.voluntary_switches);
    for (from_ns, to_ns) in running(&sender) {
        let overlap = running(&receiver).find(|other| other.0 < to_ns && from_ns < other.1);
        assert_eq!(overlap, None, "{from_ns} to {to_ns}");
    }
}

#[test]
fn on_two_cpus_it_is_known_who_woke_whom() {
    let cpus = cpus();
    let [one, other, ..] = cpus[..] else {
        return report_skip("sched on two CPUs", "this process may use but one");
    };
    let Some([(sender, sends), (receiver, receives)]) = run_pair("sched on two CPUs", [one, other])
    else {
        return;
    };
    check(&sender, sends, one, "receiver");
    check(&receiver, receives, other, "sender");
    assert!(sender.timeline[0].0.min(receiver.timeline[0].0) == 0);
}

/// Returns the row of a thread of this process that makes its marks around the life of another.
fn with_a_helper(scope: Scope) -> Option<SchedRow> {
    retry_until_complete(|| once_with_a_helper(scope), |row| vec![row])
}

fn once_with_a_helper(scope: Scope) -> Option<SchedRow> {
    std::thread::spawn(move || {
        // SAFETY: the call takes no arguments and cannot fail.
        let tid = unsafe { libc::gettid() }.unsigned_abs();
        let role = "both".to_owned();
        let member = Member { role, pid: std::process::id(), tid, scope };
        let watch = arm_or_skip("sched of threads", &Targets::new(vec![member]))?;
        mark();
        let helper = || (0..3).for_each(|_| std::thread::sleep(Duration::from_millis(2)));
        std::thread::spawn(helper).join().unwrap();
        mark();
        rows(watch).pop()
    })
    .join()
    .unwrap()
}

#[test]
fn a_librarys_threads_are_its_partys() {
    let Some(row) = with_a_helper(Scope::Process) else { return };
    let naps = row.sleeps.iter().find(|sleep| sleep.syscall.as_deref() == Some("clock_nanosleep"));
    assert!(naps.is_some_and(|naps| naps.count >= 3 && naps.asleep_ns >= 6_000_000), "{row:?}");
    assert!(row.threads >= 2, "{row:?}");
}

#[test]
fn a_thread_is_watched_alone() {
    let Some(row) = with_a_helper(Scope::Thread) else { return };
    assert_eq!(row.threads, 1);
    assert_eq!(row.on_cpu_ns + row.runnable_ns + row.asleep_ns, row.interval_ns);
    assert!(row.asleep_ns > 0, "{row:?}");
    assert_eq!(row.sleeps[0].syscall.as_deref(), Some("futex"));
}

/// A process that is killed when dropped.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// Returns the rows of sender and receiver of `script`, and of a daemon that never sleeps.
fn with_a_daemon(script: PairWorkload) -> Option<[SchedRow; 3]> {
    let mut rehearsal = ForkedPair::fork(script);
    let daemon = Daemon(Command::new("yes").stdout(Stdio::null()).spawn().unwrap());
    let (pid, role) = (daemon.0.id(), "broker".to_owned());
    let member = Member { role, pid, tid: 0, scope: Scope::Daemon };
    rehearsal.targets.members.push(member);
    let watch = arm_or_skip("sched of a daemon", &rehearsal.targets);
    rehearsal.run();
    let watch = watch?;
    drop(daemon);
    Some(rows(watch).try_into().unwrap())
}

#[test]
fn a_daemon_is_watched_while_the_parties_play() {
    let script = PairWorkload { bytes: 4096, messages: 20_000, phases: 2, cpus: None };
    let Some([sender, receiver, busy]) = with_a_daemon(script) else { return };
    assert!(busy.interval_ns >= sender.interval_ns.max(receiver.interval_ns));
    // The daemon never sleeps. Its state before its first switch is unknown.
    let active_ns = busy.on_cpu_ns + busy.runnable_ns;
    assert!(active_ns > 0 && active_ns <= busy.interval_ns, "{busy:?}");
    assert_eq!((busy.threads, busy.asleep_ns, busy.voluntary_switches), (1, 0, 0));
}

/// The sender can complete all phases before the receiver has begun: nothing synchronizes them.
#[test]
fn a_daemon_is_watched_until_the_last_party_is_through() {
    let script = PairWorkload { bytes: 1, messages: 1, phases: 100, cpus: None };
    let Some([_, _, busy]) = with_a_daemon(script) else { return };
    assert!(busy.interval_ns > 0, "{busy:?}");
}
