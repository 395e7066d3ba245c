//! Results and plans with custom mechanisms: stored with absolute paths, and readable without the files.

use std::fs;

use crate::custom::pipes;
use crate::mistakes::refused;
use crate::results::{ResultsFile, text};
use crate::sandbox::Sandbox;
use crate::skip::skip;

#[test]
fn names_and_options_that_say_nothing_are_mistakes() {
    refused("run -m lib:", &["mechanism `lib:`"]);
    refused("run -m exec:", &["mechanism `exec:`", "exec:PROGRAM"]);
    refused("run -m lbi:x.so", &["mechanism `lbi:x.so`", "lib:FILE.so"]);
    refused("run -m pipe --set lib.x=1", &["--set lib.NAME needs a mechanism lib:FILE in -m"]);
    refused("run -m lib:/x --set lib.=1", &["lib.NAME=VALUES"]);
    refused("run -m lib:/x --set lib.a=1 --set lib.a=2", &["lib:/x.a is set twice"]);
}

#[test]
fn what_a_program_does_not_take_is_refused_in_the_plan() {
    for flag in ["--touch both", "--payload random", "--buffers cold"] {
        refused(
            &format!("run -m exec:/bin/sh {flag}"),
            &["the case is refused", "runs its own loop"],
        );
    }
    refused("run -m exec:/bin/sh --mode 2thread", &["exec:/bin/sh does not support mode 2thread"]);
}

#[test]
fn help_and_list_say_that_there_are_own_ones() {
    let sandbox = Sandbox::open();
    let help = sandbox.run("run --help").expect(0).stdout;
    let list = sandbox.run("list mechanisms").expect(0).stdout;
    for (text, page) in [("help", help), ("list", list)] {
        let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("exec:PROGRAM") && words.contains("lib:FILE.so"), "{text}: {page}");
    }
}

/// A relative path is resolved where it was typed, so it means the same from anywhere. The results can be read without
/// the library.
#[test]
fn a_file_is_gone_on_with_from_elsewhere_and_read_without_the_library() {
    let Some(library) = pipes() else { return skip("the example of a library", "there is no cc") };
    let sandbox = Sandbox::open();
    let (folder, results) = (sandbox.path("data"), sandbox.results());
    fs::copy(&library, folder.join("own.so")).expect("a copy");
    let arguments = "-m pipe,lib:./own.so -w stream,round-trip -b 64 --repetitions 3";
    let mut command = sandbox.measuring(arguments);
    command.current_dir(&folder);
    sandbox.finish(command).expect(0);
    let whole = format!("lib:{}", folder.join("own.so").display());
    let samples = ResultsFile::read(&results).samples;
    let of_own = samples.iter().filter(|sample| text(sample, "mechanism") == whole);
    assert_eq!(of_own.count(), 2 * 4, "{samples:?}");

    let text = fs::read_to_string(&results).expect("the results");
    let kept: Vec<&str> = text.lines().take(4).collect();
    fs::write(&results, kept.join("\n") + "\n").expect("a torn file");
    let file = results.display();
    sandbox.run(&format!("resume {file}")).expect(0);
    assert_eq!(ResultsFile::read(&results).samples.len(), 2 * 2 * 4);

    fs::remove_file(folder.join("own.so")).expect("it is there");
    let shown = sandbox.run(&format!("show {file}")).expect(0).stdout;
    assert!(shown.contains(&whole), "{shown}");
    let page = sandbox.path("page.html");
    sandbox.run(&format!("report {file} -o {}", page.display())).expect(0);
    for format in ["csv", "json", "markdown", "benchstat"] {
        let exported = sandbox.run(&format!("export {format} {file}")).expect(0).stdout;
        assert!(exported.contains("own.so"), "{format}: {exported}");
    }
}
