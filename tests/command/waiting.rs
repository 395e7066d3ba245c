//! The option `wait` of mechanisms, from outside.

use crate::mistakes::refused;
use crate::results::ResultsFile;
use crate::sandbox::Sandbox;

#[test]
fn a_time_is_stored_in_its_shortest_form() {
    let sandbox = Sandbox::open();
    let cases = "-m pipe,shm-ring -b 64 --total 6400 --repetitions 1 \
                 --set pipe.wait=spin:0.02ms --set shm-ring.wait=spin";
    sandbox.finish(sandbox.measuring(cases)).expect(0);
    let samples = ResultsFile::read(&sandbox.results()).samples;
    let waits: Vec<&str> =
        samples.iter().filter_map(|sample| sample["options"]["wait"].as_str()).collect();
    assert_eq!(waits.len(), samples.len());
    assert!(waits.contains(&"spin:20us") && waits.contains(&"spin"), "{waits:?}");
}

#[test]
fn lists_name_the_values() {
    let sandbox = Sandbox::open();
    let manual = sandbox.run("list tcp").expect(0).stdout;
    assert!(manual.contains("block, poll, select, spin, spin:DURATION"), "{manual}");
    let manual = sandbox.run("list pty").expect(0).stdout;
    assert!(manual.contains("block, poll, select, spin, spin:DURATION"), "{manual}");
    let manual = sandbox.run("list futex").expect(0).stdout;
    assert!(manual.contains("block, spin, spin:DURATION"), "{manual}");
}

#[test]
fn mistakes_are_named() {
    for wrong in ["spin:", "spin:0us", "spin:11s", "spin:soon"] {
        let said = &["spin:DURATION", "from 1ns to 10s", wrong];
        refused(&format!("run -m pipe --set pipe.wait={wrong}"), said);
    }
    refused("run -m pipe --set pipe.wait=slect", &["did you mean `select`?"]);
    refused("run -m pipe --set pipe.wait=adaptive", &["block", "poll", "select", "spin"]);
    refused("run -m signal --set signal.wait=poll", &["block", "spin"]);
    refused("run -m shm-ring --set shm-ring.wait=poll", &["adaptive", "block", "spin"]);
}
