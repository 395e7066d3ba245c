//! Results files as the command writes them, with values that are made up. All but the values is from a
//! run of the command.

use std::fmt::Write as _;
use std::sync::OnceLock;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::laboratory::Laboratory;
use crate::truths::{Rate, Setting, Truth, bytes};

const MECHANISMS: [&str; 2] = ["pipe", "unix-stream"];
/// How far blocks lie apart, in units of the noise within them: what a block has in common is more.
const BETWEEN_BLOCKS: f64 = 3.0;
/// One kept sample in so many is set aside, in every other file with thirty repetitions.
const DISTURBED: f64 = 0.03;
/// What a value is that is as large as the others.
const UNIT: f64 = 1e9;

/// A header and a sample that the command wrote.
struct Template {
    header: Value,
    sample: Map<String, Value>,
}

fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let laboratory = Laboratory::open();
        let mut command =
            laboratory.command("run -m pipe -b 512 --total 4KiB --repetitions 1 --force --out");
        command.arg(laboratory.results());
        laboratory.finish(command).expect(0);
        let text = std::fs::read_to_string(laboratory.results()).expect("a results file");
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
        let sample = lines[1].as_object().expect("a sample").clone();
        Template { header: lines[0].clone(), sample }
    })
}

/// The name by which a claim is known: its place among the truths.
pub(crate) fn id(place: usize) -> String {
    format!("T{place}")
}

/// The study whose claims are `truths`.
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
            Some(Rate::Bandwidth) => "\"bandwidth\"".to_owned(),
            Some(Rate::RoundTrips) => "\"round_trips_per_s\"".to_owned(),
            None => seen('t', place),
        };
        let _ = write!(
            text,
            "\n[[hypothesis]]\nid = \"{}\"\nclaim = \"Planted.\"\ntest = \"{}\"\nmetric = {metric}\n{}",
            id(place),
            truth.test,
            truth.keys,
        );
        if truth.test == "share-at-least" {
            let _ = writeln!(text, "of = {}", seen('w', place));
        }
    }
    text
}

/// The metric of a claim that is about no rate: a number that an instrument would have told.
fn seen(letter: char, place: usize) -> String {
    format!("{{ instrument = \"rusage\", field = \"{letter}{place}\" }}")
}

fn size(level: usize) -> u64 {
    512 << level
}

fn case_id(mechanism: &str, level: usize) -> String {
    format!("{mechanism}/stream/2proc/same/{}", size(level))
}

/// The results file of `setting` that was measured for `truths`.
pub(crate) fn results(setting: Setting, truths: &[Truth]) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(0x5eed_0000 + setting.place as u64);
    let mut text = header(setting, truths).to_string() + "\n";
    let alike = alike();
    let mut samples = 0;
    for block in 0..=setting.repetitions {
        let factors: Vec<f64> =
            truths.iter().map(|_| BETWEEN_BLOCKS * setting.noise * normal(&mut random)).collect();
        for (line, mechanism) in MECHANISMS.iter().enumerate() {
            for level in 0..setting.levels {
                let set_aside = set_aside(setting, block, &mut random);
                let _ = write!(
                    text,
                    "{{\"kind\":\"sample\",\"run_id\":\"{block}.{samples}.1\",\"block\":{block},\
                     \"repetition\":{block},\"case_id\":\"{}\",\"mechanism\":\"{mechanism}\",\
                     \"buffer_bytes\":{},\"set_aside\":{set_aside},",
                    case_id(mechanism, level),
                    size(level),
                );
                let mut seen = format!(
                    "{{\"kind\":\"observation\",\"instrument\":\"rusage\",\"role\":\"sender\",\
                     \"run_id\":\"{block}.{samples}.1\""
                );
                for (place, truth) in truths.iter().enumerate() {
                    let noise = setting.noise * normal(&mut random);
                    let log = [&truth.first, &truth.second][line][level];
                    let value = factors[place] + noise;
                    // A part has its block in common with its whole, and each noise of its own.
                    if truth.test == "share-at-least" {
                        let whole = factors[place] + setting.noise * normal(&mut random);
                        let _ = write!(seen, ",\"w{place}\":{}", (UNIT * whole.exp()).round());
                        write_value(
                            [&mut text, &mut seen],
                            (place, truth),
                            value,
                            log + 0.5_f64.ln(),
                        );
                    } else {
                        write_value([&mut text, &mut seen], (place, truth), value, log);
                    }
                }
                text += &alike;
                text += &seen;
                text += "}\n";
                samples += 1;
            }
        }
    }
    let footer = json!({
        "kind": "footer", "complete": true, "samples": samples, "failures": 0, "probe_effects": [],
        "elapsed_ns": 1_000_000_000, "ended": "2026-01-01T00:00:00Z"
    });
    text + &footer.to_string() + "\n"
}

/// One value of a truth, in its sample or in what was seen of it: `log` is that of its median, and `noise` how
/// far off this one is.
fn write_value(
    [text, seen]: [&mut String; 2],
    (place, truth): (usize, &Truth),
    noise: f64,
    log: f64,
) {
    let whole = |log: f64| (UNIT * log.exp()).round();
    let _ = match truth.rate {
        Some(Rate::Bandwidth) => {
            write!(text, "\"bandwidth_bytes_per_s\":{},", whole(noise + log))
        }
        // Trips each second are 1e9 over this.
        Some(Rate::RoundTrips) => {
            write!(text, "\"round_trip_ns_mean\":{:?},", 1e3 * (-noise - log).exp())
        }
        None => write!(seen, ",\"t{place}\":{}", whole(noise + log)),
    };
}

fn set_aside(setting: Setting, block: u32, random: &mut ChaCha8Rng) -> &'static str {
    let is_disturbed = setting.repetitions >= 30 && setting.place % 4 > 1;
    match block {
        0 => "\"first\"",
        _ if is_disturbed && random.random::<f64>() < DISTURBED => "\"disturbed\"",
        _ => "null",
    }
}

/// Box and Muller 1958.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// What all samples have in common, up to the end of the line.
fn alike() -> String {
    let own = [
        "kind",
        "run_id",
        "block",
        "repetition",
        "case_id",
        "mechanism",
        "buffer_bytes",
        "set_aside",
        "round_trip_ns_mean",
        "bandwidth_bytes_per_s",
    ];
    let sample = template().sample.iter().filter(|(key, _)| !own.contains(&key.as_str()));
    let rest: Map<String, Value> =
        sample.map(|(key, value)| (key.clone(), value.clone())).collect();
    let rest = Value::Object(rest).to_string();
    format!("{}\n", rest.trim_start_matches('{'))
}

fn header(setting: Setting, truths: &[Truth]) -> Value {
    let mut header = template().header.clone();
    let study = study(setting, truths);
    let hash = Sha256::digest(study.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let plan = &mut header["plan"];
    let spec = plan["specs"][0].clone();
    let cases = MECHANISMS.iter().flat_map(|one| (0..setting.levels).map(move |at| (*one, at)));
    let (ids, specs): (Vec<Value>, Vec<Value>) = cases
        .map(|(mechanism, level)| {
            let mut spec = spec.clone();
            spec["matrices"] = json!(["1"]);
            spec["spec"]["mechanism"] = json!(mechanism);
            spec["spec"]["buffer_bytes"] = json!(size(level));
            (json!(case_id(mechanism, level)), spec)
        })
        .unzip();
    plan["repetitions"] = json!(setting.repetitions);
    (plan["cases"], plan["specs"]) = (Value::Array(ids), Value::Array(specs));
    header["study"] = json!("planted");
    (header["study_hash"], header["study_text"]) = (json!(hash), json!(study));
    header
}
