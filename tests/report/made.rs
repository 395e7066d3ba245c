//! Reports made by the real command. The tests of a process share one quick survey.

use std::fs;
use std::sync::OnceLock;

use crate::laboratory::Laboratory;

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
    let laboratory = Laboratory::open();
    let (results, report) = (laboratory.results(), laboratory.path("survey.html"));
    let mut command = laboratory.command("survey --quick");
    command.arg("--out").arg(&results).arg("--report").arg(&report);
    laboratory.finish(command).expect(0);
    let text = |path| fs::read_to_string(path).expect("a file of the survey");
    Survey { results: text(&results), report: text(&report) }
}

/// Returns the report on several results files, given as names and contents.
pub(crate) fn report_of(files: &[(&str, &str)]) -> String {
    let laboratory = Laboratory::open();
    let report = laboratory.path("report.html");
    let mut command = laboratory.command("report");
    for (name, contents) in files {
        let path = laboratory.path(name);
        fs::write(&path, contents).expect("a results file");
        command.arg(path);
    }
    command.arg("-o").arg(&report);
    laboratory.finish(command).expect(0);
    fs::read_to_string(report).expect("a report")
}
