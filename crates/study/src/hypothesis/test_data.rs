//! Results made up in memory, for tests of what each test finds.

use ipcperf_model::environment::Environment;
use ipcperf_model::workload::Kind;
use ipcperf_results::testing::sample;
use ipcperf_results::{Results, Sample, SetAside, parse};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::{Found, Verdict, judge};
use crate::Study;

/// The smallest level.
const SMALLEST: u64 = 512;

/// Lines of cases, each of a mechanism, with its values by level.
pub(super) struct Made {
    samples: Vec<Sample>,
}

/// `blocks` values about 1e9 times each of `lines`, in each block and at each level a little off: by up to
/// `noise`, a share.
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

/// Lognormal noise for results that simulations judge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Noise {
    /// The standard deviation of the logarithm of a value.
    pub(super) deviation: f64,
    /// The correlation of a case's noise from one block to the next: 0 is independent.
    pub(super) correlation: f64,
}

impl Noise {
    /// Noise of `deviation` without correlation.
    pub(super) const fn independent(deviation: f64) -> Self {
        Self { deviation, correlation: 0.0 }
    }
}

/// As [`made`], with random `noise` from `seed`: first-order autoregressive along the blocks of each case.
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

/// Box and Muller 1958.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// From -1 to 1, without a pattern that two lines share.
fn wobble(block: u32, place: usize, level: usize) -> f64 {
    let seed = u64::from(block) * 7_919 + place as u64 * 104_729 + level as u64 * 1_299_709;
    let mixed = (seed ^ (seed >> 7)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    f64::from(u32::try_from(mixed).unwrap_or_default()) / f64::from(1_u32 << 23) - 1.0
}

impl Made {
    /// Sets the samples aside of which `is_meant` holds: mechanism, level's place and block.
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

    /// Makes levels of `option` out of sizes: 1, 2, 4 and so on, all at the smallest size.
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

    /// Puts the samples of which `is_meant` holds into a class of CPU pair.
    pub(super) fn classed(mut self, class: impl Fn(&str, u32) -> &'static str) -> Self {
        for one in &mut self.samples {
            one.cpu_pair_class = Some(class(&one.run.case.mechanism, one.run.block).to_owned());
        }
        self
    }

    /// What a claim with `keys` comes to: the time is compared, less is better.
    pub(super) fn found(&self, keys: &str) -> Found {
        self.found_by(&study(keys))
    }

    /// What the only claim of `study` comes to.
    pub(super) fn found_by(&self, study: &Study) -> Found {
        judge(study, &self.results()).remove(0).found
    }

    /// They as a file would have them.
    pub(super) fn results(&self) -> Results {
        Results { samples: self.samples.clone(), ..nothing() }
    }

    /// The word for it.
    pub(super) fn word(&self, keys: &str) -> &'static str {
        self.found(keys).verdict.word()
    }

    /// The repetitions told where it is open.
    pub(super) fn repetitions(&self, keys: &str) -> Option<u64> {
        match self.found(keys).verdict {
            Verdict::Inconclusive { repetitions, .. } => repetitions,
            other => panic!("{other:?} is not open"),
        }
    }
}

/// A study with one claim, which has `keys`.
pub(super) fn study(keys: &str) -> Study {
    let text = format!(
        "name = \"made\"\ntitle = \"Made\"\nquestion = \"What?\"\n[[matrix]]\n\
         mechanism = [\"pipe\", \"unix-stream\", \"fifo\", \"tcp\", \"unix-seqpacket\", \"shm-ring\", \
         \"null\"]\nbuffer = \"512..16MiB\"\n\
         [[matrix]]\nmechanism = \"pipe\"\nbuffer = \"512\"\ninstrument = \"counters\"\n\
         [[hypothesis]]\nid = \"H1\"\nclaim = \"It is so.\"\nmetric = \"elapsed\"\n{keys}\n"
    );
    Study::read(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
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
