//! `lib:FILE.so`: what a library is given, and the errors for one that cannot be used. The conformance suite tests its
//! behaviour as a mechanism, with the example library.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::custom::{SHARED, compile, pipes};
use crate::results::{ResultsFile, lines, number, text};
use crate::sandbox::{Finished, Sandbox};
use crate::skip::skip;

/// Compiles a library from `c` in `sandbox`.
fn library(sandbox: &Sandbox, name: &str, c: &str) -> Option<PathBuf> {
    let (source, to) = (sandbox.path(&format!("{name}.c")), sandbox.path(name));
    fs::write(
        &source,
        format!("#include <stdio.h>\n#include <stdlib.h>\n#include \"ipcperf.h\"\n{c}"),
    )
    .expect("a source");
    let made = compile(&source, &to, &SHARED).map(|()| to);
    if made.is_none() {
        skip(name, "there is no cc");
    }
    made
}

/// Returns the C code of a valid function table that does nothing, modified by `change`.
fn table(change: &str) -> String {
    format!(
        "static int o(const struct ipcperf_setup *s, void *e[2], uint64_t *g, char *w, size_t n) \
         {{ (void)s; (void)e; (void)g; snprintf(w, n, \"not\\ntoday\"); return -5; }}\n\
         static ssize_t t(void *e, const void *b, size_t n) {{ (void)e; (void)b; return (ssize_t)n; }}\n\
         static ssize_t r(void *e, void *b, size_t n) {{ (void)e; (void)b; return (ssize_t)n; }}\n\
         static void c(void *e) {{ (void)e; }}\n\
         const struct ipcperf_mechanism *ipcperf_mechanism(void) {{\n\
         static struct ipcperf_mechanism m = {{ IPCPERF_ABI, 0, 0, o, 0, t, r, c, 0 }};\n{change}\nreturn &m; }}\n"
    )
}

/// Checks that `-m lib:PATH` fails with one clear line that contains `words`, and that next to `null` the rest is run.
fn is_unavailable(sandbox: &Sandbox, path: &str, words: &str) {
    let run = |names: &str| {
        let arguments = format!("-m {names} -b 64 --total 640 --repetitions 1");
        sandbox.finish(sandbox.measuring(&arguments))
    };
    let alone: Finished = run(&format!("lib:{path}")).expect(3);
    assert_eq!(alone.stderr.lines().count(), 1, "{}", alone.stderr);
    assert!(alone.stderr.contains(words), "no `{words}`: {}", alone.stderr);
    assert!(alone.stderr.contains(path), "{}", alone.stderr);
    let beside = run(&format!("null,lib:{path}")).expect(0);
    assert!(beside.stderr.contains(words), "no `{words}`: {}", beside.stderr);
    assert_eq!(ResultsFile::read(&sandbox.results()).samples.len(), 2);
    sandbox.assert_nothing_left();
}

#[test]
fn a_file_that_is_no_library_is_told() {
    let sandbox = Sandbox::open();
    let text = sandbox.path("text.so");
    fs::write(&text, "not a library\n".repeat(100)).expect("a file");
    is_unavailable(&sandbox, &text.display().to_string(), "it is not a shared library");
    let folder = sandbox.path("tmp").display().to_string();
    is_unavailable(&sandbox, &folder, "it is not a regular file");
    let nowhere = sandbox.path("nowhere.so").display().to_string();
    is_unavailable(&sandbox, &nowhere, "the file does not exist");
}

#[test]
fn a_library_that_does_not_fit_the_header_is_told() {
    let sandbox = Sandbox::open();
    let cases = [
        ("empty.so", "int nothing;".to_owned(), "no function ipcperf_mechanism"),
        ("newer.so", table("m.abi = 2;"), "IPCPERF_ABI 2; this version of ipcperf has 1"),
        ("null.so", table("if (m.abi) return NULL;"), "returned NULL"),
        ("mute.so", table("m.send = 0;"), "its function table has no send"),
    ];
    for (name, c, words) in cases {
        let Some(path) = library(&sandbox, name, &c) else { return };
        is_unavailable(&sandbox, &path.display().to_string(), words);
    }
}

/// The command continues whatever a library does while it is loaded.
#[test]
fn a_library_takes_nothing_down_but_itself() {
    let sandbox = Sandbox::open();
    let loading =
        |what: &str| format!("__attribute__((constructor)) static void go(void) {{ {what} }}\n");
    let cases = [
        (
            "crash.so",
            format!("#include <sys/prctl.h>\n{}", loading("prctl(PR_SET_DUMPABLE, 0); abort();")),
            "signal 6 ended the process",
        ),
        ("leave.so", loading("exit(0);"), "exited with status 0"),
        ("loop.so", loading("for (;;) getchar();"), "it was not loaded within 5 s"),
    ];
    for (name, c, words) in cases {
        let Some(path) = library(&sandbox, name, &format!("{c}{}", table(""))) else { return };
        is_unavailable(&sandbox, &path.display().to_string(), words);
    }
}

#[test]
fn a_library_that_crashes_in_a_run_fails_that_run() {
    let sandbox = Sandbox::open();
    let crash =
        "__attribute__((constructor)) static void go(void) { if (getenv(\"CRASH\")) abort(); }\n";
    let Some(path) = library(&sandbox, "late.so", &format!("{crash}{}", table(""))) else {
        return;
    };
    let sends = "static ssize_t k(void *e, const void *b, size_t n) { (void)e; (void)b; (void)n; abort(); }\n\
         static int p(const struct ipcperf_setup *s, void *e[2], uint64_t *g, char *w, size_t n) \
         { (void)s; (void)e; (void)g; (void)w; (void)n; puts(\"printed\"); return 0; }\n";
    let kills = format!("{sends}{}", table("m.send = k; m.open = p;"));
    let Some(kills) = library(&sandbox, "kills.so", &kills) else { return };
    let arguments = format!(
        "-m null,lib:{},lib:{} -b 64 --total 640 --repetitions 1",
        path.display(),
        kills.display()
    );
    let finished = sandbox.finish(sandbox.measuring(&arguments)).expect(4);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.samples.len(), 2, "null goes on: {finished:?}");
    let shown = |what: &str| {
        let of = file.failures.iter().filter(|failure| text(failure, "what") == what);
        of.map(|failure| text(failure, "where").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shown("set-up"), ["the library's function open failed: not today"; 2]);
    assert_eq!(shown("died"), ["the sender was killed by signal 6"; 2]);
    sandbox.assert_nothing_left();
}

/// Output of a library is discarded, because standard output carries the worker's report.
#[test]
fn what_a_library_prints_is_lost() {
    let sandbox = Sandbox::open();
    let prints = "static int p(const struct ipcperf_setup *s, void *e[2], uint64_t *g, char *w, size_t n) \
         { (void)s; (void)e; (void)g; (void)w; (void)n; puts(\"{}\"); return 0; }\n\
         __attribute__((constructor)) static void go(void) { puts(\"{}\"); }\n";
    let Some(path) = library(&sandbox, "loud.so", &format!("{prints}{}", table("m.open = p;")))
    else {
        return;
    };
    let arguments = format!("-m lib:{} -b 64 --total 640 --repetitions 1", path.display());
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    assert_eq!(ResultsFile::read(&sandbox.results()).samples.len(), 2);
}

/// Instruments of all kinds: the peers' own, BPF programs, counters that the peers read, and tools that attach.
const INSTRUMENTS: [&str; 7] =
    ["rusage", "kernel-objects", "syscalls", "sched", "counters", "profile", "strace"];

/// Returns those of [`INSTRUMENTS`] that are available here.
fn instruments(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.run("list instruments --json").expect(0).stdout;
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("an array");
    let here = listed.iter().filter(|entry| entry["available"] == true);
    let names = here.map(|entry| text(entry, "name").to_owned());
    names.filter(|name| INSTRUMENTS.contains(&name.as_str())).collect()
}

/// Runs `name` in `modes` with each of `instruments`, and returns the observations.
fn watched(sandbox: &Sandbox, name: &str, modes: &str, instruments: &[String]) -> Vec<Value> {
    let arguments = format!(
        "-m {name} --mode {modes} -b 4096 --total 64kB --repetitions 1 --instrument {}",
        instruments.join(",")
    );
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    assert!(file.failures.is_empty(), "{:?}", file.failures);
    lines(&sandbox.results()).into_iter().filter(|line| line["kind"] == "observation").collect()
}

#[test]
fn a_library_can_be_watched_by_every_instrument() {
    let Some(path) = pipes() else { return skip("the example of a library", "there is no cc") };
    let sandbox = Sandbox::open();
    let instruments = instruments(&sandbox);
    let name = format!("lib:{}", path.display());
    let seen = watched(&sandbox, &name, "2thread,2proc", &instruments);
    for instrument in &instruments {
        assert!(seen.iter().any(|row| row["instrument"] == **instrument), "{instrument}: {seen:?}");
    }
    let calls = seen.iter().filter(|row| row["instrument"] == "syscalls");
    for row in calls.filter(|row| row["role"] == "sender") {
        assert_eq!(
            (text(row, "syscall"), number(row, "returned_bytes")),
            ("write", 64_000),
            "{row}"
        );
    }
    sandbox.assert_nothing_left();
}

/// A library that reads standard input or prints does not interfere with the gate.
#[test]
fn a_library_that_reads_and_prints_can_be_watched() {
    let sandbox = Sandbox::open();
    let reads = "static int p(const struct ipcperf_setup *s, void *e[2], uint64_t *g, char *w, size_t n) \
         { (void)s; (void)e; (void)g; (void)w; (void)n; if (getchar() != EOF) abort(); puts(\"{}\"); return 0; }\n\
         static int q(void *e) { (void)e; puts(\"\\n\"); fflush(stdout); return getchar() == EOF ? 0 : -5; }\n";
    let source = format!("{reads}{}", table("m.open = p; m.prepare = q;"));
    let Some(path) = library(&sandbox, "reads.so", &source) else { return };
    let outside = |name: &String| !["rusage", "kernel-objects"].contains(&name.as_str());
    let instruments: Vec<String> =
        instruments(&sandbox).into_iter().filter(outside).take(1).collect();
    if instruments.is_empty() {
        return skip("a library that is watched", "no instrument watches here");
    }
    watched(&sandbox, &format!("lib:{}", path.display()), "2proc", &instruments);
}

#[test]
fn options_reach_a_library_which_may_refuse_them() {
    let Some(path) = pipes() else { return skip("the example of a library", "there is no cc") };
    let sandbox = Sandbox::open();
    let run = |set: &str| {
        let name = path.display();
        let arguments = format!("-m lib:{name} --set {set} -b 64 --total 640 --repetitions 1");
        sandbox.finish(sandbox.measuring(&arguments))
    };
    run("lib.capacity=8192,16384").expect(0);
    let file = ResultsFile::read(&sandbox.results());
    let granted = |bytes: u64| {
        let of =
            file.samples.iter().filter(|one| number(one, "kernel_buffer_granted_bytes") == bytes);
        of.filter(|one| text(&one["options"], "capacity") == bytes.to_string()).count()
    };
    assert_eq!([granted(8_192), granted(16_384)], [2, 2]);
    run("lib.color=red").expect(4);
    let file = ResultsFile::read(&sandbox.results());
    let place = text(&file.failures[0], "where");
    assert_eq!(
        place,
        "the library's function open failed: unknown option `color`; the only option is capacity"
    );
}
