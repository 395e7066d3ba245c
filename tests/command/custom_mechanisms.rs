//! Programs and libraries named in a file. Reading a results file starts nothing, whatever is in it, and a file of
//! another user runs nothing without permission.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::complete_file::assert_whole;
use crate::custom::{SHARED, compile};
use crate::results::{ResultsFile, lines};
use crate::sandbox::Sandbox;
use crate::skip::skip;

/// A program and a library that leave a mark when they are started or loaded.
struct Trap {
    sandbox: Sandbox,
    mark: PathBuf,
    program: String,
    /// `None` if there is no compiler.
    library: Option<String>,
}

impl Trap {
    fn set() -> Self {
        let sandbox = Sandbox::open();
        let mark = sandbox.path("mark");
        let program = sandbox.path("evil.sh");
        fs::write(&program, format!("#!/bin/sh\necho started >> {}\n", mark.display()))
            .expect("a script");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its permissions");
        let (source, library) = (sandbox.path("evil.c"), sandbox.path("evil.so"));
        let c = format!(
            "#include <stdio.h>\n__attribute__((constructor)) static void mark(void) {{ \
             FILE *f = fopen(\"{}\", \"a\"); if (f) {{ fputs(\"loaded\\n\", f); fclose(f); }} }}\n",
            mark.display()
        );
        fs::write(&source, c).expect("a source");
        let made = compile(&source, &library, &SHARED);
        if made.is_none() {
            skip("a library that leaves a mark", "there is no cc");
        }
        let program = format!("exec:{}", program.display());
        let library = made.map(|()| format!("lib:{}", library.display()));
        Self { sandbox, mark, program, library }
    }

    fn mechanisms(&self) -> Vec<String> {
        std::iter::once(self.program.clone()).chain(self.library.clone()).collect()
    }

    fn is_sprung(&self) -> bool {
        self.mark.exists()
    }

    /// Runs `arguments` followed by the results file, and checks that this starts nothing.
    fn run_quietly(&self, arguments: &str, code: i32) -> String {
        let command = format!("{arguments} {}", self.sandbox.results().display());
        let finished = self.sandbox.run(&command).expect(code);
        assert!(!self.is_sprung(), "{command} runs what the file names");
        finished.stderr
    }

    /// Measures a pipe, then applies `change` to the lines of the file.
    fn file(&self, change: impl Fn(&mut Vec<Value>)) {
        let arguments = "-m pipe -b 64 --total 640 --repetitions 1";
        self.sandbox.finish(self.sandbox.measuring(arguments)).expect(0);
        self.change(change);
    }

    fn change(&self, change: impl Fn(&mut Vec<Value>)) {
        let mut all = lines(&self.sandbox.results());
        change(&mut all);
        let text: String = all.iter().map(|line| format!("{line}\n")).collect();
        fs::write(self.sandbox.results(), text).expect("a file");
    }
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

/// Returns a study with one matrix of `mechanisms`.
fn study(mechanisms: &[String]) -> String {
    format!(
        "name = \"odd\"\ntitle = \"a\"\nquestion = \"b\"\n[sampling]\nrepetitions = 1\n[[matrix]]\nname = \"m\"\n\
         mechanism = {}\nbuffer = 64\ntotal = 640\n[[hypothesis]]\nid = \"H1\"\nclaim = \"c\"\n\
         test = \"ratio-within\"\nmetric = \"ns_per_message\"\nfirst = {{ mechanism = \"pipe\" }}\n\
         second = {{ mechanism = \"null\" }}\nabove = 1.5\n",
        json!([mechanisms, &["pipe".to_owned(), "null".to_owned()]].concat())
    )
}

#[test]
fn a_file_that_is_only_read_starts_nothing() {
    let trap = Trap::set();
    for mechanism in trap.mechanisms() {
        trap.file(|all| {
            all[0]["study"] = json!("odd");
            all[0]["study_text"] = json!(study(std::slice::from_ref(&mechanism)));
            all[0]["plan"]["specs"][0]["spec"]["mechanism"] = json!(mechanism);
            all[0]["plan"]["refused"] = json!([]);
            for line in &mut all[1..] {
                if line["kind"] == "sample" {
                    line["mechanism"] = json!(mechanism);
                }
            }
        });
        let page = trap.sandbox.path("page.html");
        for command in
            ["show", "show --json", "study judge", "export csv", "export markdown", "export json"]
        {
            trap.run_quietly(command, 0);
        }
        trap.run_quietly(&format!("report -o {}", page.display()), 0);
    }
}

#[test]
fn a_study_that_is_only_read_starts_nothing() {
    let trap = Trap::set();
    let path = trap.sandbox.path("odd.toml");
    fs::write(&path, study(&trap.mechanisms())).expect("a study");
    let path = path.display();
    for command in ["study check", "study show", "study check --json"] {
        trap.sandbox.run(&format!("{command} {path}")).expect(0);
        assert!(!trap.is_sprung(), "{command} runs what the file names");
    }
    trap.file(|_| ());
    trap.run_quietly(&format!("study judge --study {path}"), 0);
    let page = trap.sandbox.path("page.html");
    trap.run_quietly(&format!("report --study {path} -o {}", page.display()), 0);
}

/// The command runs a case of a header only if the name of the case matches its specification.
#[test]
fn a_case_that_is_another_than_its_name_says_is_refused() {
    let trap = Trap::set();
    for mechanism in trap.mechanisms() {
        trap.file(|all| {
            all.truncate(2);
            all[0]["plan"]["specs"][0]["spec"]["mechanism"] = json!(mechanism);
        });
        for flag in ["", "--allow-custom", "--retry-failed"] {
            let printed = trap.run_quietly(&format!("resume {flag}"), 2);
            assert_eq!(printed.lines().count(), 1, "{printed}");
            for word in ["`pipe/stream/2proc/same/64", &format!("`{mechanism}/stream")] {
                assert!(printed.contains(word), "no {word}: {printed}");
            }
        }
    }
}

#[test]
fn specifications_that_nobody_could_have_asked_for_are_refused() {
    let trap = Trap::set();
    let text = |value: &str| json!(value);
    let changes: [(&str, Value, &str); 13] = [
        ("/plan/specs/0/spec/buffer_bytes", json!(0), "specification of `pipe/stream/2proc/same/0"),
        ("/plan/specs/0/spec/mode", text("2thread"), "2thread"),
        ("/plan/specs/0/spec/total_bytes", json!(0), "at least 1 byte"),
        ("/plan/specs/0/spec/cpus", Value::Null, "placement same"),
        ("/plan/specs/0/spec/warm_up", json!({ "slices": 4_000_000_000_u32 }), "warm-up"),
        ("/plan/specs/0/spec/repeats", json!({ "count": 9, "rest": "none" }), "repeat"),
        ("/plan/specs/0/spec/gate", text("closed"), "gate"),
        ("/plan/specs/0/twin_of", text("pipe"), "not the uninstrumented twin"),
        ("/plan/specs/0/name_parts/amount", json!({ "messages": 7 }), "messages=7"),
        ("/plan/attempts", json!(0), "--attempts"),
        ("/plan/timeout_s", json!(1e9), "--timeout"),
        ("/plan/repetitions", json!(0), "--repetitions"),
        ("/plan/cases", json!(["x"]), "`x`"),
    ];
    for (pointer, value, words) in changes {
        trap.file(|all| {
            all.truncate(2);
            let (table, key) = pointer.rsplit_once('/').expect("a path");
            all[0].pointer_mut(table).expect(pointer)[key] = value.clone();
        });
        let printed = trap.run_quietly("resume", 2);
        assert_eq!(printed.lines().count(), 1, "{printed}");
        assert!(printed.contains(words), "{pointer}: no `{words}`: {printed}");
    }
}

/// If name and specification agree, the values are still checked against the limits of the command line.
#[test]
fn values_beyond_those_of_the_command_line_are_refused() {
    let trap = Trap::set();
    let renamed = |mechanism: &str, buffer: u64, options: Value, name: &str| {
        let name = format!("{name}/stream/2proc/same/{buffer}");
        trap.file(|all| {
            all.truncate(1);
            all[0]["plan"]["cases"] = json!([name]);
            let spec = &mut all[0]["plan"]["specs"][0]["spec"];
            spec["mechanism"] = json!(mechanism);
            spec["buffer_bytes"] = json!(buffer);
            spec["options"] = options.clone();
        });
        let printed = trap.run_quietly("resume", 2);
        assert_eq!(printed.lines().count(), 1, "{printed}");
        printed
    };
    let printed = renamed("sysv-mq", 0, json!({}), "sysv-mq");
    assert!(printed.contains("at least 1 byte"), "{printed}");
    let deep = json!({ "depth": "99999999999" });
    let printed = renamed("io-uring", 64, deep, "io-uring[depth=99999999999]");
    assert!(printed.contains("1 to 64"), "{printed}");
    let printed = renamed("pipe", 64, json!({ "capcity": "1" }), "pipe[capcity=1]");
    assert!(printed.contains("`capacity`"), "{printed}");
    let printed = renamed("pipe", 1 << 60, json!({}), "pipe");
    assert!(printed.contains("in the available memory"), "{printed}");
    let printed = renamed("pip", 64, json!({}), "pip");
    assert!(printed.contains("did you mean `pipe`"), "{printed}");
}

#[test]
fn two_cases_of_one_name_are_refused() {
    let trap = Trap::set();
    trap.file(|all| {
        all.truncate(1);
        for key in ["cases", "specs"] {
            let list = all[0]["plan"][key].as_array_mut().expect("a list");
            list.push(list[0].clone());
        }
    });
    assert!(trap.run_quietly("resume", 2).contains("two cases have the name `pipe/"));
}

/// The names of instrument groups and of totals are checked against the plan too, so that files of instrumented runs
/// and of studies can be resumed.
#[test]
fn names_with_amounts_and_instruments_are_made_again() {
    let sandbox = Sandbox::open();
    let arguments =
        "-m pipe -b 64 --total 6400 --repetitions 1 --instrument rusage,sched,syscalls,counters";
    sandbox.finish(sandbox.measuring(arguments));
    let study = sandbox.path("two.toml");
    let matrix = |name: &str, rest: &str| {
        format!("[[matrix]]\nname = \"{name}\"\nmechanism = \"pipe\"\nbuffer = 64\n{rest}\n")
    };
    let text = format!(
        "name = \"two\"\ntitle = \"a\"\nquestion = \"b\"\n[sampling]\nrepetitions = 1\nattempts = 1\n{}{}{}",
        matrix("a", "messages = 5"),
        matrix("b", "total = \"1kB\"\npipe.capacity = [\"4096\", \"default\"]"),
        matrix("c", "messages = 7\ntouch = \"both\"\ninstrument = \"rusage\""),
    );
    fs::write(&study, text).expect("a study");
    let watched = sandbox.results();
    let placed = sandbox.path("study.jsonl");
    let run = format!("study run {} --out {}", study.display(), placed.display());
    sandbox.run(&run).expect(0);
    for path in [watched, placed] {
        let text = fs::read_to_string(&path).expect("results");
        let kept: String = text.split_inclusive('\n').take(2).collect();
        fs::write(&path, kept).expect("a file");
        let resumed = sandbox.run(&format!("resume {}", path.display()));
        assert!([Some(0), Some(4)].contains(&resumed.status.code()), "{}", resumed.stderr);
        assert_eq!(ResultsFile::read(&path).footer["complete"], true);
    }
}

/// A results file that belongs to the user is resumed, even with custom mechanisms. If others may have changed it, this
/// needs a flag.
#[test]
fn a_file_that_others_may_write_to_needs_a_flag_to_run_what_it_names() {
    let trap = Trap::set();
    let arguments =
        format!("-m pipe,{} -b 64 --total 640 --repetitions 1 --timeout 5", trap.program);
    trap.sandbox.finish(trap.sandbox.measuring(&arguments)).expect(4);
    let results = trap.sandbox.results();
    let mode = fs::metadata(&results).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode & 0o022, 0, "nobody else may write to results: {mode:o}");
    trap.change(|all| all.truncate(1));
    let torn = fs::read(&results).expect("a file");
    let reset = || {
        fs::write(&results, &torn).expect("a file");
        let _ = fs::remove_file(&trap.mark);
    };
    for mode in [0o664, 0o646, 0o666] {
        reset();
        chmod(&results, mode);
        let printed = trap.run_quietly("resume", 2);
        let printed: Vec<&str> = printed.lines().collect();
        assert_eq!(printed.len(), 2, "{printed:?}");
        assert!(
            printed[0].ends_with(&format!("names a program to run: {}", trap.program)),
            "{printed:?}"
        );
        for word in [
            &*trap.program,
            "--allow-custom",
            "other users may write to it",
            "names programs to run",
        ] {
            assert!(printed[1].contains(word), "no {word}: {printed:?}");
        }
        assert_eq!(fs::read(&results).expect("a file"), torn);
    }
    let file = results.display();
    let allowed = trap.sandbox.run(&format!("resume --allow-custom {file}")).expect(4);
    assert!(
        allowed.stderr.lines().next().is_some_and(|line| line.ends_with(&trap.program)),
        "{}",
        allowed.stderr
    );
    assert!(trap.is_sprung());
    reset();
    chmod(&results, 0o644);
    trap.sandbox.run(&format!("resume {file}")).expect(4);
    assert!(trap.is_sprung());
}

#[test]
fn a_file_of_another_user_needs_a_flag_to_run_what_it_names() {
    let trap = Trap::set();
    let path = trap.sandbox.path("odd.toml");
    fs::write(&path, study(&trap.mechanisms())).expect("a study");
    if std::os::unix::fs::chown(&path, Some(54_321), None).is_err() {
        return skip("a file of another user", "only root gives files away");
    }
    let printed = trap.sandbox.run(&format!("study plan {}", path.display())).expect(2).stderr;
    assert!(printed.contains("belongs to another user (uid 54321)"), "{printed}");
    assert!(!trap.is_sprung());
}

#[test]
fn a_study_that_others_may_write_to_needs_a_flag_to_run_what_it_names() {
    let trap = Trap::set();
    let path = trap.sandbox.path("odd.toml");
    fs::write(&path, study(&trap.mechanisms())).expect("a study");
    chmod(&path, 0o666);
    let out = trap.sandbox.path("out.jsonl");
    for command in ["study run", "study plan", "plan", "study run --quick", "study run --only H1"] {
        let printed = trap.sandbox.run(&format!("{command} {}", path.display())).expect(2);
        assert_eq!(printed.stdout, "");
        let listed =
            printed.stderr.lines().filter(|line| line.contains("names a program to run: "));
        assert_eq!(listed.count(), trap.mechanisms().len(), "{command}: {}", printed.stderr);
        assert!(
            printed.stderr.contains("add --allow-custom to run them"),
            "{command}: {}",
            printed.stderr
        );
        assert!(!trap.is_sprung(), "{command}");
    }
    let allowed = format!("study plan --allow-custom {}", path.display());
    trap.sandbox.run(&allowed).expect(0);
    chmod(&path, 0o600);
    let run = format!("study run {} --out {}", path.display(), out.display());
    trap.sandbox.run(&run).expect(4);
    assert!(trap.is_sprung());
}

/// A file without custom mechanisms may belong to anyone.
#[test]
fn a_file_without_custom_mechanisms_needs_no_flag() {
    let trap = Trap::set();
    trap.file(|all| all.truncate(2));
    chmod(&trap.sandbox.results(), 0o666);
    trap.run_quietly("resume", 0);
    assert_whole(&trap.sandbox.results());
}
