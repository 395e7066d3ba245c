//! Noise detection: disturbed runs are marked and retried; CPU distance and warm-up are stored.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ipcperf_engine::placement::Topology;
use ipcperf_model::placement::Placement;
use rustix::thread::{CpuSet, sched_setaffinity};
use serde_json::Value;

use crate::complete_file::{assert_whole, was_disturbed};
use crate::processes::find_within;
use crate::results::{ResultsFile, number};
use crate::sandbox::{HANG, Sandbox, with_time};
use crate::skip::skip;

/// Executes `ipcperf run` and returns the file and the printed summaries.
fn measured(sandbox: &Sandbox, arguments: &str) -> (ResultsFile, Vec<Value>) {
    let out = sandbox.results();
    let run = with_time(&format!("run {arguments} --json --force --out {}", out.display()));
    let finished = sandbox.finish(sandbox.detecting_noise(&run)).expect(0);
    (assert_whole(&out), serde_json::from_str(&finished.stdout).expect("an array"))
}

/// Does `work` while other threads keep the first allowed CPU busy.
pub(crate) fn on_a_busy_cpu<T>(work: impl FnOnce() -> T) -> T {
    let topology = Topology::read().expect("the allowed CPUs");
    let first = topology.cpus.first().expect("a CPU").number;
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| spin_on(first, &done));
        }
        let _ends = Ends(&done);
        work()
    })
}

/// Ends the spinning threads, even if the test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn spin_on(cpu: u32, done: &AtomicBool) {
    let mut only = CpuSet::new();
    only.set(cpu as usize);
    sched_setaffinity(None, &only).expect("an allowed CPU");
    while !done.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

#[test]
fn what_others_held_up_is_marked_made_again_and_kept() {
    let sandbox = Sandbox::open();
    let case = "-m pipe -b 4KiB --repetitions 2 --attempts 2";
    let (file, summaries) = on_a_busy_cpu(|| measured(&sandbox, case));
    let held_up = file.samples.iter().filter(|sample| was_disturbed(sample)).count() as u64;
    assert!(held_up > 0, "{:?}", file.samples);
    assert!(file.samples.iter().any(|sample| number(sample, "attempt") == 2));
    assert_eq!(number(&summaries[0], "disturbed"), held_up);
    let shown = sandbox.run(&format!("show {}", sandbox.results().display())).expect(0);
    assert!(shown.stdout.contains("were disturbed by other activity"), "{}", shown.stdout);
}

#[test]
fn one_attempt_is_one_run_however_disturbed() {
    let sandbox = Sandbox::open();
    let case = "-m pipe -b 4KiB --repetitions 2 --attempts 1";
    let (file, _) = on_a_busy_cpu(|| measured(&sandbox, case));
    assert_eq!(file.samples.len(), 3);
    assert!(file.samples.iter().all(|sample| number(sample, "attempt") == 1));
}

/// The survey has a time budget: it first makes every run once, because a disturbance often lasts longer than a retry.
#[test]
fn a_survey_retries_disturbed_runs_after_all_others() {
    let sandbox = Sandbox::open();
    let out = sandbox.results();
    let command =
        sandbox.detecting_noise(&format!("survey --quick --json --out {}", out.display()));
    // A run that a busy machine holds up for longer than its timeout fails.
    let ended = on_a_busy_cpu(|| sandbox.finish(command));
    assert!(matches!(ended.code(), Some(0 | 4)), "{}", ended.stderr);
    let file = ResultsFile::read(&out);
    // On a very busy machine, the time suffices only for the first block, which is excluded for another reason.
    let is_on_the_busy_cpu =
        |sample: &&Value| number(sample, "block") > 0 && sample["placement"] == "same";
    let held_up: Vec<&Value> = file.samples.iter().filter(is_on_the_busy_cpu).collect();
    assert!(held_up.iter().any(|one| was_disturbed(one)) || held_up.len() < 10, "{held_up:?}");
    let attempts: Vec<u64> = file.samples.iter().map(|one| number(one, "attempt")).collect();
    assert!(attempts.is_sorted(), "{attempts:?}");
    let planned = file.header["plan"]["cases"].as_array().expect("the cases").len() as u64
        * (number(&file.header["plan"], "repetitions") + 1);
    let made = attempts.iter().filter(|&&attempt| attempt == 1).count() as u64;
    let made = made + file.failures.iter().filter(|run| number(run, "attempt") == 1).count() as u64;
    // It is incomplete too if there was no time left to retry a disturbed run.
    let is_complete = file.footer["complete"] == true;
    assert!(made <= planned && (made == planned || !is_complete), "{made} of {planned}");
    assert!(is_complete || made < planned || held_up.iter().any(|one| was_disturbed(one)));
}

#[test]
fn two_cpus_have_a_class_where_their_probe_worked_and_one_has_none() {
    let topology = Topology::read().expect("the allowed CPUs");
    if topology.resolve(Placement::Split).is_err() {
        return skip("classes of CPU pairs", "there is but one CPU");
    }
    let sandbox = Sandbox::open();
    let case = "-m pipe -b 64 --total 64kB --placement same,split --repetitions 4";
    // A busy machine may never leave both CPUs free for a probe.
    let has_class = |sample: &Value| sample["cpu_pair_class"].is_string();
    let classified =
        || Some(measured(&sandbox, case).0.samples).filter(|all| all.iter().any(has_class));
    let samples = find_within(HANG, classified).expect("a run whose CPUs have a class");
    for sample in &samples {
        let probe = &sample["cacheline_round_trip_ns"];
        if sample["placement"] == "same" {
            assert!(probe.is_null() && sample["cpu_pair_class"].is_null(), "{sample}");
        } else if !was_disturbed(sample) {
            assert_eq!(probe.is_null(), sample["cpu_pair_class"].is_null(), "{sample}");
        }
    }
}

/// Later runs of a case warm up for the time that its first run needed to become steady, slice by slice.
#[test]
fn the_first_calibrated_run_is_sliced_and_others_warm_up_as_it_says() {
    let sandbox = Sandbox::open();
    let (file, _) =
        measured(&sandbox, "-m pipe,shm-ring -w stream,round-trip -b 4KiB --repetitions 1");
    let mut needed_ns: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in &file.samples {
        let case = sample["case_id"].as_str().expect("a case");
        let slices_ns = sample["warm_up_slices_ns"].as_array();
        assert_eq!(slices_ns.is_some(), number(sample, "block") == 0, "{sample}");
        let Some(slices_ns) = slices_ns else {
            let expected = needed_ns.get(case).copied().filter(|ns| *ns > 0);
            assert_eq!(sample["warm_up_ns"].as_u64(), expected, "{sample}");
            continue;
        };
        let slices_ns: Vec<u64> = slices_ns.iter().filter_map(Value::as_u64).collect();
        assert!(slices_ns.len() == 24 && slices_ns.iter().all(|ns| *ns > 0), "{sample}");
        assert!(sample["warm_up_ns"].is_null(), "{sample}");
        needed_ns.insert(case, unsteady_ns(&slices_ns));
    }
    assert_eq!(needed_ns.len(), 4);
}

/// Returns the duration of the slices before the steady state, or of half the slices if there was none.
#[allow(clippy::cast_precision_loss, reason = "milliseconds in ns")]
fn unsteady_ns(slices_ns: &[u64]) -> u64 {
    let series: Vec<f64> = slices_ns.iter().map(|&ns| ns as f64).collect();
    let unsteady = ipcperf_stats::warm_up(&series).unwrap_or(slices_ns.len() / 2);
    slices_ns[..unsteady].iter().sum()
}

#[test]
fn a_given_total_is_run_without_warming_up() {
    let sandbox = Sandbox::open();
    let (file, _) = measured(&sandbox, "-m pipe -b 64 --total 6400 --repetitions 1");
    for sample in &file.samples {
        for key in ["warm_up_ns", "warm_up_slices_ns"] {
            assert!(sample[key].is_null(), "{sample}");
        }
        assert_eq!(number(sample, "calibration_phases"), 0, "{sample}");
    }
}

/// Keeps structural tests independent of the machine; nobody must mistake such figures for a measurement.
#[test]
fn without_noise_detection_every_run_counts_and_the_file_says_so() {
    let sandbox = Sandbox::open();
    let run = sandbox.measuring("-m pipe -b 4KiB --repetitions 3");
    let finished = on_a_busy_cpu(|| sandbox.finish(run)).expect(0);
    assert!(finished.stderr.contains("noise detection is off"), "{}", finished.stderr);
    let file = ResultsFile::read(&sandbox.results());
    assert_eq!(file.header["environment"]["noise_detection"], false);
    assert_eq!(file.samples.len(), 4);
    assert!(file.samples.iter().all(|sample| !was_disturbed(sample)), "{:?}", file.samples);
    let resume = format!("resume {}", sandbox.results().display());
    let refused = sandbox.finish(sandbox.detecting_noise(&resume)).expect(2);
    assert!(refused.stderr.contains("IPCPERF_KEEP_DISTURBED"), "{}", refused.stderr);
    sandbox.run(&resume).expect(0);
}
