//! The slowest messages of a paced run, explained by `sched`.

use serde_json::Value;

use crate::instrumented::{can_use_instrument, seen};
use crate::noise_detection::on_a_busy_cpu;
use crate::results::{ResultsFile, number, text};
use crate::sandbox::Sandbox;

/// Returns the rows that explain the slowest messages, each with the sample of its run.
fn explained(sandbox: &Sandbox) -> Vec<(Value, Value)> {
    let path = sandbox.results();
    let mut rows = seen(&path, "sched");
    let samples = ResultsFile::read(&path).samples.into_iter();
    let own = samples.filter_map(|sample| {
        let rows = rows.remove(text(&sample, "run_id"))?;
        let row = rows.into_iter().find(|row| row["role"].is_null())?;
        Some((sample, row))
    });
    own.collect()
}

fn array<'a>(row: &'a Value, key: &str) -> &'a [Value] {
    row[key].as_array().unwrap_or_else(|| panic!("{key}: {row}"))
}

fn sum(rows: &[Value], key: &str) -> u64 {
    rows.iter().map(|row| number(row, key)).sum()
}

fn check(sample: &Value, row: &Value) {
    let slowest = array(row, "slowest");
    assert_eq!((number(row, "slow_messages"), slowest.len()), (20, 20), "{row}");
    assert_eq!(number(row, "unrecorded_messages"), 0);
    assert_eq!(sum(array(row, "causes"), "main_cause_of"), 20);
    let latencies: Vec<u64> = slowest.iter().map(|one| number(one, "latency_ns")).collect();
    assert!(latencies.is_sorted_by(|one, next| one >= next), "{latencies:?}");
    for message in slowest {
        assert_eq!(sum(array(message, "parts"), "ns"), number(message, "latency_ns"), "{message}");
        assert_eq!(message["bytes"], 64);
    }
    let kind = if sample["workload"] == "paced" { "one_way" } else { "round_trip" };
    #[allow(clippy::cast_precision_loss, reason = "a time of seconds")]
    let ratio = latencies[0] as f64 / sample[format!("{kind}_ns_max")].as_f64().expect("a maximum");
    // The histogram has two digits; the clocks of the two differ by some millionths.
    assert!((0.98..1.02).contains(&ratio), "{ratio}: {sample} {row}");
}

#[test]
fn the_slowest_messages_are_explained_in_every_mode() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "sched") {
        return;
    }
    let run = "-m tcp,shm-ring -w paced,request-reply --mode 1thread,2proc \
               --placement same,free -b 64 --rate 5k --duration 0.1 --repetitions 1 --instrument sched";
    sandbox.finish(sandbox.measuring(run)).expect(0);
    let explained = explained(&sandbox);
    assert_eq!(explained.len(), 2 * 2 * 2 * 2 * 2, "with a warm-up of each");
    explained.iter().for_each(|(sample, row)| check(sample, row));
}

#[test]
fn a_busy_cpu_shows_as_run_queue_delay() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "sched") {
        return;
    }
    let run = "-m pipe -w paced --placement same -b 64 --rate 1k --duration 1 --repetitions 1 \
               --instrument sched";
    on_a_busy_cpu(|| sandbox.finish(sandbox.measuring(run)).expect(0));
    for (_, row) in explained(&sandbox) {
        let causes = array(&row, "causes");
        let is_delay = |cause: &&Value| cause["cause"] == "run-queue-delay";
        let delayed: Vec<Value> = causes.iter().filter(is_delay).cloned().collect();
        let (part, whole) = (sum(&delayed, "total_ns"), sum(causes, "total_ns"));
        assert!(2 * part > whole, "{part} of {whole}: {row}");
    }
}

#[test]
fn a_trace_of_a_paced_run_lists_the_slowest_messages() {
    let sandbox = Sandbox::open();
    if !can_use_instrument(&sandbox, "sched") {
        return;
    }
    let case = "trace -m pipe -w paced -b 64 --rate 5k --duration 0.1 --placement free --out";
    let out = sandbox.results().display().to_string();
    let alone = sandbox.run(&format!("{case} {out} --instrument sched")).expect(0).stdout;
    let after = |text: &str, title: &str| {
        text.lines()
            .skip_while(|line| !line.starts_with(title))
            .take_while(|line| !line.is_empty())
            .count()
    };
    assert!(after(&alone, "Causes of the latencies above p99") > 3, "{alone}");
    assert_eq!(after(&alone, "Slowest messages"), 3 + 20, "{alone}");
    assert_eq!(alone.lines().find(|line| line.chars().count() > 100), None, "{alone}");
    let all = sandbox.run(&format!("{case} {out} --force --instrument sched,syscalls"));
    let all = all.expect(0).stdout;
    assert_eq!(after(&all, "Slowest messages"), 3 + 5, "{all}");
    assert!(all.lines().count() <= 60, "{all}");
}
