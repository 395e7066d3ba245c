//! Results files with known answers: the values of each planted truth, and the study that claims it.

use std::fmt::Write as _;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::file::{self, Design, Fields, Run, normal, seen, size, whole};
use crate::truths::{RateMetric, Setting, Truth, bytes};

/// Standard deviation between blocks, in units of the noise within them: blocks vary more than runs within a block.
const BETWEEN_BLOCKS: f64 = 3.0;
/// Share of samples that are excluded, in every other file with thirty repetitions.
const DISTURBED: f64 = 0.03;

/// Returns the ID of a claim: its position among the truths.
pub(crate) fn id(place: usize) -> String {
    format!("T{place}")
}

/// Returns the study that claims `truths`.
fn study(setting: Setting, truths: &[Truth]) -> String {
    let mut text = format!(
        "name = \"planted\"\ntitle = \"Planted\"\nquestion = \"What was planted?\"\n\n[sampling]\n\
         repetitions = {}\n\n[[matrix]]\nmechanism = [\"pipe\", \"unix-stream\"]\n\
         instrument = \"rusage\"\n\
         buffer = \"{}..{}\"\n",
        setting.repetitions,
        bytes(0.0),
        size(setting.levels - 1),
    );
    for (place, truth) in truths.iter().enumerate() {
        let metric = match truth.rate {
            Some(RateMetric::Bandwidth) => "\"bandwidth\"".to_owned(),
            Some(RateMetric::RoundTrips) => "\"round_trips_per_s\"".to_owned(),
            None => seen(&format!("t{place}")),
        };
        let _ = write!(
            text,
            "\n[[hypothesis]]\nid = \"{}\"\nclaim = \"Planted.\"\ntest = \"{}\"\nmetric = {metric}\n{}",
            id(place),
            truth.test,
            truth.keys,
        );
        if truth.test == "share-at-least" {
            let _ = writeln!(text, "of = {}", seen(&format!("w{place}")));
        }
    }
    text
}

/// Returns the results file of `setting` for `truths`.
pub(crate) fn results(setting: Setting, truths: &[Truth]) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(0x5eed_0000 + setting.file_index as u64);
    let study = study(setting, truths);
    let design =
        Design { study: &study, lines: 1, levels: setting.levels, blocks: setting.repetitions };
    let (mut factors, mut block) = (Vec::new(), None);
    file::results(&design, |run| {
        if block != Some(run.block) {
            block = Some(run.block);
            let factor = |_| BETWEEN_BLOCKS * setting.noise * normal(&mut random);
            factors = truths.iter().map(factor).collect();
        }
        measured(setting, truths, (run, &factors), &mut random)
    })
}

/// Returns the values of `run` in a block with `factors`, one for each truth.
fn measured(
    setting: Setting,
    truths: &[Truth],
    (run, factors): (Run, &[f64]),
    random: &mut ChaCha8Rng,
) -> Fields {
    let is_disturbed = is_disturbed(setting, run.block, random);
    let mut fields = Fields { is_disturbed, ..Fields::default() };
    for (place, truth) in truths.iter().enumerate() {
        let noise = setting.noise * normal(random);
        let log = [&truth.first, &truth.second][run.side][run.level];
        let value = factors[place] + noise;
        // A part and its whole share the block effect, and have separate noise.
        if truth.test == "share-at-least" {
            let whole = factors[place] + setting.noise * normal(random);
            fields.see(&format!("w{place}"), whole);
            add(&mut fields, (place, truth), value, log + 0.5_f64.ln());
        } else {
            add(&mut fields, (place, truth), value, log);
        }
    }
    fields
}

/// Adds one value of a truth: `log` is the logarithm of its median, and `noise` the deviation of this value.
fn add(fields: &mut Fields, (place, truth): (usize, &Truth), noise: f64, log: f64) {
    let _ = match truth.rate {
        Some(RateMetric::Bandwidth) => {
            write!(fields.sample, "\"bandwidth_bytes_per_s\":{},", whole(noise + log))
        }
        // The rate of round trips is 1e9 divided by this.
        Some(RateMetric::RoundTrips) => {
            write!(fields.sample, "\"round_trip_ns_mean\":{:?},", 1e3 * (-noise - log).exp())
        }
        None => {
            fields.see(&format!("t{place}"), noise + log);
            Ok(())
        }
    };
}

fn is_disturbed(setting: Setting, block: u32, random: &mut ChaCha8Rng) -> bool {
    let may_be = block > 0 && setting.repetitions >= 30 && setting.file_index % 4 > 1;
    may_be && random.random::<f64>() < DISTURBED
}
