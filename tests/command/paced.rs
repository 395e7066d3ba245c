//! `--rate` and what belongs to it, from outside.

use serde_json::Value;

use crate::mistakes::refused;
use crate::results::ResultsFile;
use crate::sandbox::Sandbox;

/// A few short runs: two rates, one of which no mechanism carries.
const CASES: &str = "-m pipe -w paced -b 64 --rate 2k,200M --duration 0.02 --repetitions 2";

#[test]
fn every_rate_has_a_row_and_one_that_is_too_high_is_saturated() {
    let sandbox = Sandbox::open();
    let ran = sandbox.finish(sandbox.measuring(CASES)).expect(0).stdout;
    let row = |rate: &str| {
        let found = ran.lines().find(|line| line.contains(rate));
        found.unwrap_or_else(|| panic!("no row with {rate}: {ran}")).to_owned()
    };
    // How much of the low rate is carried depends on what else the machine does.
    row(" 2k/s ");
    row(" 200M/s ");
    assert!(ran.contains(" saturated ") && ran.contains("p99 from send"), "{ran}");
    assert_eq!(ran.lines().find(|line| line.chars().count() > 100), None, "{ran}");
    let shown = sandbox.run(&format!("show --json {}", sandbox.results().display())).expect(0);
    let cases: Vec<Value> = serde_json::from_str(&shown.stdout).expect("an array");
    let rates: Vec<&Value> = cases.iter().map(|case| &case["rate_per_s"]).collect();
    assert_eq!(rates, [2_000, 200_000_000]);
    assert_eq!(cases[1]["paced"]["saturated_runs"], 2, "{}", cases[1]);
}

#[test]
fn every_run_has_a_schedule_of_its_own_and_the_seed_repeats_it() {
    let drawn = || {
        let sandbox = Sandbox::open();
        let cases = "-m pipe -w paced -b 64 --rate 2k --arrivals poisson --duration 0.02 \
                     --repetitions 2 --seed 7";
        sandbox.finish(sandbox.measuring(cases)).expect(0);
        let samples = ResultsFile::read(&sandbox.results()).samples;
        samples.iter().map(|one| one["scheduled_per_s"].clone()).collect::<Vec<Value>>()
    };
    let first = drawn();
    assert_eq!(first.len(), 3);
    assert!(first[0] != first[1] && first[1] != first[2], "{first:?}");
    assert_eq!(first, drawn());
}

#[test]
fn results_are_exported_with_their_latencies() {
    let sandbox = Sandbox::open();
    sandbox.finish(sandbox.measuring(CASES)).expect(0);
    let export = |format: &str| {
        sandbox.run(&format!("export {format} {}", sandbox.results().display())).expect(0).stdout
    };
    let runs = export("csv-runs");
    let header = runs.lines().next().expect("a header");
    assert!(header.contains("one_way_ns_p50") && !header.contains("histogram"), "{header}");
    assert!(export("csv").lines().next().is_some_and(|header| {
        header.contains("rate_per_s") && header.contains("paced_latency_ns_p50_median")
    }));
    assert!(export("benchstat").contains("/rate=2000"));
    let distributions = export("hgrm");
    for kind in [" one_way]", " one_way_from_send]"] {
        let count = distributions.lines().filter(|line| line.ends_with(kind)).count();
        assert_eq!(count, 2, "{distributions}");
    }
}

#[test]
fn a_plan_knows_how_long_paced_runs_take() {
    let sandbox = Sandbox::open();
    let planned = sandbox.run("plan -m pipe -w paced --rate 10k --duration 1min --repetitions 1");
    assert!(planned.expect(0).stdout.contains("min"), "two runs of a minute");
}

#[test]
fn mistakes_are_named() {
    refused("run -m pipe -w paced", &["-w paced needs --rate"]);
    refused("run -m pipe --arrivals poisson", &["--arrivals poisson needs --rate"]);
    refused("run -m pipe --duration 5s", &["--duration needs --rate"]);
    refused("run -m pipe --rate fast", &["--rate", "`fast` is not a rate"]);
    refused("run -m pipe --rate 0", &["at least 1 message per second"]);
    refused("run -m pipe --rate 1k --arrivals burst:0", &["--arrivals takes", "burst:K"]);
    refused("run -m pipe --rate 1k --pacer spni", &["did you mean `spin`?"]);
    refused("run -m pipe --rate 1k --duration 0", &["--duration must be more than 0 s"]);
    refused("run -m pipe --rate 1k --total 1MiB", &["--total does not apply with --rate"]);
    refused("run -m pipe -b 64 --rate 1k --pacer spin", &["cannot run", "use --pacer sleep"]);
    refused("run -m udp -b 8 --rate 1k", &["needs at least 16 bytes"]);
}
