//! Tests the results of the instrument on real processes.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;
use std::{fs, thread};

use ipcperf_model::instrument::profile::{
    self as facts, Group, GroupShare, KernelSymbols, ProfileRow, ProfileSummary, SampledThreads,
    Space, Stack, SymbolShare,
};
use ipcperf_model::observation::Observation;
use rustix::time::{ClockId, clock_gettime};

use super::aggregate::{self, ProfiledPhase, SampledRole};
use super::copy_detection::CopyRanges;
use super::kallsyms::{self, KernelFunctions};
use super::perf_event::SampleConfig;
use super::sampling::Sampling;
use super::symbolize::KernelResolver;
use super::watch::{ProfileWatch, arm, available, divide};
use super::{mappings, threads};
use crate::testing::forked_pair::{ForkedPair, PairWorkload, report_skip};
use crate::testing::thread_pair::ThreadPair;
use crate::testing::unprivileged::{CAP_PERFMON, run_with_capabilities};
use crate::{Member, RunResult, Scope, Targets, Watch};

/// 4 GiB in blocks of 1 MiB.
const LARGE: PairWorkload = PairWorkload { bytes: 1 << 20, messages: 4_096, phases: 1, cpus: None };
/// Minimum number of samples of copying [`LARGE`]: at the default rate 5 ms of CPU time, in which no machine copies that
/// much. The share of copying is no such bound: on some kernels, allocating the pages takes ten times as long.
const LARGE_COPY_SAMPLES: u64 = 10;

/// Rows of one role.
#[derive(Debug, Default)]
struct RoleRows {
    summary: Option<ProfileSummary>,
    groups: Vec<GroupShare>,
    symbols: Vec<SymbolShare>,
    stacks: Vec<Stack>,
}

impl RoleRows {
    fn from_observations(role: &str, observations: &[Observation]) -> Self {
        let mut observed = Self::default();
        for one in observations.iter().filter(|one| one.role.as_deref() == Some(role)) {
            match one.row().unwrap() {
                ProfileRow::Summary(summary) => assert_eq!(observed.summary.replace(summary), None),
                ProfileRow::Group(group) => observed.groups.push(group),
                ProfileRow::Symbol(symbol) => observed.symbols.push(symbol),
                ProfileRow::Stack(stack) => observed.stacks.push(stack),
            }
        }
        observed
    }

    fn summary(&self) -> &ProfileSummary {
        self.summary.as_ref().unwrap()
    }

    fn samples(&self) -> u64 {
        self.summary().samples
    }

    fn share(&self, group: Group) -> Option<f64> {
        self.groups.iter().find(|share| share.group == group).map(|share| share.share)
    }

    /// Checks what holds for every role.
    fn check(&self, role: &str) {
        let samples = self.samples();
        assert_eq!(self.groups.iter().map(|group| group.samples).sum::<u64>(), samples, "{self:?}");
        assert_eq!(self.symbols.iter().map(|symbol| symbol.samples).sum::<u64>(), samples);
        assert_eq!(self.stacks.iter().map(|stack| stack.samples).sum::<u64>(), samples);
        assert!(self.stacks.iter().all(|stack| stack.stack.starts_with(&format!("{role};"))));
        for group in &self.groups {
            assert!(group.share_low <= group.share && group.share <= group.share_high, "{group:?}");
        }
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec * 1_000_000_000 + now.tv_nsec).unwrap()
}

/// Returns the active watch, or `None` if the instrument is not available.
fn arm_or_skip(test: &str, targets: &Targets) -> Option<Box<dyn Watch>> {
    arm(targets, &[]).map_err(|why| report_skip(test, &why.to_string())).ok()
}

/// Returns the observations of `watch` for a phase that lasts as long as `play`.
fn observe(mut watch: Box<dyn Watch>, play: impl FnOnce()) -> Vec<Observation> {
    let began_ns = now_ns();
    play();
    watch.set_run_result(&RunResult {
        began_ns,
        elapsed_ns: now_ns() - began_ns,
        ..RunResult::default()
    });
    watch.finish().unwrap()
}

/// Whether the kernel can be sampled. Without that, the share of copying cannot be checked.
fn sees_kernel(test: &str) -> bool {
    let missing = available(&[]).err().or_else(|| {
        let lacking = available(&[]).unwrap_or_default();
        lacking.into_iter().find(|why| why.reason.contains("the kernel does"))
    });
    let Some(why) = missing else { return true };
    report_skip(test, &why.to_string());
    false
}

#[test]
fn large_blocks_are_copied_by_sender_and_receiver() {
    if !sees_kernel("large blocks") {
        return;
    }
    let mut rehearsal = ForkedPair::fork(LARGE);
    let Some(watch) = arm_or_skip("large blocks", &rehearsal.targets) else { return };
    let seen = observe(watch, || {
        rehearsal.run();
    });
    // Older kernels copy in both directions with functions of the same name.
    for (role, other_way) in [("sender", "copy_to"), ("receiver", "copy_from")] {
        let observed = RoleRows::from_observations(role, &seen);
        observed.check(role);
        let is_copying = |group: &&GroupShare| group.group == Group::Copying;
        let copying = observed.groups.iter().find(is_copying).map(|group| group.samples);
        assert!(
            copying >= Some(LARGE_COPY_SAMPLES),
            "{role}: {copying:?} of {}",
            observed.samples()
        );
        let summary = observed.summary();
        assert!(summary.kernel_samples.unwrap() * 10 > observed.samples() * 7, "{summary:?}");
        assert_eq!(summary.overwritten_ns, 0);
        if summary.kernel_symbols == Some(KernelSymbols::Read) {
            let copies = |symbol: &&SymbolShare| symbol.group == Group::Copying;
            let first = observed.symbols.iter().find(copies).unwrap();
            assert!(!first.symbol.contains(other_way), "{role}: {first:?}");
            assert!(summary.skid_share.is_some());
        }
    }
    assert_eq!((facts::FACTS.views)(&seen).len(), 4);
}

/// Aggregates the same samples twice: by symbol, and by inferred addresses.
fn aggregate_twice(script: PairWorkload) -> [Vec<Observation>; 2] {
    let manner = SampleConfig::new("cpu-clock", 3_989).unwrap();
    let mut rehearsal = ForkedPair::fork(script);
    let members = rehearsal.targets.members.clone();
    let inferred = KernelResolver::Inferred(CopyRanges::infer());
    let threads: Vec<_> = members.iter().flat_map(threads::list).collect();
    let sampling = Sampling::start(&manner, &threads).unwrap();
    let began_ns = now_ns();
    rehearsal.run();
    let phase_ns = began_ns..=now_ns();
    let taken = sampling.stop().unwrap();
    let role = |member: Member| SampledRole { member, mappings: mappings::Mappings::default() };
    let roles: Vec<SampledRole> = members.into_iter().map(role).collect();
    [KernelResolver::Symbols(KernelFunctions::read()), inferred].map(|kernel| {
        let phase_ns = phase_ns.clone();
        let kernel = Some(&kernel);
        let phase = ProfiledPhase { config: &manner, kernel, phase_ns, cpu_ns: &[] };
        aggregate::observations(&roles, &taken, &phase)
    })
}

#[test]
fn what_is_learned_of_copying_is_what_names_say() {
    let names_are_told = kallsyms::check_readable() == KernelSymbols::Read;
    if !names_are_told || !available(&[]).is_ok_and(|lacking| lacking.is_empty()) {
        return report_skip(
            "inferred copying",
            "the kernel's symbols or samples are not available to this user",
        );
    }
    // The inference is based on samples too: it may be wrong once if other processes compete for the CPUs.
    let agree = (0..3).any(|_| {
        let observed = aggregate_twice(LARGE);
        ["sender", "receiver"].iter().all(|role| is_inference_close(role, &observed))
    });
    assert!(agree, "three times the inferred shares differed from those by name");
}

/// Whether the inferred share of copying is within 8 percentage points of the share by symbol.
fn is_inference_close(role: &str, observed: &[Vec<Observation>; 2]) -> bool {
    let [named, learned] =
        observed.each_ref().map(|observed| RoleRows::from_observations(role, observed));
    assert!(learned.groups[0].inferred && !named.groups[0].inferred);
    assert_eq!(learned.share(Group::Scheduling), None);
    assert_eq!(learned.summary().skid_share, None);
    let [by_name, by_place] =
        [named, learned].map(|observed| observed.share(Group::Copying).unwrap());
    (by_name - by_place).abs() < 0.08
}

#[test]
fn what_is_sampled_outside_the_phase_is_dropped() {
    let mut rehearsal = ForkedPair::fork(LARGE);
    let Some(mut watch) = arm_or_skip("outside the phase", &rehearsal.targets) else { return };
    let began_ns = now_ns();
    rehearsal.run();
    watch.set_run_result(&RunResult {
        began_ns: began_ns - 1_000_000,
        elapsed_ns: 0,
        ..RunResult::default()
    });
    let seen = watch.finish().unwrap();
    let observed = RoleRows::from_observations("sender", &seen);
    assert_eq!((observed.samples(), observed.symbols.len(), seen.len()), (0, 0, 2));
}

#[test]
fn without_a_phase_nothing_is_told() {
    let Some(watch) = arm_or_skip("without a phase", &Targets::default()) else { return };
    let why = watch.finish().unwrap_err().to_string();
    assert!(why.contains("when the measured phase ran"), "{why}");
}

#[test]
fn threads_of_one_process_are_told_apart() {
    if !sees_kernel("threads") {
        return;
    }
    let pair = ThreadPair::new(200_000);
    let Some(watch) = arm_or_skip("threads", &pair.targets) else { return };
    let seen = observe(watch, || {
        pair.run();
    });
    let [sender, receiver] = ["sender", "receiver"].map(|role| {
        let observed = RoleRows::from_observations(role, &seen);
        observed.check(role);
        assert!(observed.samples() > 20, "{observed:?}");
        observed
    });
    if sender.summary().kernel_symbols == Some(KernelSymbols::Read) {
        let calls = |observed: &RoleRows, word: &str| {
            let within = observed.stacks.iter().filter(|stack| stack.stack.contains(word));
            within.map(|stack| stack.samples).sum::<u64>()
        };
        assert!(calls(&sender, "vfs_write") > 0 && calls(&sender, "vfs_read") == 0, "{sender:?}");
        assert!(calls(&receiver, "vfs_read") > 0 && calls(&receiver, "vfs_write") == 0);
    }
}

/// A shell in an endless loop. It is killed when dropped.
struct Daemon(Child);

impl Daemon {
    fn start() -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "echo; while :; do :; done"]).stdout(Stdio::piped());
        let mut daemon = Self(shell.spawn().unwrap());
        // Once it has printed something, its libraries are mapped.
        daemon.0.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn a_daemons_profile_is_its_own() {
    let mut rehearsal = ForkedPair::fork(LARGE);
    let daemon = Daemon::start();
    let (pid, role) = (daemon.0.id(), "broker".to_owned());
    rehearsal.targets.members.push(Member { role, pid, tid: pid, scope: Scope::Daemon });
    let watch = arm_or_skip("a daemon", &rehearsal.targets);
    let play = || {
        rehearsal.run();
        drop(daemon);
    };
    let Some(watch) = watch else { return play() };
    let seen = observe(watch, play);
    let [sender, broker] =
        ["sender", "broker"].map(|role| RoleRows::from_observations(role, &seen));
    broker.check("broker");
    let shell = fs::canonicalize("/bin/sh").unwrap();
    let shell = shell.file_name().unwrap();
    let within =
        |observed: &RoleRows| observed.symbols.iter().any(|symbol| *symbol.object == *shell);
    assert!(within(&broker) && !within(&sender), "{broker:?}");
}

/// Returns the CPU time of this thread.
fn cpu_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap()
}

/// Uses the given CPU time, mostly outside the kernel: it rarely reads the clock.
fn burn(time: Duration) {
    let began = cpu_time();
    while cpu_time() - began < time {
        (0..10_000).for_each(|_| std::hint::spin_loop());
    }
}

/// Body of a helper thread. A separate function, because threads of other tests belong to the same process.
#[inline(never)]
fn helps() {
    let began = cpu_time();
    while cpu_time() - began < Duration::from_millis(100) {
        (0..10_000).for_each(|_| std::hint::spin_loop());
    }
}

/// Returns the rows of a thread that waits for another, which it starts after sampling has begun.
fn with_a_helper(scope: Scope, reach: SampledThreads) -> Option<RoleRows> {
    let ((gate, wait), (tid_sender, said)) = (channel::<()>(), channel());
    let peer = thread::spawn(move || {
        tid_sender.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
        if wait.recv().is_ok() {
            thread::spawn(helps).join().unwrap();
        }
    });
    let role = "both".to_owned();
    let member = Member { role, pid: std::process::id(), tid: said.recv().unwrap(), scope };
    let manner = SampleConfig { sampled: reach, ..SampleConfig::new("cpu-clock", 997).unwrap() };
    let watch = ProfileWatch::new(&Targets::new(vec![member]), manner, KernelSymbols::Read);
    let armed = watch.map_err(|why| report_skip("a helper", &why.to_string()));
    let seen = observe(Box::new(armed.ok()?), || {
        gate.send(()).unwrap();
        peer.join().unwrap();
    });
    Some(RoleRows::from_observations("both", &seen))
}

#[test]
fn a_librarys_threads_are_its_partys() {
    for reach in [SampledThreads::Cpus, SampledThreads::Threads] {
        let Some(observed) = with_a_helper(Scope::Process, reach) else { return };
        // Without optimization, a closure in `helps` is a function of its own.
        let helps = observed.symbols.iter().filter(|symbol| symbol.symbol.contains("helps"));
        let samples: u64 = helps.map(|symbol| symbol.samples).sum();
        assert!(samples > 20, "{reach:?} {observed:?}");
    }
}

#[test]
fn a_thread_is_watched_alone() {
    for reach in [SampledThreads::Cpus, SampledThreads::Threads] {
        let Some(observed) = with_a_helper(Scope::Thread, reach) else { return };
        assert!(observed.samples() < 10, "{reach:?} {observed:?}");
    }
}

#[test]
fn events_are_parts_of_their_own_and_words_are_none() {
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    if available(&[]).is_ok() {
        let parts = divide(&words(&["cpu-clock", "page-faults"])).unwrap();
        assert_eq!(parts, [["cpu-clock"], ["page-faults"]]);
        assert_eq!(divide(&[]).unwrap(), [["cpu-clock"]]);
    }
    let refused = divide(&words(&["cpu-clock", "cpu-cock"])).unwrap_err();
    assert!(refused.reason.contains("cpu-cock"), "{refused}");
    assert_eq!(available(&words(&["cpu-cock"])).unwrap_err(), refused);
}

#[test]
fn an_event_that_nothing_provides_is_told_in_a_line() {
    // No processor has an event with this number.
    let observed = available(&["rffffffffffff".to_owned()]);
    let Err(why) = observed else {
        return report_skip("an event that nothing provides", "this machine takes any number");
    };
    assert!(
        why.remedy.contains("--profile-event cpu-clock") || why.reason.contains("refused"),
        "{why}"
    );
    assert_eq!(why.to_string().lines().count(), 1);
}

/// Environment variable set for a child of this test, which is alone in its process.
const ALONE: &str = "IPCPERF_TEST_ALONE";

#[test]
fn nothing_is_left_open() {
    let test = "profile::tests::nothing_is_left_open";
    if std::env::var_os(ALONE).is_none() {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", test, "--nocapture"]).env(ALONE, "1").output().unwrap();
        return assert!(output.status.success(), "{output:?}");
    }
    let held = || {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        (fs::read_dir("/proc/self/fd").unwrap().count(), maps.matches("[perf_event]").count())
    };
    let before = held();
    let mut rehearsal = ForkedPair::fork(PairWorkload { messages: 8, ..LARGE });
    let waiting = held();
    let Some(watch) = arm_or_skip("nothing is left open", &rehearsal.targets) else { return };
    assert_ne!(held(), waiting);
    drop(observe(watch, || {
        rehearsal.run();
    }));
    drop(rehearsal);
    assert_eq!(held(), before);
}

#[test]
fn whether_it_is_available_is_said_in_a_line() {
    let said = match available(&[]) {
        Ok(lacking) => lacking
            .iter()
            .fold("available".to_owned(), |said, why| format!("{said}, without: {why}")),
        Err(why) => format!("unavailable: {why}"),
    };
    assert_eq!(said.lines().count(), 1, "{said}");
    println!("{said}");
}

#[test]
fn without_privilege_the_kernels_side_is_missing_in_a_line() {
    let test = "profile::tests::whether_it_is_available_is_said_in_a_line";
    let Some(output) = run_with_capabilities(&[], test) else {
        return report_skip("without privilege", "it takes root to give privileges away");
    };
    let said = String::from_utf8(output.stdout).unwrap();
    let line = said.lines().find(|line| line.contains("available")).unwrap_or_default();
    assert!(output.status.success(), "{said}");
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if level.trim() == "2" {
        assert!(line.contains("without: functions in the kernel are not sampled"), "{said}");
        assert!(line.contains("sysctl kernel.perf_event_paranoid=1"), "{said}");
    }
}

#[test]
fn outside_the_kernel_anyone_is_sampled() {
    let test = "profile::tests::a_peer_that_computes_is_sampled_outside_the_kernel";
    let Some(output) = run_with_capabilities(&[], test) else {
        return report_skip("anyone is sampled", "it takes root to give privileges away");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let refused = String::from_utf8_lossy(&output.stderr).contains("perf events are refused");
    assert!(refused || output.status.success() && said.contains("1 passed"), "{output:?}");
}

/// Returns the rows of a thread that only runs `act`, for 50 ms of CPU time.
fn profile_thread(test: &str, act: impl Fn() + Send + 'static) -> Option<RoleRows> {
    let ((say, said), (gate, wait)) = (channel(), channel::<()>());
    let peer = thread::spawn(move || {
        say.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
        let began = wait.recv().map(|()| cpu_time());
        while began.is_ok_and(|began| cpu_time() - began < Duration::from_millis(50)) {
            act();
        }
    });
    let (pid, tid) = (std::process::id(), said.recv().unwrap());
    let member = Member { role: "both".to_owned(), pid, tid, scope: Scope::Thread };
    let watch = arm_or_skip(test, &Targets::new(vec![member]))?;
    let seen = observe(watch, || {
        gate.send(()).unwrap();
        peer.join().unwrap();
    });
    let observed = RoleRows::from_observations("both", &seen);
    observed.check("both");
    Some(observed)
}

#[test]
fn a_peer_that_computes_is_sampled_outside_the_kernel() {
    let spin = || burn(Duration::from_millis(1));
    let Some(observed) = profile_thread("outside the kernel", spin) else { return };
    let outside = observed.symbols.iter().filter(|symbol| symbol.space == Space::User);
    assert!(outside.map(|symbol| symbol.samples).sum::<u64>() > 20, "{observed:?}");
    let kernel = observed.symbols.iter().any(|symbol| symbol.space == Space::Kernel);
    assert_eq!(
        observed.summary().kernel_samples.is_none(),
        observed.summary().kernel_symbols.is_none()
    );
    assert!(!kernel || observed.summary().kernel_samples.is_some(), "{observed:?}");
}

#[test]
fn what_a_library_copies_is_copying() {
    let blocks = Mutex::new((vec![1_u8; 1 << 20], vec![0_u8; 1 << 20]));
    let copy = move || {
        let (from, to) = &mut *blocks.lock().unwrap();
        std::hint::black_box(to).copy_from_slice(std::hint::black_box(from));
    };
    let Some(observed) = profile_thread("what a library copies", copy) else { return };
    assert!(
        observed.samples() > 20 && observed.share(Group::Copying).unwrap() > 0.5,
        "{observed:?}"
    );
    assert!(observed.symbols[0].symbol.contains("mem"), "{observed:?}");
}

#[test]
fn copying_is_told_to_those_who_may_not_know_names() {
    let test = "profile::tests::large_blocks_are_copied_by_sender_and_receiver";
    // Copying is then inferred from samples, which may miss it once if other processes compete for the CPUs.
    let mut failed = Vec::new();
    for _ in 0..3 {
        let Some(output) = run_with_capabilities(&[CAP_PERFMON], test) else {
            return report_skip("without names", "it takes root to give privileges away");
        };
        let said = String::from_utf8_lossy(&output.stdout);
        if output.status.success() && said.contains("1 passed") {
            return;
        }
        failed.push(output);
    }
    panic!("{failed:?}");
}
