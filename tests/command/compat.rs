//! Compatibility programs, under their own names: output and exit codes.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use regex::Regex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::processes::{descendants, signal, wait_for};
use crate::results::text;
use crate::sandbox::{Finished, GRACE, HANG, Sandbox};
use crate::skip::skip;

/// Returns a pattern for a number with `count` digits after the decimal point.
fn digits(count: usize) -> String {
    format!(r"\d+\.\d{{{count}}}")
}

/// Checks that `pattern` matches all of `text`.
fn assert_is(text: &str, pattern: &str) {
    let whole = Regex::new(&format!(r"\A{pattern}\z")).expect("a pattern");
    assert!(whole.is_match(text), "{text:?} is not {pattern:?}");
}

fn as_program(sandbox: &Sandbox, arguments: &str) -> Finished {
    let mut command = sandbox.command(&format!("compat {arguments}"));
    // Some keep a log in the working directory.
    command.current_dir(sandbox.path("data"));
    sandbox.finish(command)
}

const RATE_2015: &str = r"\d+\.\d{2} KBytes/sec\n";

#[test]
fn ipc_static_prints_one_line_for_every_type_and_mode() {
    let sandbox = Sandbox::open();
    for ipc in ["pipe", "local", "local -s", "tcp", "tcp -s -p 10142"] {
        for mode in ["1thread", "2thread", "2proc"] {
            let asked = format!("ipc-static -B -i {ipc} -t 1048576 {mode}");
            let said = as_program(&sandbox, &asked).expect(0);
            assert_is(&said.stdout, RATE_2015);
            assert_eq!(said.stderr, "", "{asked}");
        }
    }
    sandbox.assert_nothing_left();
}

#[test]
fn ipc_dynamic_says_what_it_measured() {
    let sandbox = Sandbox::open();
    let said = as_program(&sandbox, "ipc-dynamic -Bv -b 4096 -t 65536 2thread").expect(0);
    let configuration = r"Benchmark configuration:\n  buffersize: 4096\n  totalsize: 65536\n  blockcount: 16\n  mode: 2thread\n  ipctype: pipe\n  time: \d+\.\d{9}\n";
    assert_is(&said.stdout, &(configuration.to_owned() + RATE_2015));
    assert_eq!(as_program(&sandbox, "ipc-dynamic -Bqv 2proc").expect(0).stdout, "");
}

#[test]
fn a_shell_loop_over_sizes_runs_through_links() {
    let sandbox = Sandbox::open();
    let bin = sandbox.path("bin");
    sandbox.run(&format!("compat --install {}", bin.display())).expect(0);
    let script = "for power in $(seq 9 24); do\n\
                  ipc-static -B -i pipe -b $((1 << power)) 2thread || exit\n\
                  done";
    let mut shell = Command::new("sh");
    shell.args(["-ec", script]);
    let path = std::env::join_paths(
        std::iter::once(bin).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    shell.env("PATH", path.unwrap());
    let said = sandbox.finish(sandbox.place(shell, "")).expect(0);
    assert_is(&said.stdout, &format!("({RATE_2015}){{16}}"));
}

#[test]
fn without_b_the_machine_is_left_to_settle() {
    let sandbox = Sandbox::open();
    let began = std::time::Instant::now();
    as_program(&sandbox, "ipc-static 2thread").expect(0);
    assert!(began.elapsed().as_secs_f64() >= 2.0, "{:?}", began.elapsed());
}

#[test]
fn each_iteration_is_a_datum_as_text_and_as_json() {
    let sandbox = Sandbox::open();
    let (six, nine) = (digits(6), digits(9));
    let datum = format!(
        r"datum:\n  bandwidth: \d+\.\d\d KBytes/sec\n  time: {nine} seconds\n  stime: {six} seconds\n  utime: {six} seconds\n  msgsnd: 128 messages\n  msgrcv: \d+ messages\n  nvcsw: \d+ voluntary context switches\n  nivcsw: \d+ involuntary context switches\n"
    );
    let said = as_program(&sandbox, "ipc-benchmark -Bg -n 3 -i local 2proc").expect(0);
    assert_is(&said.stdout, &format!("({datum}){{3}}"));
    let said = as_program(&sandbox, "ipc -Bgj -n 3 2thread").expect(0);
    let document: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let samples = document["benchmark_samples"].as_array().expect("a list");
    assert_eq!(samples.len(), 3);
    // Values that libxo prints in two parts are strings.
    let (numbers, strings) =
        (["bandwidth", "msgsnd", "msgrcv", "nvcsw", "nivcsw"], ["time", "stime", "utime"]);
    for sample in samples {
        assert!(numbers.iter().all(|key| sample[key].is_number()), "{sample}");
        assert!(strings.iter().all(|key| sample[key].is_string()), "{sample}");
        assert_eq!(sample.as_object().unwrap().len(), numbers.len() + strings.len(), "{sample}");
        // The rate is that of 16 MiB in the given time.
        let (rate, time) =
            (sample["bandwidth"].as_f64().unwrap(), text(sample, "time").parse::<f64>().unwrap());
        assert!((rate * time / 16_384.0 - 1.0).abs() < 1e-3, "{sample}");
    }
    assert_eq!(document.as_object().unwrap().len(), 1, "{document}");
}

#[test]
fn describe_measures_nothing_and_describes_all() {
    let sandbox = Sandbox::open();
    let said = as_program(&sandbox, "ipc -j describe").expect(0);
    let document: Value = serde_json::from_str(&said.stdout).expect("JSON");
    let parts = document.as_object().unwrap();
    assert_eq!(parts.len(), 4, "{document}");
    assert!(document["hardware_configuration"]["hw.ncpu"].is_number());
    let pages = document["hardware_configuration"]["hw.pagesizes"].as_array().expect("a list");
    assert!(pages.iter().all(|page| page["pagesize"].is_number()), "{document}");
    assert_eq!(document["os_configuration"]["kern.ostype"], "Linux");
    assert_eq!(document["network_ipc_configuration"]["ifnet.name"], "lo");
    let benchmark = &document["benchmark_configuration"];
    assert_eq!(benchmark["buffersize"], 131_072);
    assert_eq!(benchmark["msgcount"], 128);
    assert_eq!(benchmark["mode"], "describe");
    assert_eq!(benchmark["pmctype"], "none");
    let said = as_program(&sandbox, "ipc -Bv -n 2 2thread").expect(0).stdout;
    for heading in ["Hardware", "OS", "Network and IPC", "Benchmark"] {
        assert!(said.contains(&format!("{heading} configuration:\n  ")), "{said}");
    }
    assert_eq!(said.matches("datum:\n").count(), 2, "{said}");
}

#[test]
fn senders_tell_both_peers_and_keep_a_log() {
    let sandbox = Sandbox::open();
    let (two, nine) = (digits(2), digits(9));
    for program in ["pipesend", "udsocketsend", "tcpsocketsend"] {
        let mut command = sandbox.command(&format!("compat {program} 1000000 4096 2 -night"));
        command.current_dir(sandbox.path("data"));
        let said = sandbox.finish(command).expect(0).stdout;
        let line = |did| {
            format!(
                "{did} 1000000 bytes in {nine} seconds at {two} MB/s with a buffer of 4096 bytes\n"
            )
        };
        assert_is(&said, &format!("({}{}){{2}}", line("Sent"), line("Received")));
        let log = sandbox.path("data").join(format!("{program}-night.log"));
        assert_eq!(std::fs::read_to_string(log).expect("a log"), said);
    }
}

/// Checks for a table for one CPU and one for two, each with `headings` and 23 lines of whole numbers.
fn assert_chart(said: &str, headings: &str) {
    let figures = headings.split_whitespace().count() - 1;
    let line = format!(r" *\d+( +\d+){{{figures}}}\n");
    let part =
        |name: &str| format!("\\*\\*\\* {name} performance:\n\n{headings}\n\n({line}){{23}}\n");
    assert_is(said, &(part("single cpu") + &part("dual cpu")));
    let sizes: Vec<&str> = said.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(sizes.contains(&"1") && sizes.contains(&"4194304"), "{said}");
}

#[test]
fn charts_have_the_headings_of_the_posting() {
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        return skip("the charts of document 001", "they take two CPUs");
    }
    let sandbox = Sandbox::open();
    let chart = |arguments: &str| as_program(&sandbox, arguments).expect(0).stdout;
    assert_chart(&chart("ibench"), "   SIZE  IBENCH");
    assert_chart(&chart("ibench --socketpair --echo"), "   SIZE  IBENCH");
    let said = chart("kdbench");
    assert_chart(&said, "   SIZE    COPY   MEMFD KDBUS-MAX");
    for line in
        said.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    {
        let figures: Vec<u64> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
        assert_eq!(figures[3], figures[1].max(figures[2]), "{line}");
    }
    sandbox.assert_nothing_left();
}

#[test]
fn the_bus_benchmark_charts_a_real_daemon() {
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() < 2) {
        return skip("the chart over D-Bus", "it takes two CPUs");
    }
    let sandbox = Sandbox::open();
    let said = as_program(&sandbox, "bus-benchmark chart");
    if said.stderr.contains("dbus-daemon") && said.status.code() != Some(0) {
        return skip("the chart over D-Bus", "no dbus-daemon here; install dbus-daemon");
    }
    assert_chart(&said.expect(0).stdout, "   SIZE    COPY   MEMFD KDBUS-MAX");
    sandbox.assert_nothing_left();
}

#[test]
fn the_comparison_tells_user_system_and_sum() {
    let sandbox = Sandbox::open();
    for (mode, heading) in [("message", "Message"), ("file", "File   ")] {
        let asked = format!("ipc-comparisontest {mode} 200");
        let said = as_program(&sandbox, &asked).expect(0).stdout;
        let headings = "Mode     User time \\(seconds\\) System time \\(s\\)  Sum \\(s\\)\n";
        assert_is(&said, &format!(r"{headings}{heading} +\d+\.\d+ +\d+\.\d+ +\d+\.\d+\n"));
        let figures: Vec<f64> =
            said.split_whitespace().rev().take(3).map(|word| word.parse().unwrap()).collect();
        let (sum, system, user) = (figures[0], figures[1], figures[2]);
        assert!((sum - user - system).abs() < 0.0021, "{said}");
    }
    sandbox.assert_nothing_left();
}

#[test]
fn lmbenchs_programs_print_its_lines_on_standard_error() {
    let sandbox = Sandbox::open();
    let latency = |what: &str| format!(r"{what}: \d+\.\d{{4}} microseconds\n");
    let bandwidth = |what: &str| format!(r"{what}\d+\.\d\d MB/sec\n");
    for (arguments, line) in [
        ("lat_pipe", latency("Pipe latency")),
        ("lat_pipe -P 2 -W 1000 -N 3", latency("Pipe latency")),
        ("lat_unix -m 64 -N 3", latency("AF_UNIX sock stream latency")),
        ("lat_tcp -N 3 localhost", latency("TCP latency using localhost")),
        ("bw_pipe -N 3", bandwidth("Pipe bandwidth: ")),
        ("bw_pipe -P 2 -m 4k -M 1m -N 3", bandwidth("Pipe bandwidth: ")),
        ("bw_unix -m 128k -M 10m -N 3", bandwidth("AF_UNIX sock stream bandwidth: ")),
        ("bw_tcp -N 3 127.0.0.1", bandwidth("0.065536 ")),
    ] {
        let said = as_program(&sandbox, arguments).expect(0);
        assert_eq!(said.stdout, "", "{arguments}");
        assert_is(&said.stderr, &line);
    }
    for nothing in ["lat_tcp -s", "bw_tcp -S localhost"] {
        let said = as_program(&sandbox, nothing).expect(0);
        assert_eq!((&*said.stdout, &*said.stderr), ("", ""), "{nothing}");
    }
    let said = as_program(&sandbox, "lat_tcp example.org").expect(1);
    assert!(said.stderr.contains("another machine"), "{}", said.stderr);
}

#[test]
fn wrong_usage_gets_usage_and_the_originals_exit_code() {
    let sandbox = Sandbox::open();
    for (arguments, code) in [
        ("ipc-static", 64),
        ("ipc-static -s 2proc", 64),
        ("ipc-static -b 0 2proc", 64),
        ("ipc-dynamic -j 2proc", 64),
        ("ipc-benchmark -n x 2proc", 64),
        ("ipc 4proc", 64),
        ("ipc 2proc -B", 64),
        ("ipc-static -b 4096 2proc -B", 64),
        ("ipc -P bus 2proc", 64),
        ("pipesend", 1),
        ("udsocketsend 0", 1),
        ("tcpsocketsend 1 2 3 4 5", 1),
        ("ibench --pipe", 1),
        ("kdbench 1", 1),
        ("bus-benchmark", 1),
        ("ipc-comparisontest", 1),
        ("ipc-comparisontest letter", 1),
        ("lat_pipe -M 1m", 255),
        ("bw_unix -P 0", 255),
        ("bw_tcp", 255),
    ] {
        let said = as_program(&sandbox, arguments).expect(code);
        let name = arguments.split(' ').next().unwrap();
        assert!(said.stderr.starts_with(&format!("usage: {name}")), "{arguments}: {}", said.stderr);
        assert_eq!(said.stdout, "", "{arguments}");
    }
    let said = as_program(&sandbox, "ipc-static -b 3 2proc").expect(64);
    assert_eq!(
        said.stderr,
        "ipc-static: FAIL: data size (16777216) is not a multiple of buffersize (3)\n"
    );
    let listed = sandbox.run("compat").expect(0).stdout;
    assert!(listed.contains("ipc-static, ipc-dynamic: "), "{listed}");
    let about = sandbox.run("compat --about lat_tcp").expect(0).stdout;
    assert!(about.contains("usage: lat_tcp -s"), "{about}");
    assert!(about.contains("Intended differences from the original:"), "{about}");
    let said = as_program(&sandbox, "ipc-statik").expect(2);
    assert!(said.stderr.contains("unknown program `ipc-statik`"), "{}", said.stderr);
}

/// Arguments after the program are passed to it, even if they are flags of this command.
#[test]
fn arguments_are_the_programs_and_links_agree() {
    let sandbox = Sandbox::open();
    let bin = sandbox.path("bin");
    sandbox.run(&format!("compat --install {}", bin.display())).expect(0);
    for arguments in ["-h", "--help", "--install /tmp", "--about ipc", "worker", "library x"] {
        let said = as_program(&sandbox, &format!("ipc {arguments}")).expect(64);
        assert!(said.stderr.starts_with("usage: ipc "), "{arguments}: {}", said.stderr);
        let linked = sandbox.place(Command::new(bin.join("ipc")), arguments);
        assert_eq!(sandbox.finish(linked).expect(64).stderr, said.stderr, "{arguments}");
    }
    // A copy under that name starts workers too.
    let copy = sandbox.copy_command("pipesend");
    let mut copied = sandbox.place(Command::new(copy), "100000");
    copied.current_dir(sandbox.path("data"));
    assert!(sandbox.finish(copied).expect(0).stdout.starts_with("Sent 100000 bytes"));
}

#[test]
fn what_cannot_be_printed_or_logged_ends_as_the_original_did() {
    let sandbox = Sandbox::open();
    for (arguments, code) in
        [("ipc-static -B 2thread", 71), ("pipesend 1000", 1), ("ipc -B 2thread", 71)]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let mut command = sandbox.command(&format!("compat {arguments}"));
        command.current_dir(sandbox.path("data")).stdout(full);
        assert_eq!(command.status().expect("it starts").code(), Some(code), "{arguments}");
    }
    let said = as_program(&sandbox, "pipesend 1000 10 1 /no/such/folder/x").expect(1);
    assert!(said.stderr.contains("cannot write the log file here"), "{}", said.stderr);
}

#[test]
fn what_is_absurd_is_refused_at_once() {
    let sandbox = Sandbox::open();
    for (arguments, code, words) in [
        ("ipc-static -B -b 9000000000000 -t 9000000000000 2proc", 71, "in the available memory"),
        ("ipc -B -b 9000000000000 -t 9000000000000 -j 2proc", 71, "in the available memory"),
        ("pipesend 9000000000000", 1, "in the available memory"),
        ("ipc-comparisontest message 1 900000000", 1, "carries at most"),
        ("ipc-comparisontest message 18446744073709551615", 1, "usage: ipc-comparisontest"),
        ("lat_pipe -P 100000", 255, "usage: lat_pipe"),
        ("bw_pipe -m 9000g", 1, "in the available memory"),
    ] {
        let said = as_program(&sandbox, arguments).expect(code);
        assert!(said.stderr.contains(words), "{arguments}: {}", said.stderr);
    }
    assert!(!sandbox.path("data").join("pipesend.log").exists(), "an empty log");
    sandbox.assert_nothing_left();
}

#[test]
fn what_cannot_be_counted_is_said_with_the_remedy() {
    let sandbox = Sandbox::open();
    let said = as_program(&sandbox, "ipc-static -B -P l1d 2proc");
    if said.status.success() {
        assert!(said.stdout.contains("  CLOCK_CYCLES/INSTR_EXECUTED: "), "{}", said.stdout);
        return;
    }
    let said = said.expect(71);
    assert!(said.stderr.starts_with("ipc-static: FAIL: -P l1d: "), "{}", said.stderr);
    assert!(said.stderr.contains("; "), "a remedy: {}", said.stderr);
}

#[test]
fn an_interrupted_program_ends_at_once_and_leaves_nothing() {
    let sandbox = Sandbox::open();
    let command = sandbox.command("compat ipc -n 60 2proc");
    let started = sandbox.start(command);
    wait_for("a run under way", GRACE, || (descendants(started.id()).len() == 3).then_some(()));
    let pid = Pid::from_raw(started.id().cast_signed()).expect("a process");
    kill_process(pid, Signal::INT).expect("it is there");
    assert_eq!(started.finish(HANG).status.signal(), Some(Signal::INT.as_raw()));
    sandbox.assert_nothing_left();
}

/// Numbers of iterations beyond 32 bits are accepted.
#[test]
fn as_many_iterations_as_the_original_takes_are_begun() {
    let sandbox = Sandbox::open();
    let started = sandbox.start(sandbox.command("compat ipc -B -n 5000000000 2proc"));
    wait_for("a run under way", GRACE, || (descendants(started.id()).len() == 3).then_some(()));
    signal(started.id(), Signal::TERM);
    assert_eq!(started.finish(HANG).status.signal(), Some(Signal::TERM.as_raw()));
    sandbox.assert_nothing_left();
}

#[test]
fn a_program_whose_reader_is_gone_dies_of_it_like_the_original() {
    let sandbox = Sandbox::open();
    for arguments in ["ipc-static -B 2thread", "ipc -Bj 2thread", "pipesend 1000", "ipc describe"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = sandbox.command(&format!("compat {arguments}"));
        command.current_dir(sandbox.path("data")).stdout(writer);
        let status = command.status().expect("it starts");
        assert_eq!(status.signal(), Some(Signal::PIPE.as_raw()), "{arguments}");
    }
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let status =
        sandbox.command("compat lat_pipe -N 1").stderr(writer).status().expect("it starts");
    assert_eq!(status.signal(), Some(Signal::PIPE.as_raw()), "it prints on standard error");
    sandbox.assert_nothing_left();
}

/// If the receiver did its preparation while the clock ran, it would not be waiting in its first call when the first
/// byte arrives.
#[test]
fn the_clock_starts_when_the_receiver_waits() {
    let sandbox = Sandbox::open();
    for mode in ["2thread", "2proc"] {
        let said =
            as_program(&sandbox, &format!("ipc -Bg -n 200 -b 64 -t 64 {mode}")).expect(0).stdout;
        let switches = said.lines().filter_map(|line| line.trim().strip_prefix("nvcsw: "));
        let waited = switches.filter(|switches| !switches.starts_with("0 ")).count();
        assert!(
            waited >= 150,
            "{mode}: it waited for the first byte in {waited} of 200 iterations"
        );
    }
}

/// Returns the names (`comm`) of all threads of `pid`, which tracing tools show.
fn names_of_threads(pid: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let names = threads.filter_map(|one| std::fs::read_to_string(one.path().join("comm")).ok());
    names.map(|name| name.trim_end().to_owned()).collect()
}

#[test]
fn peers_carry_the_programs_name() {
    let sandbox = Sandbox::open();
    for (arguments, name, peers) in [
        ("ipc-static -t 16777216000 -b 65536 2proc", "ipc-static", 2),
        ("ipc -n 60 2thread", "ipc", 2),
        ("ipc-comparisontest message 100000000", "ipc-comparisont", 2),
    ] {
        let started = sandbox.start(sandbox.command(&format!("compat {arguments}")));
        let named = || -> usize {
            let threads = descendants(started.id()).into_iter().flat_map(names_of_threads);
            threads.filter(|thread| thread == name).count()
        };
        // The worker, and the peers, which are its threads or children.
        wait_for(name, GRACE, || (named() > peers).then_some(()));
        signal(started.id(), Signal::INT);
        started.finish(HANG).expect(130);
    }
    sandbox.assert_nothing_left();
}

#[test]
fn libxo_is_asked_as_of_the_original() {
    let sandbox = Sandbox::open();
    let said = |arguments: &str| as_program(&sandbox, arguments).expect(0).stdout;
    let compact = said("ipc --libxo=json -B -n 2 2thread");
    assert_eq!(compact.lines().count(), 1, "{compact}");
    let parsed: Value = serde_json::from_str(&compact).expect("JSON");
    assert_eq!(parsed["benchmark_samples"].as_array().map(Vec::len), Some(2), "{compact}");
    let pretty = said("ipc -B 2thread --libxo:JP");
    assert!(
        pretty.starts_with("{\n  \"benchmark_samples\": [\n    {\n      \"bandwidth\": "),
        "{pretty}"
    );
    let xml = said("ipc --libxo xml,pretty -B 2thread");
    let nine = digits(9);
    assert_is(
        &xml,
        &format!(r"<datum>\n  <bandwidth>\d+\.\d\d</bandwidth>\n  <time>{nine}</time>\n</datum>\n"),
    );
    let text = said("ipc --libxo=text -B -P none 2thread");
    assert!(text.starts_with("datum:\n  bandwidth: "), "{text}");
    let refused = as_program(&sandbox, "ipc --libxo=html -B 2thread").expect(64).stderr;
    assert_eq!(refused.lines().count(), 1, "{refused}");
    assert!(refused.contains("no option `html` here"), "{refused}");
}

/// The error message names the set, not the alias that was typed.
#[test]
fn the_bus_has_two_names() {
    let sandbox = Sandbox::open();
    let [bus, axi] =
        ["bus", "axi"].map(|set| as_program(&sandbox, &format!("ipc-static -B -P {set} 2proc")));
    assert_eq!(bus.code(), axi.code());
    assert_eq!(bus.stderr, axi.stderr);
    assert_ne!(bus.code(), Some(64), "{}", bus.stderr);
}
