//! Mistakes on the command line: one clear line on standard error, exit code 2, and nothing is run.

use crate::sandbox::Sandbox;

/// Runs the command with `arguments` and checks that it is refused in one line that contains all `words`.
pub(crate) fn refused(arguments: &str, words: &[&str]) {
    ended_with(2, arguments, words);
}

/// As [`refused`], with exit code `code`: 3 if the machine cannot do what was asked.
fn ended_with(code: i32, arguments: &str, words: &[&str]) {
    let sandbox = Sandbox::open();
    let finished = sandbox.run(arguments);
    assert_eq!(finished.status.code(), Some(code), "{arguments}: {finished:?}");
    assert_eq!(finished.stderr.lines().count(), 1, "{arguments}: {}", finished.stderr);
    assert!(finished.stderr.starts_with("ipcperf: "), "{arguments}: {}", finished.stderr);
    assert_eq!(finished.stdout, "", "{arguments}");
    for word in words {
        assert!(finished.stderr.contains(word), "{arguments}: no `{word}`: {}", finished.stderr);
    }
    let results = std::fs::read_dir(sandbox.path("data")).expect("a folder");
    assert_eq!(results.count(), 0, "{arguments}: wrote results");
}

#[test]
fn an_unknown_name_gets_the_nearest_or_all_of_them() {
    refused("run -m unix-steam", &["mechanism `unix-steam`", "did you mean `unix-stream`?"]);
    refused("run -m zzz", &["mechanism `zzz`", "expected one of", "pipe"]);
    refused("run -m pipe,", &["mechanism ``"]);
    refused("run -m pipe -w strem", &["workload `strem`", "`stream`"]);
    refused("run -m pipe --mode 2pro", &["mode `2pro`", "`2proc`"]);
    refused("run -m pipe --placement splt", &["placement `splt`", "split"]);
    refused("plan -m pip", &["did you mean `pipe`?"]);
    refused("plan -m mq", &["did you mean one of `posix-mq`, `sysv-mq`?"]);
    refused("plan -m pipe --instrument perf", &["did you mean one of `counters`, `profile`?"]);
    refused("lst", &["lst"]);
    refused("list mechansims", &["mechanisms"]);
    refused("list unix-steam", &["`unix-steam`", "did you mean `unix-stream`?"]);
    refused("show --show limit FILE", &["`limit`", "limits"]);
}

#[test]
fn a_flag_with_a_list_can_be_given_more_than_once() {
    let sandbox = Sandbox::open();
    let repeated = sandbox.run("plan -m pipe -m tcp -b 64 -b 4KiB --seed 1 --json");
    let listed = sandbox.run("plan -m pipe,tcp -b 64,4KiB --seed 1 --json");
    assert_eq!(repeated.status.code(), Some(0), "{repeated:?}");
    assert_eq!(repeated.stdout, listed.stdout);
}

#[test]
fn an_unknown_mode_is_named() {
    refused("run -m pipe --mode 3proc", &["mode `3proc`"]);
}

#[test]
fn an_unknown_or_incomplete_flag_is_named() {
    refused("run -m pipe --bogus", &["--bogus"]);
    refused("run -m pipe --repetition 3", &["--repetition", "--repetitions"]);
    refused("run -b 64", &["--mechanism"]);
    refused("plan", &["name a study, or mechanisms with -m NAMES (see ipcperf plan --help)"]);
    refused("run -m pipe --total", &["--total"]);
    refused("show", &["FILE"]);
    refused("run -m pipe --repetitions many", &["--repetitions", "many"]);
    refused("run -m pipe --total 64 --total 128", &["--total can only be given once"]);
}

#[test]
fn a_size_that_is_none_is_told() {
    refused("run -m pipe -b 0", &["--buffer", "at least 1 byte"]);
    refused("run -m pipe -b 64kib", &["`64kib`", "KiB"]);
    refused("run -m pipe -b 1.5MiB", &["`1.5MiB`"]);
    refused("run -m pipe --total 0", &["--total", "at least 1 byte"]);
    refused("run -m pipe --kernel-buffer 0", &["--kernel-buffer", "at least 1 byte"]);
    refused("run -m pipe --kernel-buffer some", &["--kernel-buffer", "`some`"]);
}

#[test]
fn a_range_without_an_end_is_told() {
    refused("run -m pipe -b 512..", &["`512..`", "no end"]);
    refused("run -m pipe -b ..512", &["`..512`", "no start"]);
    refused("run -m pipe -b 1..64*1", &["`1..64*1`", "never ends"]);
    refused("run -m pipe -b 1..64*0", &["`1..64*0`", "never ends"]);
    refused("run -m pipe -b 64..1", &["`64..1`", "ends before it starts"]);
    refused("run -m pipe -b 1..64:1", &["`1..64:1`", "count"]);
}

#[test]
fn an_absurd_size_is_refused_before_anything_runs() {
    refused("run -m pipe -b 99999999999GiB", &["64 bits"]);
    refused("run -m pipe -b 18446744073709551616", &["64 bits"]);
    refused("run -m pipe -b 18446744073709551615", &["refused", "memory"]);
    refused("run -m all -b 1000000GiB", &["refused", "memory"]);
    refused("run -m pipe --total 99999999999999999999", &["--total", "64 bits"]);
    refused("run -m pipe -b 1..1000000:1000000", &["1000000 sizes"]);
    refused("run -m all -b 1..4096:4096 --placement same,free,0:0", &["cells"]);
}

#[test]
fn a_matrix_of_refusals_names_the_limit() {
    refused("run -m udp -b 65508", &["the case is refused", "at most 65507 bytes"]);
    refused(
        "run -m pipe --mode 1thread --placement split",
        &["refused", "one thread", "another mode"],
    );
    refused("run -m null --verify", &["refused", "leave out --verify"]);
}

#[test]
fn an_option_set_amiss_is_named() {
    refused("run -m pipe --set pipe.capacity", &["--set", "MECHANISM.OPTION=VALUES"]);
    refused("run -m pipe --set capacity=1", &["--set", "MECHANISM.OPTION=VALUES"]);
    refused("run -m pipe --set pip.capacity=1", &["`pip`", "`pipe`"]);
    refused("run -m pipe --set pipe.capcity=1", &["`capcity`", "`capacity`"]);
    refused("run -m pipe --set pipe.capacity=0", &["pipe.capacity", "at least 1 byte"]);
    refused("run -m pipe --set pipe.capacity=", &["pipe.capacity"]);
    refused("run -m tcp --set tcp.nodelay=of", &["tcp.nodelay", "`off`"]);
    refused("run -m pipe --set tcp.nodelay=on", &["--set", "tcp"]);
    refused("run -m null --set null.x=1", &["no options"]);
    refused("run -m dgram-fds --set dgram-fds.fds=65", &["dgram-fds.fds", "0 to 64"]);
    refused("run -m file-ref --set file-ref.dir=here", &["file-ref.dir", "absolute path"]);
    refused("run -m pipe --set pipe.capacity=1 --set pipe.capacity=2", &["pipe.capacity"]);
}

#[test]
fn a_number_out_of_range_is_told() {
    refused("run -m pipe --repetitions 0", &["--repetitions", "at least 1"]);
    refused("run -m pipe --repetitions -1", &["--repetitions"]);
    refused("run -m pipe --repetitions=-1", &["--repetitions"]);
    refused("run -m pipe --repetitions 4294967296", &["--repetitions", "4294967296"]);
    refused("run -m pipe --seed 99999999999999999999", &["--seed"]);
    for deadline in ["0", "=-1", "-1", "NaN", "inf", "1e99", "soon"] {
        let argument = if deadline.starts_with('=') { "" } else { " " };
        refused(&format!("run -m pipe --timeout{argument}{deadline}"), &["--timeout"]);
    }
}

#[test]
fn a_cpu_outside_the_cpuset_is_told_with_those_inside() {
    refused("run -m pipe --placement 0:99999", &["CPU 99999", "allowed CPUs"]);
    refused("run -m pipe --placement same,99998:0", &["CPU 99998"]);
    refused("run -m pipe --placement 0:", &["placement `0:`"]);
    refused("run -m pipe --placement 4294967296:0", &["placement"]);
}

/// A CPU that this process may not use is treated like one that the machine does not have.
#[test]
fn an_affinity_narrows_what_is_allowed() {
    let allowed = rustix::thread::sched_getaffinity(None).expect("the affinity");
    let mut first_only = rustix::thread::CpuSet::new();
    let mut cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let first = cpus.next().expect("a CPU");
    first_only.set(first);
    // Applies to this thread only; its children inherit it.
    rustix::thread::sched_setaffinity(None, &first_only).expect("fewer CPUs");
    let words = ["can run here", "two CPUs", &format!("({first})")];
    ended_with(3, "run -m pipe --placement split", &words);
    if let Some(second) = cpus.next() {
        let outside = format!("CPU {second} is outside");
        refused(&format!("run -m pipe --placement {first}:{second}"), &[&outside]);
    }
}

#[test]
fn an_existing_file_is_kept_without_force() {
    let sandbox = Sandbox::open();
    std::fs::write(sandbox.results(), "precious\n").expect("a file");
    let out = sandbox.results();
    let arguments = format!("run -m null -b 64 --total 64 --repetitions 1 --out {}", out.display());
    let kept = sandbox.run(&arguments).expect(2);
    assert!(kept.stderr.contains("--force"), "{}", kept.stderr);
    assert_eq!(kept.stderr.lines().count(), 1, "{}", kept.stderr);
    assert_eq!(std::fs::read_to_string(&out).expect("the file"), "precious\n");
    sandbox.run(&format!("{arguments} --force")).expect(0);
    assert!(std::fs::read_to_string(&out).expect("the file").starts_with("{\"kind\":\"header\""));
}
