//! `ipcperf report`: the page, its figures and its errors. `tests/report` tests the page in a browser.

use std::fs;
use std::path::Path;

use crate::laboratory::Laboratory;

/// Measures a few runs, with results at [`Laboratory::results`].
fn measured() -> Laboratory {
    let laboratory = Laboratory::open();
    let command =
        laboratory.measuring("-m pipe,tcp -w stream,round-trip -b 64,4KiB --repetitions 3");
    laboratory.finish(command).expect(0);
    laboratory
}

fn report(laboratory: &Laboratory, arguments: &[&Path]) -> crate::laboratory::Finished {
    let mut command = laboratory.command("report");
    command.arg(laboratory.results()).arg("-o").args(arguments);
    laboratory.finish(command)
}

#[test]
fn a_page_and_its_figures_are_written() {
    let laboratory = measured();
    let (page, figures) = (laboratory.path("report.html"), laboratory.path("new/figures"));
    let told = report(&laboratory, &[&page, Path::new("--figures"), &figures]).expect(0);
    let text = fs::read_to_string(page).unwrap();
    for section in ["id=\"short\"", "id=\"figure-bandwidth\"", "id=\"machine\"", "--seed"] {
        assert!(text.contains(section), "no {section}");
    }
    assert!(!text.contains("http://") || text.contains("http://www.w3.org"), "a foreign address");
    let svg = fs::read_to_string(figures.join("bandwidth.svg")).unwrap();
    assert!(svg.starts_with("<?xml") && svg.contains("bandwidth (bytes per second)"));
    // Text is converted to paths with the fonts of the machine; if there are none, that is reported.
    if !told.stdout.contains("no font") {
        assert!(fs::read(figures.join("bandwidth.pdf")).unwrap().starts_with(b"%PDF"));
        assert!(fs::read(figures.join("bandwidth.png")).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_file_that_was_cut_short_has_a_report_that_says_so() {
    let laboratory = measured();
    let text = fs::read_to_string(laboratory.results()).unwrap();
    fs::write(laboratory.results(), &text[..text.len() - 20]).unwrap();
    let page = laboratory.path("report.html");
    let told = report(&laboratory, &[&page]).expect(0);
    assert!(told.stderr.contains("torn"), "{}", told.stderr);
    assert!(fs::read_to_string(page).unwrap().contains("the last line is torn"));
}

#[test]
fn results_are_never_overwritten_by_their_report() {
    let laboratory = measured();
    let before = fs::read(laboratory.results()).unwrap();
    let told = report(&laboratory, &[&laboratory.results()]).expect(2);
    assert!(told.stderr.contains("name another"), "{}", told.stderr);
    assert_eq!(fs::read(laboratory.results()).unwrap(), before);
}

#[test]
fn a_page_that_cannot_be_written_is_told() {
    let laboratory = measured();
    let told = report(&laboratory, &[&laboratory.path("nowhere/report.html")]).expect(5);
    assert!(told.stderr.contains("cannot write"), "{}", told.stderr);
    assert_eq!(told.stderr.lines().count(), 1, "{}", told.stderr);
}
