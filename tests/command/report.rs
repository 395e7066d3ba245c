//! `ipcperf report`: the page, its figures and its errors. `tests/report` tests the page in a browser.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// Measures a few runs, with results at [`Sandbox::results`].
fn measured() -> Sandbox {
    let sandbox = Sandbox::open();
    let command = sandbox.measuring("-m pipe,tcp -w stream,round-trip -b 64,4KiB --repetitions 3");
    sandbox.finish(command).expect(0);
    sandbox
}

fn report(sandbox: &Sandbox, arguments: &[&Path]) -> crate::sandbox::Finished {
    let mut command = sandbox.command("report");
    command.arg(sandbox.results()).arg("-o").args(arguments);
    sandbox.finish(command)
}

#[test]
fn a_page_and_its_figures_are_written() {
    let sandbox = measured();
    let (page, figures) = (sandbox.path("report.html"), sandbox.path("new/figures"));
    let printed = report(&sandbox, &[&page, Path::new("--figures"), &figures]).expect(0);
    let text = fs::read_to_string(page).unwrap();
    for section in ["id=\"short\"", "id=\"figure-bandwidth\"", "id=\"machine\"", "--seed"] {
        assert!(text.contains(section), "no {section}");
    }
    assert!(!text.contains("http://") || text.contains("http://www.w3.org"), "a foreign address");
    let svg = fs::read_to_string(figures.join("bandwidth.svg")).unwrap();
    assert!(svg.starts_with("<?xml") && svg.contains("bandwidth ("));
    if !cfg!(feature = "pdf-png") {
        assert!(printed.stdout.contains("--features pdf-png"), "{}", printed.stdout);
        return;
    }
    // Text is converted to paths with the fonts of the machine; if there are none, that is reported.
    if !printed.stdout.contains("no font") {
        assert!(fs::read(figures.join("bandwidth.pdf")).unwrap().starts_with(b"%PDF"));
        assert!(fs::read(figures.join("bandwidth.png")).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_file_that_was_cut_short_has_a_report_that_says_so() {
    let sandbox = measured();
    let text = fs::read_to_string(sandbox.results()).unwrap();
    fs::write(sandbox.results(), &text[..text.len() - 20]).unwrap();
    let page = sandbox.path("report.html");
    let printed = report(&sandbox, &[&page]).expect(0);
    assert!(printed.stderr.contains("the last line is incomplete"), "{}", printed.stderr);
    assert!(fs::read_to_string(page).unwrap().contains("the last line is incomplete"));
}

#[test]
fn results_are_never_overwritten_by_their_report() {
    let sandbox = measured();
    let before = fs::read(sandbox.results()).unwrap();
    let printed = report(&sandbox, &[&sandbox.results()]).expect(2);
    assert!(printed.stderr.contains("choose another path"), "{}", printed.stderr);
    assert_eq!(fs::read(sandbox.results()).unwrap(), before);
}

#[test]
fn a_page_that_cannot_be_written_is_told() {
    let sandbox = measured();
    let printed = report(&sandbox, &[&sandbox.path("nowhere/report.html")]).expect(5);
    assert!(printed.stderr.contains("cannot write"), "{}", printed.stderr);
    assert_eq!(printed.stderr.lines().count(), 1, "{}", printed.stderr);
}

#[test]
fn a_name_of_another_kind_of_file_is_refused() {
    let sandbox = Sandbox::open();
    let page = sandbox.path("report.pdf");
    let mut survey = sandbox.command("survey --report");
    survey.arg(&page);
    for refused in [report(&sandbox, &[&page]), sandbox.finish(survey)] {
        let refused = refused.expect(2);
        assert!(
            refused.stderr.contains("name it") && refused.stderr.contains("report.html"),
            "{}",
            refused.stderr
        );
    }
    assert!(!page.exists());
}
