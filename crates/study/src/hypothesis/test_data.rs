//! Synthetic results, for tests of the hypothesis tests.

use ipcperf_model::environment::Environment;
use ipcperf_model::workload::Kind;
use ipcperf_results::testing::sample;
use ipcperf_results::{Results, Sample, SetAside, parse};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::{Found, Verdict, judge};
use crate::{Mistake, Study};

/// The smallest level, bytes.
const SMALLEST: u64 = 512;

/// Synthetic samples of lines of cases.
pub(super) struct Made {
    samples: Vec<Sample>,
}

/// Creates `blocks` blocks of samples for `lines`, each a mechanism with its values by level. A value is multiplied by
/// 1e9 and deviates by up to the share `noise`.
pub(super) fn made(blocks: u32, noise: f64, lines: &[(&str, &[f64])]) -> Made {
    let mut samples = Vec::new();
    for block in 1..=blocks {
        for (place, (mechanism, values)) in lines.iter().enumerate() {
            for (level, value) in values.iter().enumerate() {
                let off = 1.0 + noise * wobble(block, place, level);
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "about a second, in nanoseconds"
                )]
                let elapsed_ns = (1e9 * value * off) as u64;
                samples.push(sample(mechanism, Kind::Stream, SMALLEST << level, block, elapsed_ns));
            }
        }
    }
    Made { samples }
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

/// Creates samples like [`made`], with random `noise` from `seed` that is first-order autoregressive along the blocks
/// of each case.
pub(super) fn drawn(seed: u64, blocks: u32, noise: Noise, lines: &[(&str, &[f64])]) -> Made {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let fresh = noise.deviation * (1.0 - noise.correlation.powi(2)).sqrt();
    let mut samples = Vec::new();
    for (mechanism, values) in lines {
        for (level, value) in values.iter().enumerate() {
            let mut off = noise.deviation * normal(&mut random);
            for block in 1..=blocks {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "about a second, in nanoseconds"
                )]
                let elapsed_ns = (1e9 * value * off.exp()) as u64;
                samples.push(sample(mechanism, Kind::Stream, SMALLEST << level, block, elapsed_ns));
                off = noise.correlation * off + fresh * normal(&mut random);
            }
        }
    }
    Made { samples }
}

/// Returns a standard normal variate (Box and Muller 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Returns a value from -1 to 1, without a pattern that two lines share.
fn wobble(block: u32, place: usize, level: usize) -> f64 {
    let seed = u64::from(block) * 7_919 + place as u64 * 104_729 + level as u64 * 1_299_709;
    let mixed = (seed ^ (seed >> 7)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    f64::from(u32::try_from(mixed).unwrap_or_default()) / f64::from(1_u32 << 23) - 1.0
}

impl Made {
    /// Excludes as disturbed the samples that satisfy `is_meant`, by mechanism, index of the level and block.
    pub(super) fn without(mut self, is_meant: impl Fn(&str, u64, u32) -> bool) -> Self {
        for one in &mut self.samples {
            let place = one.run.case.buffer_bytes.ilog2() - SMALLEST.ilog2();
            if is_meant(&one.run.case.mechanism, u64::from(place), one.run.block) {
                one.set_aside = Some(SetAside::Disturbed);
            }
        }
        self
    }

    /// Makes `mechanism` slower by `share` from each block to the next.
    pub(super) fn slowing(mut self, mechanism: &str, share: f64) -> Self {
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
    pub(super) fn classed(mut self, class: impl Fn(&str, u32) -> &'static str) -> Self {
        for one in &mut self.samples {
            one.cpu_pair_class = Some(class(&one.run.case.mechanism, one.run.block).to_owned());
        }
        self
    }

    /// Judges a claim with `keys`. The metric is the elapsed time, for which less is better.
    pub(super) fn found(&self, keys: &str) -> Found {
        self.found_by(&study(keys))
    }

    /// Judges the only claim of `study`.
    pub(super) fn found_by(&self, study: &Study) -> Found {
        judge(study, &self.results()).remove(0).found
    }

    /// Returns the samples as a results file.
    pub(super) fn results(&self) -> Results {
        Results { samples: self.samples.clone(), ..nothing() }
    }

    /// Returns the verdict as a word.
    pub(super) fn word(&self, keys: &str) -> &'static str {
        self.found(keys).verdict.word()
    }

    /// Returns the repetitions that would settle an inconclusive claim.
    pub(super) fn repetitions(&self, keys: &str) -> Option<u64> {
        match self.found(keys).verdict {
            Verdict::Inconclusive { repetitions, .. } => repetitions,
            other => panic!("{other:?} is not open"),
        }
    }
}

/// Returns a study with one claim that has `keys`.
pub(super) fn study(keys: &str) -> Study {
    read(keys).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

/// Returns the mistakes in a claim that has `keys`.
pub(super) fn mistakes(keys: &str) -> Vec<Mistake> {
    read(keys).expect_err("mistakes")
}

/// Reads a study with one claim that has `keys`.
pub(super) fn read(keys: &str) -> Result<Study, Vec<Mistake>> {
    let text = format!(
        "name = \"made\"\ntitle = \"Made\"\nquestion = \"What?\"\n[[matrix]]\n\
         mechanism = [\"pipe\", \"unix-stream\", \"fifo\", \"tcp\", \"unix-seqpacket\", \"shm-ring\", \
         \"null\"]\nbuffer = \"512..16MiB\"\n\
         [[matrix]]\nmechanism = \"pipe\"\nbuffer = \"512\"\ninstrument = \"counters\"\n\
         [[hypothesis]]\nid = \"H1\"\nclaim = \"It is so.\"\nmetric = \"elapsed\"\n{keys}\n"
    );
    Study::read(&text)
}

fn nothing() -> Results {
    let header = json!({
        "kind": "header", "schema": 1, "command": [], "quick": false, "study": null,
        "study_hash": null, "study_text": null, "seed": 1, "started": "2026-01-01T00:00:00Z",
        "plan": {
            "repetitions": 10, "deadline_s": 10.0, "cases": [], "refused": [], "unavailable": [],
            "unwatched": [{
                "instrument": "counters", "watches": false, "reason": "there is no PMU",
                "remedy": "measure on hardware"
            }]
        },
        "environment": Environment::default(), "limits": null
    });
    parse(format!("{header}\n").as_bytes()).unwrap()
}
