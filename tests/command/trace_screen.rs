//! `ipcperf trace` shows what it saw on one screen, and profiles are those of all valid runs.

use crate::instrumented::can_use_instrument;
use crate::sandbox::{Sandbox, with_time};

/// Maximum number of lines of a trace, and of characters in a line.
const MAX_LINES: usize = 60;
const COLUMNS: usize = 100;

/// Traces one case with the given arguments and returns what is printed to standard output.
fn trace(sandbox: &Sandbox, arguments: &str) -> String {
    let command = format!("trace {arguments} --out {} --force", sandbox.results().display());
    sandbox.run(&with_time(&command)).expect(0).stdout
}

#[test]
fn a_trace_fits_one_screen_and_ends_with_its_cost() {
    let sandbox = Sandbox::open();
    let shown = trace(&sandbox, "-m pipe -b 4KiB --total 16MiB");
    assert!(shown.lines().count() <= MAX_LINES, "{} lines: {shown}", shown.lines().count());
    // The path of the file is as long as it is.
    let others = shown.lines().filter(|line| !line.starts_with("All "));
    let wide: Vec<&str> = others.filter(|line| line.chars().count() > COLUMNS).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    assert!(shown.contains("Time, context switches"), "{shown}");
    let path = sandbox.results().display().to_string();
    for command in [format!("ipcperf show {path}"), format!("ipcperf report {path} -o")] {
        assert!(shown.contains(&command), "{command}: {shown}");
    }
    // With several groups of instruments the line is so long that it is continued on indented ones.
    let last = shown.lines().rfind(|line| !line.starts_with(' ')).unwrap_or_default();
    assert!(last.starts_with("Cost of tracing: "), "{shown}");
    sandbox.assert_nothing_left();
}

#[test]
fn each_role_has_its_system_calls_and_functions() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "syscalls") || !can_use_instrument(&sandbox, "profile") {
        return;
    }
    let arguments = "-m pipe -b 4KiB --total 256MiB --instrument syscalls,profile,rusage";
    let shown = trace(&sandbox, arguments);
    for (role, call) in [("sender", "write"), ("receiver", "read")] {
        let table = shown.split_once(&format!("System calls: {role} ")).map(|(_, table)| table);
        let row = table.and_then(|table| table.lines().nth(3)).unwrap_or_default();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells.first(), Some(&call), "{shown}");
        assert!(row.contains("256 MiB") && row.contains('|'), "{shown}");
    }
    assert!(shown.contains("Hottest functions") && shown.contains(" samples"), "{shown}");
    assert!(shown.contains(" times the time per message without it"), "{shown}");
    let all = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0).stdout;
    assert!(all.contains("system calls of the sender"), "{all}");
    assert!(!all.contains("write a report"), "all of a trace is shown: {all}");
}

#[test]
fn a_profile_pools_the_valid_runs() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "profile") {
        return;
    }
    let run = "-m pipe -b 4KiB --total 1MiB --repetitions 3 --instrument profile";
    let shown = sandbox.finish(sandbox.measuring(run)).expect(0).stdout;
    assert!(shown.contains("(3 runs pooled)"), "{shown}");
    assert!(shown.contains(" in 3 runs, so shares are uncertain; --total "), "{shown}");
    assert!(!shown.contains("0.00 ns"), "{shown}");
}
