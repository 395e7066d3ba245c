//! Synthetic results files in the format of the command. Everything except the values comes from a real run.

use std::fmt::Write as _;
use std::sync::OnceLock;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde_json::{Map, Value, json};

use crate::sandbox::Sandbox;

/// The two sides of a comparison.
pub(crate) const MECHANISMS: [&str; 2] = ["pipe", "unix-stream"];
/// Value for a logarithm of zero.
const UNIT: f64 = 1e9;

/// Design of a results file: for each mechanism, `lines` lines over `levels` buffer sizes.
pub(crate) struct Design<'a> {
    /// The study, as TOML.
    pub(crate) study: &'a str,
    /// Lines of each mechanism, which differ in the kernel's buffer size.
    pub(crate) lines: usize,
    pub(crate) levels: usize,
    /// Number of valid repetitions; one more comes first.
    pub(crate) blocks: u32,
}

/// A run, by its position in the design.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// 0 for the first block, which does not count.
    pub(crate) block: u32,
    /// The mechanism.
    pub(crate) side: usize,
    pub(crate) line: usize,
    pub(crate) level: usize,
}

/// Synthetic values of a run.
#[derive(Default)]
pub(crate) struct Fields {
    /// Fields of the sample, each followed by a comma.
    pub(crate) sample: String,
    /// Fields of an instrument's observation, each preceded by a comma.
    pub(crate) observation: String,
    pub(crate) is_disturbed: bool,
}

impl Fields {
    /// Adds a number observed by an instrument, given as a logarithm.
    pub(crate) fn see(&mut self, name: &str, log: f64) {
        let _ = write!(self.observation, ",\"{name}\":{}", whole(log));
    }
}

/// Returns the value of a logarithm.
pub(crate) fn whole(log: f64) -> f64 {
    (UNIT * log.exp()).round()
}

/// Returns a number observed by an instrument, as a metric of a study.
pub(crate) fn seen(name: &str) -> String {
    format!("{{ instrument = \"rusage\", field = \"{name}\" }}")
}

/// Returns the buffer size of a level.
pub(crate) fn size(level: usize) -> u64 {
    512 << level
}

/// Returns the requested size of the kernel's buffer, in the notation of studies and results.
pub(crate) fn kernel_buffer(line: usize) -> String {
    if line == 0 { "default".to_owned() } else { (4096 * line).to_string() }
}

fn case_id(mechanism: &str, line: usize, level: usize) -> String {
    let plain = format!("{mechanism}/stream/2proc/same/{}", size(level));
    if line == 0 { plain } else { format!("{plain}/kernel-buffer={}", kernel_buffer(line)) }
}

/// Returns the results file of `design`, each run with the values from `fill`.
pub(crate) fn results(design: &Design<'_>, mut fill: impl FnMut(Run) -> Fields) -> String {
    let mut text = header(design).to_string() + "\n";
    let alike = common_fields();
    let mut samples = 0;
    for block in 0..=design.blocks {
        for side in 0..MECHANISMS.len() {
            for (line, level) in lines_and_levels(design) {
                let run = Run { block, side, line, level };
                write_run(&mut text, run, samples, (&fill(run), &alike));
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

fn lines_and_levels(design: &Design<'_>) -> impl Iterator<Item = (usize, usize)> {
    let levels = design.levels;
    (0..design.lines).flat_map(move |line| (0..levels).map(move |level| (line, level)))
}

/// Writes a sample and the observation of an instrument.
fn write_run(text: &mut String, run: Run, number: usize, (fields, alike): (&Fields, &str)) {
    let Run { block, side, line, level } = run;
    let (mechanism, buffer) = (MECHANISMS[side], kernel_buffer(line));
    let excluded = match block {
        0 => "\"first\"",
        _ if fields.is_disturbed => "\"disturbed\"",
        _ => "null",
    };
    let _ = writeln!(
        text,
        "{{\"kind\":\"sample\",\"run_id\":\"{block}.{number}.1\",\"block\":{block},\
         \"repetition\":{block},\"case_id\":\"{}\",\"mechanism\":\"{mechanism}\",\
         \"buffer_bytes\":{},\"kernel_buffer\":\"{buffer}\",\"excluded\":{excluded},{}{alike}\
         {{\"kind\":\"observation\",\"instrument\":\"rusage\",\"role\":\"sender\",\
         \"run_id\":\"{block}.{number}.1\"{}}}",
        case_id(mechanism, line, level),
        size(level),
        fields.sample,
        fields.observation,
    );
}

/// Returns a standard normal number (Box and Muller, 1958).
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = (1.0 - random.random::<f64>(), random.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A header and a sample written by the command.
struct Template {
    header: Value,
    sample: Map<String, Value>,
}

fn template() -> &'static Template {
    static TEMPLATE: OnceLock<Template> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let sandbox = Sandbox::open();
        let mut command =
            sandbox.command("run -m pipe -b 512 --total 4KiB --repetitions 1 --force --out");
        command.arg(sandbox.results());
        sandbox.finish(command).expect(0);
        let text = std::fs::read_to_string(sandbox.results()).expect("a results file");
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
        let sample = lines[1].as_object().expect("a sample").clone();
        Template { header: lines[0].clone(), sample }
    })
}

/// Returns the fields that all samples share, up to the end of the line.
fn common_fields() -> String {
    let own = [
        "kind",
        "run_id",
        "block",
        "repetition",
        "case_id",
        "mechanism",
        "buffer_bytes",
        "kernel_buffer",
        "excluded",
        "round_trip_ns_mean",
        "bandwidth_bytes_per_s",
    ];
    let sample = template().sample.iter().filter(|(key, _)| !own.contains(&key.as_str()));
    let rest: Map<String, Value> =
        sample.map(|(key, value)| (key.clone(), value.clone())).collect();
    let rest = Value::Object(rest).to_string();
    format!("{}\n", rest.trim_start_matches('{'))
}

fn header(design: &Design<'_>) -> Value {
    let mut header = template().header.clone();
    let hash = hmac_sha256::Hash::hash(design.study.as_bytes());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let plan = &mut header["plan"];
    let spec = plan["specs"][0].clone();
    let cases = MECHANISMS
        .iter()
        .flat_map(|one| lines_and_levels(design).map(move |(line, level)| (*one, line, level)));
    let (ids, specs): (Vec<Value>, Vec<Value>) = cases
        .map(|(mechanism, line, level)| {
            let mut spec = spec.clone();
            spec["matrices"] = json!(["1"]);
            spec["spec"]["mechanism"] = json!(mechanism);
            spec["spec"]["buffer_bytes"] = json!(size(level));
            if line > 0 {
                spec["spec"]["kernel_buffer"] = json!({ "bytes": 4096 * line });
            }
            (json!(case_id(mechanism, line, level)), spec)
        })
        .unzip();
    plan["repetitions"] = json!(design.blocks);
    (plan["cases"], plan["specs"]) = (Value::Array(ids), Value::Array(specs));
    header["study"] = json!("planted");
    (header["study_hash"], header["study_text"]) = (json!(hash), json!(design.study));
    header
}
