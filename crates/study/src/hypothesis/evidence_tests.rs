//! Tests of the evidence written for scripts, across all hypothesis tests.

use serde_json::Value;

use super::test_data::{Noise, SyntheticData, simulated, synthetic};
use crate::Study;

const TWO_LINES: &str =
    "first = { mechanism = \"pipe\" }\nsecond = { mechanism = \"unix-stream\" }\n";

fn evidence_json(data: &SyntheticData, keys: &str) -> Value {
    serde_json::to_value(data.findings(keys)).unwrap()
}

fn two_lines(blocks: u32, noise: f64, first: &[f64]) -> SyntheticData {
    synthetic(blocks, noise, &[("pipe", first), ("unix-stream", &vec![1.0; first.len()])])
}

fn estimate(evidence: &Value, name: &str) -> Option<f64> {
    let estimates = evidence["parts"][0]["estimates"].as_array().unwrap();
    estimates.iter().find(|one| one["name"] == name).and_then(|one| one["value"].as_f64())
}

/// If some blocks lack a level, their mean must not be taken over other levels.
#[test]
fn a_mean_over_levels_is_of_blocks_that_have_them_all() {
    for test in ["faster-than", "ratio-within", "differs", "equivalent"] {
        let bound = if test == "ratio-within" { "above = 0.5\n" } else { "" };
        let keys = format!("test = \"{test}\"\n{TWO_LINES}{bound}");
        let evidence_without = |is_missing: fn(u64, u32) -> bool| {
            let data = two_lines(12, 0.01, &[0.5, 1.2, 1.2, 1.2]);
            evidence_json(
                &data.without(|name, level, block| name == "pipe" && is_missing(level, block)),
                &keys,
            )
        };
        let lacking = evidence_without(|level, block| level == 0 && block < 4);
        let without = evidence_without(|_, block| block < 4);
        let part = &lacking["parts"][0];
        assert_eq!(part["n"], 9, "{part:#}");
        assert_eq!(part["levels"]["incomplete_blocks"], 3, "{part:#}");
        assert_eq!(estimate(&lacking, "ratio"), estimate(&without, "ratio"));
    }
}

/// Otherwise one level that could hardly be measured would exclude all blocks.
#[test]
fn a_level_that_most_blocks_lack_is_left_out_and_named() {
    let data = two_lines(12, 0.01, &[0.5, 1.2, 1.2, 1.2])
        .without(|_, level, block| level == 3 && block > 5);
    let evidence = evidence_json(&data, &format!("test = \"faster-than\"\n{TWO_LINES}"));
    let part = &evidence["parts"][0];
    assert_eq!(part["n"], 12, "{part:#}");
    assert_eq!(part["levels"]["left_out"], serde_json::json!(["4 KiB"]), "{part:#}");
    assert_eq!(part["levels"]["used"], serde_json::json!(["512 B", "1 KiB", "2 KiB"]), "{part:#}");
}

#[test]
fn slopes_and_shapes_are_of_whole_lines_too() {
    let bends = synthetic(12, 0.0, &[("pipe", &[1.0, 1.0, 1.0, 8.0]), ("unix-stream", &[1.0; 4])]);
    let lacks = bends.without(|name, level, block| name == "pipe" && level == 3 && block < 6);
    let slope =
        evidence_json(&lacks, "test = \"slope\"\nwhere = { mechanism = \"pipe\" }\nabove = 0\n");
    let slopes = &slope["parts"][0];
    assert_eq!((&slopes["n"], &slopes["levels"]["incomplete_blocks"]), (&7.into(), &5.into()));
    let shape = evidence_json(&lacks, &format!("test = \"same-shape\"\n{TWO_LINES}"));
    assert_eq!(shape["by_level"][0]["n"], 7, "{shape:#}");
}

#[test]
fn a_plateau_that_is_supported_begins_where_it_was_claimed_to() {
    let keys = "test = \"plateaus-at\"\nwhere = { mechanism = \"pipe\" }\n";
    let skewed = synthetic(10, 0.001, &[("pipe", &[1.0, 1.0, 1.0, 1.15])]);
    let evidence = evidence_json(&skewed, keys);
    assert_eq!(evidence["verdict"], "supported");
    assert_eq!(estimate(&evidence, "from"), Some(1024.0), "{evidence:#}");
    let off = synthetic(10, 0.001, &[("pipe", &[1.0, 1.0, 1.0, 1.3])]);
    let evidence = evidence_json(&off, keys);
    assert_eq!(evidence["verdict"], "rejected");
    assert_eq!(estimate(&evidence, "from"), None, "{evidence:#}");
}

/// If a claim about all levels is false, it is false at one level at least, and chance supports that level with a
/// probability of at most alpha.
#[test]
fn levels_that_must_all_hold_need_no_correction() {
    let keys = format!("test = \"faster-than\"\nat = \"levels\"\n{TWO_LINES}");
    let clear = two_lines(7, 0.02, &[0.8; 12]);
    assert_eq!(clear.verdict_name(&keys), "supported");
    // If some levels suffice, chance has several opportunities.
    assert_eq!(clear.verdict_name(&format!("{keys}min_fraction = 0.5\n")), "inconclusive");
}

#[test]
fn verdicts_are_spelled_alike_everywhere() {
    let nothing = two_lines(10, 0.02, &[0.8]).without(|mechanism, _, _| mechanism == "pipe");
    let keys = format!("test = \"faster-than\"\n{TWO_LINES}");
    assert_eq!(evidence_json(&nothing, &keys)["verdict"], nothing.verdict_name(&keys));
    for (noise, value) in [(0.02, 0.8), (0.02, 1.2), (0.1, 1.0)] {
        let data = two_lines(10, noise, &[value]);
        assert_eq!(evidence_json(&data, &keys)["verdict"], data.verdict_name(&keys));
    }
}

#[test]
fn what_no_number_of_repetitions_settles_says_why() {
    let within = |noise: f64, above: f64| {
        let keys = format!("test = \"ratio-within\"\n{TWO_LINES}above = {above}\n");
        evidence_json(&two_lines(10, noise, &[2.0]), &keys)
    };
    let outcome =
        |evidence: &Value| (evidence["repetitions"].clone(), evidence["obstacle"].clone());
    let ratio = estimate(&within(0.4, 1.0), "ratio").unwrap();
    assert_eq!(outcome(&within(0.4, ratio * 1.001)), (Value::Null, "noise".into()));
    let ratio = estimate(&within(0.01, 1.0), "ratio").unwrap();
    assert_eq!(outcome(&within(0.01, ratio)), (Value::Null, "effect-at-bound".into()));
    let some = within(0.02, 1.99);
    assert!(some["repetitions"].as_u64().is_none_or(|n| n <= 3_000), "{some:#}");
}

#[test]
fn a_claim_of_means_says_so_and_names_the_levels_that_disagree() {
    let found = two_lines(10, 0.01, &[0.5, 0.5, 1.1, 1.1])
        .findings(&format!("test = \"faster-than\"\n{TWO_LINES}"));
    assert_eq!(found.verdict.name(), "supported");
    let evidence = serde_json::to_value(&found).unwrap();
    let disagreeing = evidence["parts"][0]["levels"]["disagreeing"].as_array().unwrap();
    let levels: Vec<&Value> = disagreeing.iter().map(|one| &one["level"]).collect();
    assert_eq!(levels, ["2 KiB", "4 KiB"]);
    assert!(disagreeing[0]["ratio"].as_f64().is_some_and(|ratio| ratio > 1.05));
}

#[test]
fn each_part_says_whether_its_blocks_are_independent() {
    let keys = format!("test = \"faster-than\"\n{TWO_LINES}");
    let few = evidence_json(&two_lines(10, 0.02, &[0.8]), &keys);
    assert_eq!(few["parts"][0]["independence"]["checked"], false);
    let noise = Noise { deviation: 0.02, correlation: 0.9 };
    let lines: [(&str, &[f64]); 2] = [("pipe", &[0.8]), ("unix-stream", &[1.0])];
    let dependent = evidence_json(&simulated(1, 60, noise, &lines), &keys);
    assert_eq!(dependent["parts"][0]["independence"]["dependent"], true, "{dependent:#}");
    assert_eq!(dependent["verdict"], "inconclusive");
    assert_eq!(dependent["obstacle"], "dependent-blocks");
    let free = evidence_json(&simulated(1, 60, Noise::independent(0.02), &lines), &keys);
    let seen = &free["parts"][0]["independence"];
    assert_eq!((&seen["checked"], &seen["dependent"]), (&true.into(), &false.into()), "{free:#}");
    assert!(seen["lag1"].is_number() && seen["trend_p"].is_number());
}

#[test]
fn the_rule_that_decides_is_named() {
    let keys = format!("test = \"faster-than\"\n{TWO_LINES}");
    let deciding_rule = |noise, value| {
        evidence_json(&two_lines(10, noise, &[value]), &keys)["parts"][0]["decided_by"].clone()
    };
    assert_eq!(deciding_rule(0.02, 0.8), "p");
    assert_eq!(deciding_rule(0.004, 1.0), "interval");
    assert_eq!(deciding_rule(0.1, 1.0), Value::Null);
}

#[test]
fn a_case_that_drifts_from_block_to_block_is_marked() {
    let keys = format!("test = \"faster-than\"\n{TWO_LINES}");
    let steady = two_lines(20, 0.02, &[0.8]);
    assert_eq!(evidence_json(&steady, &keys)["drifting"].as_array().map(Vec::len), Some(0));
    let drifts = steady.with_slowdown("pipe", 0.01);
    let evidence = evidence_json(&drifts, &keys);
    let one = &evidence["drifting"][0];
    assert!(one["case_id"].as_str().is_some_and(|id| id.starts_with("pipe/")), "{evidence:#}");
    assert!(one["change"].as_f64().is_some_and(|change| change > 0.1), "{evidence:#}");
}

/// Places along a line have the unit of their factor: bytes for sizes, none for a number of descriptors.
#[test]
fn places_have_the_unit_of_their_factor() {
    for (test, values, kind) in [
        ("rises", [1.0, 1.5, 2.0, 2.5], "peak-at"),
        ("rises-then-falls", [1.0, 2.0, 1.5, 1.2], "peak-at"),
        ("plateaus-at", [1.0, 2.0, 2.0, 2.0], "from"),
    ] {
        let unit = |data: &SyntheticData, mechanism: &str, over: &str| {
            let keys = format!(
                "test = \"{test}\"\nover = \"{over}\"\nwhere = {{ mechanism = \"{mechanism}\" }}\n"
            );
            let evidence =
                serde_json::to_value(data.study_findings(&descriptor_study(&keys))).unwrap();
            let estimates = evidence["parts"][0]["estimates"].as_array().unwrap();
            let place = estimates.iter().find(|one| one["kind"] == kind);
            place.unwrap_or_else(|| panic!("{test}: {evidence:#}"))["unit"].clone()
        };
        let sizes = synthetic(12, 0.02, &[("pipe", &values)]);
        assert_eq!(unit(&sizes, "pipe", "buffer"), "bytes", "{test}");
        let numbers = synthetic(12, 0.02, &[("dgram-fds", &values)]).over_option("fds");
        assert_eq!(unit(&numbers, "dgram-fds", "dgram-fds.fds"), "", "{test}");
    }
}

/// Returns a study of pipes with several sizes and one to eight descriptors, and one claim with `keys`.
fn descriptor_study(keys: &str) -> Study {
    let text = format!(
        "name = \"made\"\ntitle = \"Made\"\nquestion = \"What?\"\n\
         [[matrix]]\nmechanism = \"pipe\"\nbuffer = \"512..4KiB\"\n\
         [[matrix]]\nmechanism = \"dgram-fds\"\nbuffer = \"512\"\ndgram-fds.fds = [\"1\", \"2\", \"4\", \"8\"]\n\
         [[hypothesis]]\nid = \"H1\"\nclaim = \"It is so.\"\nmetric = \"elapsed\"\n{keys}\n"
    );
    Study::parse(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}
