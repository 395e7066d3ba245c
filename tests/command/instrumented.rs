//! `--instrument` and `ipcperf trace`: observations match what was done, and instrumented runs have uninstrumented
//! twins.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::mistakes::refused;
use crate::processes::{signal, wait_for};
use crate::results::{ResultsFile, lines, number, text};
use crate::sandbox::{GRACE, HANG, Sandbox, with_time};
use crate::skip::skip;

/// Ten sizes.
const SIZES: &str = "16,77,256,512,4096,16384,65535,65536,262144,1048576";

/// Whether `instrument` works here; otherwise skips the test.
pub(crate) fn can_use_instrument(sandbox: &Sandbox, instrument: &str) -> bool {
    let listed = sandbox.run("list instruments --json").expect(0);
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).expect("an array");
    let entry = listed.iter().find(|entry| entry["name"] == instrument).expect("in the list");
    if entry["available"] == true {
        return true;
    }
    skip(instrument, text(entry, "reason"));
    false
}

/// Returns the observations of `instrument`, by run.
pub(crate) fn seen(path: &Path, instrument: &str) -> BTreeMap<String, Vec<Value>> {
    let mut seen: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in lines(path) {
        if line["kind"] == "observation" && line["instrument"] == instrument {
            seen.entry(text(&line, "run_id").to_owned()).or_default().push(line);
        }
    }
    seen
}

fn roles(sample: &Value) -> &'static [&'static str] {
    if sample["mode"] == "1thread" { &["both"] } else { &["sender", "receiver"] }
}

#[test]
fn what_disturbs_nothing_rides_along() {
    let sandbox = Sandbox::open();
    let run =
        "-m unix-stream -b 4096 --total 1MB --repetitions 1 --instrument rusage,kernel-objects";
    sandbox.finish(sandbox.measuring(run)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    let [usage, objects] = ["rusage", "kernel-objects"].map(|name| seen(&sandbox.results(), name));
    for sample in &file.samples {
        assert_eq!(sample["case_id"], "unix-stream/stream/2proc/same/4096");
        assert_eq!(sample["instruments"], serde_json::json!(["rusage", "kernel-objects"]));
        let run = text(sample, "run_id");
        let [sender, receiver] = &usage[run][..] else { panic!("two roles: {:?}", usage[run]) };
        assert_eq!(sender["calls"], sample["sender_calls"]);
        assert_eq!(receiver["minor_faults"], sample["receiver_minor_faults"]);
        let limits = |role| objects[run].iter().filter(|row| row["role"] == role).count();
        assert_eq!(["sender", "receiver"].map(limits), [2, 2], "a socket each: {:?}", objects[run]);
        assert!(objects[run].iter().all(|row| row["before_bytes"] == row["after_bytes"]));
    }
    sandbox.assert_nothing_left();
}

/// The kernel samples only how CPU time is divided into user and system time, not how much there is.
#[test]
fn user_and_system_time_add_up_to_the_cpu_time() {
    let sandbox = Sandbox::open();
    let run = "-m pipe --mode 1thread,2thread,2proc -b 64,4096 --total 1MB --repetitions 2 --instrument rusage";
    sandbox.finish(sandbox.measuring(run)).expect(0);
    let samples = ResultsFile::read(&sandbox.results()).samples;
    assert_eq!(samples.len(), 3 * 2 * 3);
    for sample in &samples {
        for role in roles(sample) {
            let of = |key: &str| number(sample, &format!("{role}_{key}"));
            assert_eq!(of("user_ns") + of("system_ns"), of("cpu_ns"), "{sample}");
        }
        assert!(["sampled", "measured"].contains(&text(sample, "user_system_split")), "{sample}");
    }
    for row in seen(&sandbox.results(), "rusage").into_values().flatten() {
        assert_eq!(
            number(&row, "user_ns") + number(&row, "system_ns"),
            number(&row, "cpu_ns"),
            "{row}"
        );
    }
}

#[test]
fn what_disturbs_has_runs_of_its_own_and_each_of_them_a_twin() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "syscalls") || !can_use_instrument(&sandbox, "strace") {
        return;
    }
    let run = "-m pipe -b 4096 --total 1MB --repetitions 6 --instrument rusage,syscalls,strace";
    sandbox.finish(sandbox.measuring(run)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    let base = "pipe/stream/2proc/same/4096";
    for name in ["syscalls", "strace"] {
        let (watched, twin) =
            (format!("{base}/instrument={name}"), format!("{base}/twin-of={name}"));
        let blocks = |id: &str| -> Vec<u64> {
            let of_case = file.samples.iter().filter(|sample| sample["case_id"] == id);
            of_case.map(|sample| number(sample, "block")).collect()
        };
        assert_eq!(blocks(&watched), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(blocks(&twin), blocks(&watched));
        let sample = file.samples.iter().find(|sample| sample["case_id"] == twin).expect("a twin");
        assert_eq!(sample["twin_of"], watched);
        assert_eq!(sample["instruments"], serde_json::json!(["rusage"]));
        assert_eq!(seen(&sandbox.results(), name).len(), 7, "one set of observations a run");
    }
    let effects = file.footer["probe_effects"].as_array().expect("effects");
    let strace = effects.iter().find(|one| one["instruments"] == serde_json::json!(["strace"]));
    let slowdown = strace.map(|one| one["slowdown"].as_f64().expect("a factor"));
    assert!(slowdown.is_none_or(|factor| factor > 1.5), "stopped twice at each call: {effects:?}");
    let shown = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0);
    assert_eq!(shown.stdout.matches(" pipe ").count(), 1, "one row: {}", shown.stdout);
    sandbox.assert_nothing_left();
}

/// Traced calls and bytes equal those that the worker counted, and include nothing of the set-up.
#[test]
fn calls_and_bytes_are_exactly_the_workers_own() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "syscalls") {
        return;
    }
    let run = format!(
        "-m pipe,unix-stream,tcp --mode 1thread,2thread,2proc -b {SIZES} --total 1MB --repetitions 1 \
         --instrument syscalls --timeout 60"
    );
    sandbox.finish(sandbox.measuring(&run)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    let seen = seen(&sandbox.results(), "syscalls");
    let watched = file.samples.iter().filter(|sample| sample["twin_of"].is_null());
    let mut checked = 0;
    for sample in watched {
        for role in roles(sample) {
            assert_exact(sample, role, &seen[text(sample, "run_id")]);
            checked += 1;
        }
    }
    assert_eq!(checked, 2 * 3 * 10 * (1 + 2 + 2), "blocks, mechanisms, sizes, roles");
}

/// A daemon is observed as a process, next to threads or processes of the worker.
#[test]
fn a_mechanism_with_a_daemon_is_watched_in_every_mode() {
    let sandbox = Sandbox::open();
    for instrument in ["strace", "syscalls", "sched"] {
        if !can_use_instrument(&sandbox, instrument) {
            continue;
        }
        let run = format!(
            "-m dbus-copy -w stream,request-reply --mode 2thread,2proc --placement same -b 64 --total 4kB \
             --repetitions 1 --instrument {instrument}"
        );
        sandbox.finish(sandbox.measuring(&run)).expect(0);
        let file = ResultsFile::read(&sandbox.results());
        assert!(file.failures.is_empty(), "{instrument}: {:?}", file.failures);
        let seen = seen(&sandbox.results(), instrument);
        for sample in file.samples.iter().filter(|sample| sample["twin_of"].is_null()) {
            let printed = &seen[text(sample, "run_id")];
            for role in roles(sample) {
                assert!(printed.iter().any(|row| row["role"] == *role), "{instrument}: {sample}");
            }
        }
        assert_eq!(seen.len(), 2 * 2 * 2, "{instrument}: two runs of each workload in each mode");
    }
    sandbox.assert_nothing_left();
}

/// Checks that `printed` has exactly the data-moving calls of `role`, as many as it counted, with all bytes.
fn assert_exact(sample: &Value, role: &str, printed: &[Value]) {
    let own: Vec<&Value> = printed.iter().filter(|row| row["role"] == role).collect();
    let case = format!("{}, {role}: {own:?}", text(sample, "case_id"));
    let moving = ["write", "read", "sendto", "recvfrom", "sendmsg", "recvmsg"];
    assert!(own.iter().all(|row| moving.contains(&text(row, "syscall"))), "{case}");
    let calls: u64 = own.iter().map(|row| number(row, "count")).sum();
    assert_eq!(calls, number(sample, &format!("{role}_calls")), "{case}");
    let returned: u64 = own.iter().map(|row| number(row, "returned_bytes")).sum();
    let directions = if role == "both" { 2 } else { 1 };
    assert_eq!(returned, directions * number(sample, "total_bytes"), "{case}");
}

#[test]
fn one_case_is_traced_and_told_as_the_file_tells_it() {
    let sandbox = Sandbox::open();
    let trace =
        "trace -m pipe -b 4096 --total 1MB --instrument rusage,kernel-objects --json --quiet --out";
    let trace = with_time(&format!("{trace} {}", sandbox.results().display()));
    let traced = sandbox.run(&trace).expect(0);
    let printed: Vec<Value> = serde_json::from_str(&traced.stdout).expect("an array");
    assert!(printed.iter().all(|one| one["kind"] == "observation"), "{printed:?}");
    let mut written = lines(&sandbox.results());
    // The line number belongs to the file only.
    written.iter_mut().filter_map(Value::as_object_mut).for_each(|line| drop(line.remove("seq")));
    assert!(!printed.is_empty() && printed.iter().all(|one| written.contains(one)), "{printed:?}");
    sandbox.assert_nothing_left();
}

#[test]
fn mistakes_are_told() {
    refused(
        "run -m pipe --instrument syscals",
        &["instrument `syscals`", "did you mean `syscalls`?"],
    );
    refused("trace -m pipe,tcp", &["trace runs one case", "2"]);
    for flag in ["--repetitions 5", "--until-ci 2", "--max-time 1s"] {
        let words = ["trace runs its case once", "ipcperf run --instrument"];
        refused(&format!("trace -m pipe {flag}"), &words);
    }
}

/// If the command is killed while instruments run, no BPF program, link or tool is left.
#[test]
fn a_killed_command_leaves_no_program_in_the_kernel() {
    use rand::{RngExt, SeedableRng};
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "syscalls") || !can_use_instrument(&sandbox, "strace") {
        return;
    }
    let Some(listed) = in_kernel() else {
        return skip("what is left in the kernel", "no bpftool here");
    };
    drop(listed);
    let kills =
        std::env::var("IPCPERF_RANDOM_KILLED_COMMANDS").map_or(5, |n| n.parse().expect("a count"));
    let mut random = rand::rngs::ChaCha8Rng::seed_from_u64(20_261_121);
    kill_instrumented(&sandbox, || {
        let seen = || in_kernel().filter(|listed| !listed.is_empty());
        wait_for("a program in the kernel", GRACE, seen);
    });
    for _ in 0..kills {
        let moment = std::time::Duration::from_millis(random.random_range(0..1_500));
        kill_instrumented(&sandbox, || std::thread::sleep(moment));
    }
    // Programs of other tests come and go; a leftover stays without a process that holds it.
    wait_for("the kernel to let go", GRACE, || {
        let listed = in_kernel().unwrap_or_default();
        listed.iter().all(is_held).then_some(())
    });
}

/// Whether a process holds the program: bpftool lists the holders.
fn is_held(program: &Value) -> bool {
    program["pids"].as_array().is_some_and(|pids| !pids.is_empty())
}

/// Starts a run with all instruments that could leave something in the kernel, and kills it after `until`.
fn kill_instrumented(sandbox: &Sandbox, until: impl FnOnce()) {
    let names = "--instrument syscalls,sched,strace,bpftrace";
    let run = format!("-m pipe -b 4096 --total 1MB --repetitions 3 {names}");
    let command = sandbox.start(sandbox.measuring(&run));
    until();
    signal(command.id(), rustix::process::Signal::KILL);
    command.finish(HANG);
    sandbox.assert_nothing_left();
}

/// Returns the BPF programs in the kernel with our names or those of bpftrace, and their links to events. `None` if
/// they cannot be listed.
fn in_kernel() -> Option<Vec<Value>> {
    const NAMES: [&str; 7] =
        ["entered", "left", "switched", "waking", "woken", "sys_enter", "sys_exit"];
    let programs = listed_by_kernel("prog")?;
    let ours = programs
        .iter()
        .filter(|program| program["name"].as_str().is_some_and(|name| NAMES.contains(&name)));
    let ours: Vec<&Value> = ours.collect();
    let links = listed_by_kernel("link")?;
    let links = links.iter().filter(|link| ours.iter().any(|one| one["id"] == link["prog_id"]));
    Some(ours.iter().copied().chain(links).cloned().collect())
}

fn listed_by_kernel(what: &str) -> Option<Vec<Value>> {
    let listed = std::process::Command::new("bpftool").args([what, "list", "--json"]).output();
    serde_json::from_slice(&listed.ok()?.stdout).ok()
}

/// Returns the row of the call that moved the data of `role`, in the last repetition of `case`.
fn row(path: &Path, case: &str, role: &str) -> Value {
    let file = ResultsFile::read(path);
    let of_case = |sample: &&Value| sample["case_id"] == format!("{case}/instrument=syscalls");
    let run = file.samples.iter().rfind(of_case).expect("a watched run");
    let rows = &seen(path, "syscalls")[text(run, "run_id")];
    let own = rows.iter().filter(|row| row["role"] == role);
    own.max_by_key(|row| row["returned_bytes"].as_u64()).expect("a row").clone()
}

/// Returns a distribution of `row` as pairs of lower bound and count.
fn distribution(row: &Value, key: &str) -> Vec<(u64, u64)> {
    serde_json::from_value(row[key].clone()).expect("pairs")
}

/// Observations of Bell-Thomas (2020) and Iacob (2022) with DTrace: of many small writes, only the few that find the
/// buffer full take long; and a read returns what the kernel had space for, however much is requested.
#[test]
fn the_documents_observations_appear() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "syscalls") {
        return;
    }
    let run =
        "-m pipe,unix-stream -b 32,1MiB --total 16MiB --repetitions 1 --instrument syscalls,rusage";
    sandbox.finish(sandbox.measuring(run)).expect(0);
    let path = sandbox.results();
    let small = row(&path, "pipe/stream/2proc/same/32", "sender");
    let times = distribution(&small, "log2_histogram_ns");
    let usual = times.iter().max_by_key(|pair| pair.1).expect("a cluster").0;
    let slow: u64 = times.iter().filter(|pair| pair.0 >= 8 * usual).map(|pair| pair.1).sum();
    let all = number(&small, "count");
    assert_eq!(all, 16 << 15);
    assert!(slow > 0 && slow * 20 < all, "{slow} of {all} are slow: {times:?}");
    let plateau = |case: &str| {
        let read = row(&path, case, "receiver");
        distribution(&read, "log2_histogram_returned").last().expect("reads").0
    };
    assert_eq!(plateau("pipe/stream/2proc/same/1048576"), 64 << 10, "a pipe's capacity");
    let of_socket = plateau("unix-stream/stream/2proc/same/1048576");
    assert_eq!(of_socket, 128 << 10, "what a socket queues: between 128 and 256 KiB");
}

/// Each time that a pipe has been filled, both peers must be switched to before it can be filled again: no buffer size
/// needs fewer switches than that, and one as large as the pipe hardly more. How many more a smaller one needs is up to
/// the scheduler. Other load on the CPU adds switches, nearly all of them involuntary.
#[test]
fn switches_are_as_many_as_the_capacity_demands() {
    let sandbox = Sandbox::open();
    let run = "-m pipe -b 4KiB,32KiB,64KiB,256KiB --set pipe.capacity=64KiB --total 32MiB \
               --repetitions 5 --instrument rusage";
    sandbox.finish(sandbox.measuring(run)).expect(0);
    let demanded = 2 * (32 << 20) / (64 << 10);
    let runs = switches_of_runs(&sandbox);
    for (size, [voluntary, involuntary]) in &runs {
        let all = voluntary + involuntary;
        assert!(100 * all > 99 * demanded, "{all} with buffers of {size}");
    }
    for size in [64 << 10, 256 << 10] {
        let of_size = runs.iter().filter(|(bytes, _)| *bytes == size);
        let fewest = of_size.map(|(_, [voluntary, _])| *voluntary).min().expect("runs");
        assert!(fewest < 2 * demanded, "a pipe is filled and drained as often: {fewest}, {size}");
    }
}

/// Returns the size of the buffers of each run, and its voluntary and involuntary switches.
fn switches_of_runs(sandbox: &Sandbox) -> Vec<(u64, [u64; 2])> {
    let usage = seen(&sandbox.results(), "rusage");
    let of_run = |sample: &Value| {
        let rows = &usage[text(sample, "run_id")];
        let sum = |key: &str| rows.iter().map(|row| number(row, key)).sum();
        let switches = ["voluntary_switches", "involuntary_switches"].map(sum);
        (number(sample, "buffer_bytes"), switches)
    };
    ResultsFile::read(&sandbox.results()).samples.iter().map(of_run).collect()
}
