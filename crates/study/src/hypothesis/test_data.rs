//! Synthetic results, for tests of the hypothesis tests.

use ipcperf_model::environment::Environment;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::testing::sample;
use ipcperf_results::{ExclusionReason, Results, Sample, parse};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use serde_json::json;

use super::{Findings, Verdict, judge};
use crate::{Mistake, Study};

/// The smallest level, bytes.
const SMALLEST: u64 = 512;

/// Synthetic samples of lines of cases.
pub(super) struct SyntheticData {
    samples: Vec<Sample>,
}

/// Creates `blocks` blocks of samples for `lines`, each a mechanism with its values by level. A value is multiplied by
/// 1e9 and deviates by up to the share `noise`.
pub(super) fn synthetic(blocks: u32, noise: f64, lines: &[(&str, &[f64])]) -> SyntheticData {
    let mut samples = Vec::new();
    for block in 1..=blocks {
        for (line, (mechanism, values)) in lines.iter().enumerate() {
            for (level, value) in values.iter().enumerate() {
                let factor = 1.0 + noise * deterministic_noise(block, line, level);
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "about a second, in nanoseconds"
                )]
                let elapsed_ns = (1e9 * value * factor) as u64;
                samples.push(sample(
                    mechanism,
                    WorkloadKind::Stream,
                    SMALLEST << level,
                    block,
                    elapsed_ns,
                ));
            }
        }
    }
    SyntheticData { samples }
}

/// Lognormal noise for simulations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// Standard deviation of the logarithm of a value.
    pub(super) deviation: f64,
    /// Correlation of a case's noise from one block to the next: 0 is independent.
    pub(super) correlation: f64,
}

impl Noise {
    /// Returns noise of `deviation` without correlation.
    pub(super) const fn independent(deviation: f64) -> Self {
        Self { deviation, correlation: 0.0 }
    }
}

/// Creates samples like [`synthetic`], with random `noise` from `seed` that is first-order autoregressive along the
/// blocks of each case.
pub(super) fn simulated(
    seed: u64,
    blocks: u32,
    noise: Noise,
    lines: &[(&str, &[f64])],
) -> SyntheticData {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let innovation = noise.deviation * (1.0 - noise.correlation.powi(2)).sqrt();
    let mut samples = Vec::new();
    for (mechanism, values) in lines {
        for (level, value) in values.iter().enumerate() {
            let mut log_noise = noise.deviation * normal(&mut random);
            for block in 1..=blocks {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "about a second, in nanoseconds"
                )]
                let elapsed_ns = (1e9 * value * log_noise.exp()) as u64;
                samples.push(sample(
                    mechanism,
                    WorkloadKind::Stream,
                    SMALLEST << level,
                    block,
                    elapsed_ns,
                ));
                log_noise = noise.correlation * log_noise + innovation * normal(&mut random);
            }
        }
    }
    SyntheticData { samples }
}

/// Returns a standard normal variate (Box and Muller 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Returns a value from -1 to 1, without a pattern that two lines share.
fn deterministic_noise(block: u32, line: usize, level: usize) -> f64 {
    let seed = u64::from(block) * 7_919 + line as u64 * 104_729 + level as u64 * 1_299_709;
    let mixed = (seed ^ (seed >> 7)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    f64::from(u32::try_from(mixed).unwrap_or_default()) / f64::from(1_u32 << 23) - 1.0
}

impl SyntheticData {
    /// Excludes as disturbed the samples that satisfy `is_selected`, by mechanism, index of the level and block.
    pub(super) fn without(mut self, is_selected: impl Fn(&str, u64, u32) -> bool) -> Self {
        for one in &mut self.samples {
            let level = one.run.case.buffer_bytes.ilog2() - SMALLEST.ilog2();
            if is_selected(&one.run.case.mechanism, u64::from(level), one.run.block) {
                one.excluded = Some(ExclusionReason::Disturbed);
            }
        }
        self
    }

    /// Makes `mechanism` slower by `share` from each block to the next.
    pub(super) fn with_slowdown(mut self, mechanism: &str, share: f64) -> Self {
        for one in self.samples.iter_mut().filter(|one| one.run.case.mechanism == mechanism) {
            let factor = 1.0 + share * f64::from(one.run.block);
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "about a second, in nanoseconds"
            )]
            let elapsed_ns = (one.elapsed_ns as f64 * factor) as u64;
            one.elapsed_ns = elapsed_ns;
        }
        self
    }

    /// Converts sizes to levels of `option`: 1, 2, 4 and so on, all at the smallest size.
    pub(super) fn over_option(mut self, option: &str) -> Self {
        for one in &mut self.samples {
            let case = &mut one.run.case;
            let level = (case.buffer_bytes / SMALLEST).to_string();
            case.buffer_bytes = SMALLEST;
            case.case_id = format!("{}[{option}={level}]", case.mechanism);
            case.options.insert(option.to_owned(), level);
        }
        self
    }

    /// Sets the CPU distance class of each sample, by mechanism and block.
    pub(super) fn with_classes(mut self, class: impl Fn(&str, u32) -> &'static str) -> Self {
        for one in &mut self.samples {
            one.cpu_pair_class = Some(class(&one.run.case.mechanism, one.run.block).to_owned());
        }
        self
    }

    /// Judges a claim with `keys`. The metric is the elapsed time, for which less is better.
    pub(super) fn findings(&self, keys: &str) -> Findings {
        self.study_findings(&study(keys))
    }

    /// Judges the only claim of `study`.
    pub(super) fn study_findings(&self, study: &Study) -> Findings {
        judge(study, &self.results()).remove(0).findings
    }

    /// Returns the samples as a results file.
    pub(super) fn results(&self) -> Results {
        Results { samples: self.samples.clone(), ..empty_results() }
    }

    /// Returns the verdict as a word.
    pub(super) fn verdict_name(&self, keys: &str) -> &'static str {
        self.findings(keys).verdict.name()
    }

    /// Returns the repetitions that would settle an inconclusive claim.
    pub(super) fn needed_repetitions(&self, keys: &str) -> Option<u64> {
        match self.findings(keys).verdict {
            Verdict::Inconclusive { repetitions, .. } => repetitions,
            other => panic!("{other:?} is not open"),
        }
    }
}

/// Returns a study with one claim that has `keys`.
pub(super) fn study(keys: &str) -> Study {
    parse_study(keys).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// Returns the mistakes in a claim that has `keys`.
pub(super) fn mistakes(keys: &str) -> Vec<Mistake> {
    parse_study(keys).expect_err("mistakes")
}

/// Reads a study with one claim that has `keys`.
pub(super) fn parse_study(keys: &str) -> Result<Study, Vec<Mistake>> {
    let text = format!(
        "name = \"made\"\ntitle = \"Made\"\nquestion = \"What?\"\n[[matrix]]\n\
         mechanism = [\"pipe\", \"unix-stream\", \"fifo\", \"tcp\", \"unix-seqpacket\", \"shm-ring\", \
         \"null\"]\nbuffer = \"512..16MiB\"\n\
         [[matrix]]\nmechanism = \"pipe\"\nbuffer = \"512\"\ninstrument = \"counters\"\n\
         [[hypothesis]]\nid = \"H1\"\nclaim = \"It is so.\"\nmetric = \"elapsed\"\n{keys}\n"
    );
    Study::parse(&text)
}

fn empty_results() -> Results {
    let header = json!({
        "kind": "header", "schema": 2, "command": [], "quick": false, "study": null,
        "study_hash": null, "study_text": null, "seed": 1, "started": "2026-01-01T00:00:00Z",
        "plan": {
            "repetitions": 10, "timeout_s": 10.0, "cases": [], "refused": [], "unavailable": [],
            "unavailable_instruments": [{
                "instrument": "counters", "partly_available": false, "reason": "there is no PMU",
                "remedy": "measure on hardware"
            }]
        },
        "environment": Environment::default(), "limits": null
    });
    parse(format!("{header}\n").as_bytes()).unwrap()
}
