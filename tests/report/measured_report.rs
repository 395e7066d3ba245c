//! Reports made by the real command. The tests of a process share one quick survey.

use std::fs;
use std::sync::OnceLock;

use crate::sandbox::Sandbox;

/// Results file and report of one survey.
pub(crate) struct Survey {
    pub(crate) results: String,
    pub(crate) report: String,
}

/// Returns the survey of this process, made at the first call.
pub(crate) fn survey() -> &'static Survey {
    static SURVEY: OnceLock<Survey> = OnceLock::new();
    SURVEY.get_or_init(make_survey)
}

fn make_survey() -> Survey {
    let sandbox = Sandbox::open();
    let (results, report) = (sandbox.results(), sandbox.path("survey.html"));
    let mut command = sandbox.command("survey --quick");
    command.arg("--out").arg(&results);
    sandbox.finish(command).expect(0);
    // On a busy machine the survey runs out of time; what it left out is measured here.
    sandbox.run(&format!("resume {}", results.display())).expect(0);
    let mut command = sandbox.command("report");
    command.arg(&results).arg("-o").arg(&report);
    sandbox.finish(command).expect(0);
    let text = |path| fs::read_to_string(path).expect("a file of the survey");
    Survey { results: text(&results), report: text(&report) }
}

/// Returns the report on several results files, given as names and contents.
pub(crate) fn report_of(files: &[(&str, &str)]) -> String {
    let sandbox = Sandbox::open();
    let report = sandbox.path("report.html");
    let mut command = sandbox.command("report");
    for (name, contents) in files {
        let path = sandbox.path(name);
        fs::write(&path, contents).expect("a results file");
        command.arg(path);
    }
    command.arg("-o").arg(&report);
    sandbox.finish(command).expect(0);
    fs::read_to_string(report).expect("a report")
}
