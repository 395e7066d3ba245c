//! The edition of 2020 and after: iterations, getrusage, JSON.

use ipcperf_engine::{Repeat, Role, RoleUsage};
use serde::Serialize;

use super::asked::{Asked, Edition};
use super::configuration::Configuration;
use super::counted::{Counts, counted};
use super::datum::{Field, Fields, kilobytes_per_second, seconds};
use crate::dropin::carried::Carrier;
use crate::dropin::ended::Ended;
use crate::dropin::typed::{count, flag, has, number, usage as usage_of};
use crate::dropin::{Call, say};

const EDITION: Edition = Edition {
    usage: "[-Bgjqsv] [-b buffersize] [-i pipe|local|tcp] [-n iterations] [-p tcp_port] \
        [-P arch|dcache|instr|tlbmem] [-t totalsize] 1thread|2thread|2proc|describe",
    words: &[DESCRIBE],
    sets: &["arch", "dcache", "instr", "tlbmem"],
    flags: || {
        vec![
            flag("g", "Print what getrusage(2) counts").short_alias('r'),
            flag("j", "Print JSON"),
            count("n", "iterations", "How often it is measured, in one pair of parties [1]"),
        ]
    },
};

/// The mode that measures nothing.
const DESCRIBE: &str = "describe";

/// How program `name` is used.
pub(super) fn usage(name: &str) -> String {
    usage_of(EDITION.command(name))
}

/// Measures as often as was asked, or describes the machine.
pub(super) fn run(call: &Call<'_>) -> Result<(), Ended> {
    let asked = EDITION.asked(call)?;
    let iterations = iterations(&asked);
    let is_described = asked.mode() == DESCRIBE;
    let samples = if is_described { None } else { Some(samples(call.name, &asked, iterations)?) };
    if has(&asked.typed, "q") {
        return Ok(());
    }
    let configuration =
        (is_described || has(&asked.typed, "v")).then(|| Configuration::of(&asked, iterations));
    say(&if has(&asked.typed, "j") {
        json(configuration.as_ref(), samples.as_deref())
    } else {
        text(configuration.as_ref(), samples.as_deref())
    })
}

fn iterations(asked: &Asked) -> u32 {
    number(&asked.typed, "n").map_or(1, |count| u32::try_from(count).unwrap_or(u32::MAX))
}

/// What each iteration came to.
fn samples(name: &str, asked: &Asked, iterations: u32) -> Result<Vec<Fields>, Ended> {
    let mut carrier = Carrier::ready(name)?;
    let Some(set) = asked.set() else {
        let measured = carrier.measure(&asked.spec(iterations)?)?;
        let datum = |repeat: &Repeat| datum(asked, repeat, None);
        return Ok(measured.repeats.iter().map(datum).collect());
    };
    let spec = asked.spec(1)?;
    let mut samples = Vec::new();
    for _ in 0..iterations {
        let (measured, counts) = counted(&mut carrier, name, &spec, set)?;
        let repeats = measured.repeats.iter();
        samples.extend(repeats.map(|repeat| datum(asked, repeat, Some((set.name, &counts)))));
    }
    Ok(samples)
}

fn datum(asked: &Asked, repeat: &Repeat, counts: Option<(&str, &Counts)>) -> Fields {
    let rate = kilobytes_per_second(asked.total_bytes(), repeat.elapsed_ns);
    let mut fields = vec![
        Field::number("bandwidth", rate, 2, " KBytes/sec"),
        Field::seconds("time", repeat.elapsed_ns, " seconds"),
    ];
    if has(&asked.typed, "g") {
        fields.extend(usage_fields(repeat));
    }
    if let Some((set, counts)) = counts {
        fields.extend(counters(set, counts));
    }
    Fields(fields)
}

/// What both parties used.
fn usage_fields(repeat: &Repeat) -> Vec<Field> {
    let sum = |figure: fn(&RoleUsage) -> u64| repeat.roles.iter().map(figure).sum::<u64>();
    let calls = |role: Role| {
        let of_role = repeat.roles.iter().find(|usage| usage.role == role);
        // One thread that plays both does not tell its writes from its reads.
        of_role.and_then(|usage| usage.calls).unwrap_or(repeat.messages)
    };
    vec![
        Field::number("stime", seconds(sum(|usage| usage.system_ns)), 6, " seconds"),
        Field::number("utime", seconds(sum(|usage| usage.user_ns)), 6, " seconds"),
        Field::count("msgsnd", calls(Role::Sender), " messages"),
        Field::count("msgrcv", calls(Role::Receiver), " messages"),
        Field::count("nvcsw", sum(|usage| usage.voluntary_switches), " voluntary context switches"),
        Field::count(
            "nivcsw",
            sum(|usage| usage.involuntary_switches),
            " involuntary context switches",
        ),
    ]
}

/// What was counted, and what the original made of it.
#[allow(clippy::cast_precision_loss, reason = "ratios, six digits of which are printed")]
fn counters(set: &str, counts: &Counts) -> Vec<Field> {
    let of = |event: &str| {
        counts.iter().find(|(name, _)| *name == event).map_or(0.0, |(_, count)| *count as f64)
    };
    let hits = |cache: &str| {
        let (all, missed) = (of(cache), of(&format!("{cache}_REFILL")));
        Field::ratio(&format!("{cache}_HIT_RATE"), all - missed, all)
    };
    let mut fields: Vec<Field> =
        counts.iter().map(|(event, count)| Field::count(event, *count, "")).collect();
    let cycles = Field::ratio("CYCLES_PER_INSTRUCTION", of("CPU_CYCLES"), of("INST_RETIRED"));
    fields.extend(cycles);
    match set {
        "dcache" => fields.extend([hits("L1D_CACHE"), hits("L2D_CACHE")].into_iter().flatten()),
        "instr" => {
            let all = of("BR_MIS_PRED") + of("BR_PRED");
            let predicted = Field::ratio("BR_PRED_RATE", of("BR_PRED"), all);
            fields.extend([hits("L1I_CACHE"), predicted].into_iter().flatten());
        }
        _ => {}
    }
    fields
}

fn text(configuration: Option<&Configuration>, samples: Option<&[Fields]>) -> String {
    let described = configuration.map_or_else(String::new, Configuration::text);
    let measured = samples.unwrap_or_default().iter().map(|datum| datum.text("datum:"));
    described + &measured.collect::<String>()
}

/// All that is printed as JSON.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    configuration: Option<&'a Configuration>,
    #[serde(skip_serializing_if = "Option::is_none")]
    benchmark_samples: Option<&'a [Fields]>,
}

fn json(configuration: Option<&Configuration>, samples: Option<&[Fields]>) -> String {
    let document = Document { configuration, benchmark_samples: samples };
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn asked(words: &[&str]) -> Asked {
        let arguments: Vec<OsString> = words.iter().map(OsString::from).collect();
        EDITION.asked(&Call { name: "ipc", arguments: &arguments }).unwrap()
    }

    fn usage(role: Role) -> RoleUsage {
        RoleUsage {
            role,
            user_ns: 1_000_000,
            system_ns: 3_000_000,
            minor_faults: 0,
            voluntary_switches: 2,
            involuntary_switches: 1,
            calls: Some(128),
            short_writes: 0,
            short_reads: 0,
            cpu_ns: None,
            run_delay_ns: None,
        }
    }

    fn repeat() -> Repeat {
        let roles = vec![usage(Role::Sender), usage(Role::Receiver)];
        Repeat { elapsed_ns: 8_000_000, messages: 128, roles }
    }

    const TEXT: &str = "datum:\n  bandwidth: 2048000.00 KBytes/sec\n  time: 0.008000000 seconds\n  \
        stime: 0.006000 seconds\n  utime: 0.002000 seconds\n  msgsnd: 128 messages\n  msgrcv: 128 messages\n  \
        nvcsw: 4 voluntary context switches\n  nivcsw: 2 involuntary context switches\n";

    #[test]
    fn an_iteration_is_a_datum() {
        let asked = asked(&["-Bg", "2thread"]);
        assert_eq!(text(None, Some(&[datum(&asked, &repeat(), None)])), TEXT);
    }

    #[test]
    fn json_has_the_keys_of_the_text_with_numbers() {
        let asked = asked(&["-Bgj", "2thread"]);
        let document = json(None, Some(&[datum(&asked, &repeat(), None)]));
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let datum = document["benchmark_samples"][0].as_object().unwrap();
        assert_eq!(document.as_object().unwrap().len(), 1);
        for line in TEXT.lines().skip(1) {
            let (key, value) = line.trim().split_once(": ").unwrap();
            let value: f64 = value.split(' ').next().unwrap().parse().unwrap();
            let found = datum[key].as_f64().unwrap();
            assert!((found - value).abs() < 1e-12, "{key}: {found}, {value}");
        }
    }

    #[test]
    fn rates_of_hits_are_of_what_was_counted() {
        let counts = vec![
            ("INST_RETIRED", 100),
            ("CPU_CYCLES", 150),
            ("L1D_CACHE", 40),
            ("L1D_CACHE_REFILL", 10),
            ("L2D_CACHE", 10),
            ("L2D_CACHE_REFILL", 5),
        ];
        let lines: String = counters("dcache", &counts).iter().map(Field::line).collect();
        assert!(lines.ends_with(
            "  CYCLES_PER_INSTRUCTION: 1.500000\n  L1D_CACHE_HIT_RATE: 0.750000\n  \
             L2D_CACHE_HIT_RATE: 0.500000\n"
        ));
    }
}
