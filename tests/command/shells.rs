//! Completions and the manual page, tested with the programs that read them.

use std::process::{Command, Output, Stdio};

use ipcperf_engine::mechanism::MECHANISMS;

use crate::sandbox::Sandbox;
use crate::skip::skip;

fn is_there(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", "command -v \"$0\"", program]).output();
    found.is_ok_and(|found| found.status.success())
}

/// Runs `program` with `arguments` and a file with the contents `script` as its last argument.
fn run_script(program: &str, arguments: &[&str], script: &str) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("script");
    std::fs::write(&path, script).expect("a file");
    let mut command = Command::new(program);
    command.args(arguments).arg(&path).env("MANWIDTH", "100").stdin(Stdio::null());
    command.output().expect("the program starts")
}

#[test]
fn shells_accept_their_completions() {
    let sandbox = Sandbox::open();
    for shell in ["bash", "zsh", "fish"] {
        let script = sandbox.run(&format!("completions {shell}")).expect(0).stdout;
        assert!(script.contains("until-ci"), "{shell}: {script}");
        // bash is required by these tests; the other shells are tested if present.
        if shell == "bash" || is_there(shell) {
            let checked = run_script(shell, &["-n"], &script);
            assert!(checked.status.success() && checked.stderr.is_empty(), "{shell}: {checked:?}");
        }
    }
}

/// Returns what bash offers for the last of `words`.
fn offered(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let script = sandbox.run("completions bash").expect(0).stdout;
    let [.., before, last] = words else {
        panic!("at least two words");
    };
    let (all, place) = (words.join("' '"), words.len() - 1);
    let asked = format!(
        "{script}\nCOMP_WORDS=('{all}') COMP_CWORD={place}\ncompopt() {{ :; }}\n\
         _ipcperf ipcperf '{last}' '{before}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    );
    let answer = run_script("bash", &[], &asked);
    assert!(answer.stderr.is_empty(), "{}", String::from_utf8_lossy(&answer.stderr));
    String::from_utf8(answer.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_and_the_names_of_the_registries() {
    let sandbox = Sandbox::open();
    let offered = |words: &[&str]| offered(&sandbox, words);
    assert_eq!(offered(&["ipcperf", "exp"]), ["export"]);
    let names = MECHANISMS.iter().map(|mechanism| mechanism.name);
    let pipes: Vec<&str> = names.filter(|name| name.starts_with("pi")).collect();
    assert_eq!(offered(&["ipcperf", "run", "-m", "pi"]), pipes);
    assert_eq!(offered(&["ipcperf", "run", "--workload", "ro"]), ["round-trip"]);
    assert_eq!(offered(&["ipcperf", "run", "--touch", "b"]), ["both"]);
    assert_eq!(offered(&["ipcperf", "plan", "--mode", "2t"]), ["2thread"]);
    assert_eq!(offered(&["ipcperf", "run", "--placement", "s"]), ["same", "split", "smt"]);
    assert_eq!(offered(&["ipcperf", "export", "csv"]), ["csv", "csv-runs", "csv-peers"]);
    assert_eq!(offered(&["ipcperf", "list", "exp"]), ["exporters"]);
    assert_eq!(offered(&["ipcperf", "list", "posix-m"]), ["posix-mq"]);
    assert_eq!(offered(&["ipcperf", "run", "--until"]), ["--until-ci"]);
}

#[test]
fn man_shows_the_page_without_a_warning() {
    let page = Sandbox::open().run("man").expect(0).stdout;
    if !is_there("man") {
        return skip("the manual page as man shows it", "no man here; install man-db");
    }
    let shown = run_script("man", &["--warnings", "-l"], &page);
    assert_eq!(String::from_utf8_lossy(&shown.stderr), "");
    let text = String::from_utf8(shown.stdout).expect("text");
    for heading in ["NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS", "FILES", "EXAMPLES", "SEE ALSO"]
    {
        assert!(text.lines().any(|line| line == heading), "no {heading}: {text}");
    }
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for phrase in ["ipcperf export [OPTIONS] <FORMAT> <FILE>...", "Some runs failed", "--until-ci"]
    {
        assert!(words.contains(phrase), "no `{phrase}`: {text}");
    }
}
