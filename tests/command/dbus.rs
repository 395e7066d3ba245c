//! Broker processes of D-Bus: their figures, their CPUs, and the message if none is installed.

use std::fs;

use ipcperf_engine::mechanism;
use rustix::process::Signal;

use crate::processes::{descendants, signal, wait_for};
use crate::results::{ResultsFile, number};
use crate::sandbox::{HANG, NEVER_S, Sandbox};
use crate::skip::skip;

const WAYS: [(&str, &str); 2] = [("daemon", "dbus-daemon"), ("broker", "dbus-broker")];

/// Returns the installed brokers, with the names of their programs.
fn ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    WAYS.into_iter().filter(|(via, program)| {
        let options = [("via".to_owned(), (*via).to_owned())].into();
        let lack =
            mechanism::find(&"dbus-copy".into()).expect("it is listed").unavailable_value(&options);
        if lack.is_some() {
            skip(program, "not installed");
        }
        lack.is_none()
    })
}

#[test]
fn a_broker_has_figures_of_its_own_and_calls_of_a_library_are_not_known() {
    for via in ways().map(|(via, _)| via).chain(["peer"]) {
        let sandbox = Sandbox::open();
        let arguments = format!(
            "-m dbus-copy,dbus-memfd --set dbus-copy.via={via} --set dbus-memfd.via={via} -b 64 \
             --total 64000 --repetitions 1"
        );
        sandbox.finish(sandbox.measuring(&arguments)).expect(0);
        for sample in ResultsFile::read(&sandbox.results()).samples {
            assert_eq!(sample["sender_calls"], serde_json::Value::Null, "{sample}");
            assert_eq!(sample["receiver_calls"], serde_json::Value::Null, "{sample}");
            if via == "peer" {
                assert_eq!(sample.get("broker_cpu_ns"), None, "{sample}");
            } else {
                assert!(number(&sample, "broker_cpu_ns") > 0, "{sample}");
                assert_eq!(sample["broker_calls"], serde_json::Value::Null, "{sample}");
            }
        }
    }
}

/// Returns the process named `program` among the descendants of the command.
fn broker(command: u32, program: &str) -> Option<u32> {
    let name = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    descendants(command).into_iter().find(|pid| name(pid).trim_end() == program)
}

/// Returns the CPUs that a process may use, in the kernel's notation.
fn allowed_cpus(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.map(|cpus| cpus.trim().to_owned())
}

#[test]
fn a_broker_runs_on_the_cpus_of_the_peers() {
    let own = allowed_cpus(std::process::id()).expect("the allowed CPUs");
    let first = own.split([',', '-']).next().expect("a CPU").to_owned();
    for (via, program) in ways() {
        for (placement, cpus) in [(format!("{first}:{first}"), &first), ("free".to_owned(), &own)] {
            let sandbox = Sandbox::open();
            let arguments = format!(
                "-m dbus-copy --set dbus-copy.via={via} -b 64 --total 1000000GB --timeout {NEVER_S} \
                 --placement {placement} --repetitions 1"
            );
            let command = sandbox.begin(&arguments);
            let pid = wait_for(program, HANG, || broker(command.id(), program));
            // Between the fork and its first instructions, the process has the settings of the worker.
            assert_eq!(allowed_cpus(pid).as_ref(), Some(cpus), "{arguments}");
            signal(command.id(), Signal::KILL);
            command.finish(HANG);
            sandbox.assert_nothing_left();
        }
    }
}

#[test]
fn what_is_not_installed_is_named_with_its_package() {
    let sandbox = Sandbox::open();
    for (via, program) in WAYS {
        let mut plan = sandbox.command(&format!("plan -m dbus-copy --set dbus-copy.via={via}"));
        plan.env("PATH", sandbox.path("tmp"));
        let planned = sandbox.finish(plan).expect(3);
        let said = planned.stdout + &planned.stderr;
        let expected = format!("{program} is not installed (apt install {program})");
        assert!(said.contains(&expected), "{said}");
    }
    let mut list = sandbox.command("list mechanisms --json");
    list.env("PATH", sandbox.path("tmp"));
    let listed: serde_json::Value =
        serde_json::from_str(&sandbox.finish(list).expect(0).stdout).expect("JSON");
    let entries = listed.as_array().expect("an array");
    let entry = entries.iter().find(|entry| entry["name"] == "dbus-copy").expect("it is listed");
    assert_eq!(entry["available"], true);
    let unavailable = entry["options"][0]["unavailable"].as_array().expect("an array");
    let values: Vec<&str> = unavailable.iter().filter_map(|lack| lack["value"].as_str()).collect();
    assert_eq!(values, ["daemon", "broker"]);
}

#[test]
fn peers_that_speak_to_each_other_need_nobody() {
    let sandbox = Sandbox::open();
    let mut run = sandbox.measuring(
        "-m dbus-copy --set dbus-copy.via=peer -b 64 --total 6400 --verify --repetitions 1",
    );
    run.env("PATH", sandbox.path("tmp"));
    sandbox.finish(run).expect(0);
    assert_eq!(ResultsFile::read(&sandbox.results()).samples.len(), 2);
}
