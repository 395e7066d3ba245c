//! A plan for display on a terminal: the matrix, what is left out, and the estimated time.

use std::collections::BTreeSet;
use std::time::Duration;

use ipcperf_model::pacing::{DEFAULT_DURATION, Pacing};
use ipcperf_model::rate::PerSecond;
use ipcperf_model::size::Bytes;
use ipcperf_model::{Role, RunSpec, units};
use ipcperf_plan::machine::{NoiseDetection, noise_detection};
use ipcperf_plan::{Case, CaseInstruments, MissingPart, Plan, StoppingRule};
use ipcperf_results::analysis::{KNEE_MAX_RUNS, KNEE_MIN_RUNS};

use super::cells::new_table;
use super::instruments::cells_left_out;
use super::width::wrap;

/// Usual number of rates that a search for the knee tries, least and most.
const KNEE_RATES: (u32, u32) = (4, 9);
/// Maximum number of cases listed. More are only counted.
const MAX_LISTED: usize = 400;

/// A property of the planned cases.
struct PlanColumn {
    heading: &'static str,
    /// Returns the value of a case.
    cell: fn(&Case) -> String,
}

/// Properties that always have a column.
const NAMING_COLUMNS: &[PlanColumn] = &[
    PlanColumn { heading: "mechanism", cell: Case::variant },
    PlanColumn {
        heading: "buffer",
        cell: |case| case.spec.message_options.size_text(case.spec.buffer_bytes),
    },
];

/// Properties that have a column if the cases differ in them, and are stated once if not.
const FACTOR_COLUMNS: &[PlanColumn] = &[
    PlanColumn { heading: "workload", cell: |case| case.spec.workload.name().to_owned() },
    PlanColumn { heading: "mode", cell: |case| case.spec.mode.name().to_owned() },
    PlanColumn { heading: "placement", cell: |case| case.placement.to_string() },
    PlanColumn { heading: "peers", cell: |case| peers_text(case) },
    PlanColumn { heading: "CPUs", cell: |case| cpus_text(&case.spec) },
    PlanColumn { heading: "sender prefix", cell: |case| prefix_text(case, Role::Sender) },
    PlanColumn { heading: "receiver prefix", cell: |case| prefix_text(case, Role::Receiver) },
    PlanColumn {
        heading: "rate",
        cell: |case| pacing_text(case, |pacing| PerSecond(pacing.rate_per_s).to_string()),
    },
    PlanColumn {
        heading: "arrivals",
        cell: |case| pacing_text(case, |pacing| pacing.arrivals.to_string()),
    },
    PlanColumn { heading: "total", cell: total_text },
    PlanColumn { heading: "instruments", cell: |case| instruments_text(&case.instruments) },
];

/// Formats the plan as a table, at most `columns` wide, with closing lines.
pub fn plan_table(plan: &Plan, columns: usize) -> String {
    let (shared, varying): (Vec<_>, Vec<_>) =
        FACTOR_COLUMNS.iter().partition(|column| is_shared(column, &plan.cases));
    let shown: Vec<&PlanColumn> = NAMING_COLUMNS.iter().chain(varying).collect();
    let mut table = new_table(columns);
    table.set_header(shown.iter().map(|column| column.heading));
    for case in plan.cases.iter().take(MAX_LISTED) {
        table.add_row(shown.iter().map(|column| (column.cell)(case)));
    }
    let mut lines = vec![table.to_string()];
    if plan.cases.len() > MAX_LISTED {
        lines.push(format!("... and {} more cases", plan.cases.len() - MAX_LISTED));
    }
    lines.extend(shared_line(&shared, &plan.cases));
    lines.extend(left_out_lines(plan));
    lines.extend(length_lines(plan));
    wrap(&lines.join("\n"), columns)
}

/// Whether all cases have the same value.
fn is_shared(column: &PlanColumn, cases: &[Case]) -> bool {
    let mut values = cases.iter().map(column.cell);
    let first = values.next();
    values.all(|value| Some(&value) == first.as_ref())
}

/// States the properties that all cases share. `None` without cases.
fn shared_line(shared: &[&PlanColumn], cases: &[Case]) -> Option<String> {
    let first = cases.first()?;
    let words = shared.iter().map(|column| (column.heading, (column.cell)(first)));
    let words = words.filter(|(_, value)| !value.is_empty());
    let words: Vec<String> = words.map(|(heading, value)| format!("{heading} {value}")).collect();
    (!words.is_empty()).then(|| format!("All cases: {}", words.join(", ")))
}

fn peers_text(case: &Case) -> String {
    case.spec.peers.as_ref().map_or_else(String::new, |peers| peers.count.to_string())
}

fn prefix_text(case: &Case, role: Role) -> String {
    case.spec.prefixes.for_role(role).unwrap_or_default().to_owned()
}

/// Formats the CPUs of the senders and those of the receivers, each once.
fn cpus_text(spec: &RunSpec) -> String {
    let pairs: Vec<[u32; 2]> =
        (0..spec.connections()).filter_map(|number| spec.connection_cpus(number)).collect();
    let side = |side: usize| {
        let cpus: BTreeSet<u32> = pairs.iter().map(|pair| pair[side]).collect();
        cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    };
    match (side(0), side(1)) {
        (senders, _) if senders.is_empty() => "any".to_owned(),
        (senders, receivers) if senders == receivers => senders,
        (senders, receivers) => format!("{senders} and {receivers}"),
    }
}

fn pacing_text(case: &Case, text: impl Fn(&Pacing) -> String) -> String {
    case.spec.pacing.as_ref().map_or_else(String::new, text)
}

/// Formats the total of a case; empty if its schedule determines it.
fn total_text(case: &Case) -> String {
    match (case.spec.total_bytes, &case.spec.pacing) {
        (Some(bytes), _) => Bytes(bytes).to_string(),
        (None, Some(_)) => String::new(),
        (None, None) => "calibrated".to_owned(),
    }
}

/// Lists what will not run: refused cells, and mechanisms and instruments that are unavailable.
fn left_out_lines(plan: &Plan) -> Vec<String> {
    let refused = plan.refused.iter().map(|refused| format!("refused: {refused}"));
    let unavailable = plan.unavailable.iter().map(|absent| {
        format!("unavailable: {}: {} ({})", absent.mechanism, absent.reason, absent.remedy)
    });
    let instruments = plan.unavailable_instruments.iter().map(|missing| {
        let what = match missing.missing_part {
            MissingPart::Whole => "unavailable instrument",
            MissingPart::Event => "partly unavailable instrument",
        };
        let left_out = cells_left_out(missing.cells_left_out, &missing.matrices);
        format!("{what}: {}: {}{left_out}", missing.instrument, missing.why)
    });
    refused.chain(unavailable).chain(instruments).collect()
}

/// Names the instruments of a case, or says that it is an uninstrumented twin.
fn instruments_text(instruments: &CaseInstruments) -> String {
    match (instruments.names.as_slice(), &instruments.twin_of) {
        (names, None) => names.join(", "),
        ([], Some(_)) => "none (twin)".to_owned(),
        (names, Some(_)) => format!("{} (twin)", names.join(", ")),
    }
}

/// States the number of cases, of repetitions of each case, and of runs.
fn counts_text(plan: &Plan) -> String {
    let cases = match plan.cases.len() {
        1 => "1 case with".to_owned(),
        several => format!("{several} cases, each with"),
    };
    let repetitions = match plan.stopping_rule.min_repetitions() {
        1 => "1 repetition and one before it".to_owned(),
        several => format!("{several} repetitions and one before them"),
    };
    format!("{cases} {repetitions} that is not counted: {} runs", plan.runs())
}

/// States the number of runs, the time that they take, the rule by which they end, and the seed.
fn length_lines(plan: &Plan) -> Vec<String> {
    let time = units::duration(plan.estimate());
    let counts = counts_text(plan);
    let mut lines = match &plan.stopping_rule {
        StoppingRule::Repetitions(_) => vec![format!("{counts}, about {time}")],
        StoppingRule::UntilCi(precision) => vec![
            format!("{counts} or more, at least {time}"),
            format!(
                "Repeats until the precision of each median is ±{}, at most {} repetitions or {} per case",
                units::percent(precision.half_width),
                precision.max_repetitions,
                units::duration(precision.max_time()),
            ),
        ],
        StoppingRule::UntilDecided(looks) => vec![
            format!("{counts} or more, at least {time}"),
            format!(
                "Repeats until each claim is decided, at most {} repetitions per case; claims are judged after {} \
                 repetitions",
                looks.last(),
                join_numbers(&looks.at_repetitions),
            ),
        ],
    };
    lines.extend(knee_line(plan));
    lines.extend(busy_line(plan, noise_detection()));
    lines.push(format!("Seed of the order of the runs: {}", plan.seed));
    lines
}

/// Describes the search for the knee, whose length is not known before.
fn knee_line(plan: &Plan) -> Option<String> {
    let search = plan.knee.as_ref()?;
    let searches: usize =
        plan.cases.iter().map(|case| search.schedules(case.spec.mode, case.placement).len()).sum();
    let schedule = search.duration_ns.map_or(DEFAULT_DURATION, Duration::from_nanos);
    let low = schedule * (KNEE_RATES.0 * KNEE_MIN_RUNS);
    let high = schedule * (KNEE_RATES.1 * KNEE_MAX_RUNS);
    let time = |one: Duration| units::duration(one * u32::try_from(searches).unwrap_or(u32::MAX));
    Some(format!(
        "Then searches for {searches} {}: typically {} to {} rates each, {} to {} runs per rate, {} to {}",
        if searches == 1 { "knee" } else { "knees" },
        KNEE_RATES.0,
        KNEE_RATES.1,
        KNEE_MIN_RUNS,
        KNEE_MAX_RUNS,
        time(low),
        time(high),
    ))
}

/// Returns a line with the maximum number of retries on a busy machine and the time that they add. `None` if no run can
/// be retried. Only disturbed runs are retried, and without noise detection, no run counts as disturbed.
fn busy_line(plan: &Plan, noise: NoiseDetection) -> Option<String> {
    let retries = match noise {
        NoiseDetection::On => plan.max_retries(),
        NoiseDetection::Off => 0,
    };
    let longer = units::duration(time_of_runs(plan, retries));
    let number = match retries {
        0 => return None,
        1 => "1 retry, which adds".to_owned(),
        several => format!("{several} retries, which add"),
    };
    Some(format!(
        "Runs that other activity disturbs are retried: at most {number} at most {longer}"
    ))
}

/// Returns the estimated time of `count` runs of average length.
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn time_of_runs(plan: &Plan, count: u64) -> Duration {
    plan.estimate().mul_f64(count as f64 / plan.runs().max(1) as f64)
}

/// Formats numbers as `10, 15 and 30`.
fn join_numbers(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::knee::KneeSearch;
    use ipcperf_model::pacing::Arrivals;
    use ipcperf_model::peers::Peers;
    use ipcperf_model::workload::WorkloadKind;

    use super::*;

    /// Returns a plan without cases; only its attempts matter here.
    fn plan_without_cases() -> Plan {
        Plan {
            cases: Vec::new(),
            knee: None,
            refused: Vec::new(),
            unavailable: Vec::new(),
            unavailable_instruments: Vec::new(),
            stopping_rule: StoppingRule::Repetitions(10),
            attempts: 3,
            seed: 1,
            timeout: Duration::from_secs(10),
        }
    }

    #[test]
    fn without_runs_nothing_is_retried_and_nothing_is_said() {
        let plan = plan_without_cases();
        assert_eq!(time_of_runs(&plan, 10), Duration::ZERO);
        assert_eq!(busy_line(&plan, NoiseDetection::On), None);
        assert_eq!(shared_line(&[&FACTOR_COLUMNS[0]], &plan.cases), None);
    }

    #[test]
    fn repetitions_are_counted_without_the_first() {
        let plan = plan_without_cases();
        let words =
            "0 cases, each with 10 repetitions and one before them that is not counted: 0 runs";
        assert_eq!(counts_text(&plan), words);
        let once = Plan { stopping_rule: StoppingRule::Repetitions(1), ..plan };
        assert!(counts_text(&once).contains("1 repetition and one before it that"));
    }

    #[test]
    fn values_of_columns_are_named() {
        let text = |cpus: Option<[u32; 2]>, peers: &[[u32; 2]]| {
            let workload = WorkloadKind::FanIn;
            let peers = Peers { count: u32::try_from(peers.len()).unwrap(), cpus: peers.to_vec() };
            let peers = (peers.count > 0).then_some(peers);
            cpus_text(&RunSpec { cpus, peers, workload, ..RunSpec::with_defaults("pipe", 64) })
        };
        assert_eq!(text(None, &[]), "any");
        assert_eq!(text(Some([2, 2]), &[]), "2");
        assert_eq!(text(Some([0, 3]), &[]), "0 and 3");
        assert_eq!(text(Some([0, 3]), &[[0, 3], [1, 3], [0, 3]]), "0,1 and 3");
        let mut case = ipcperf_plan::testing::case("pipe");
        assert_eq!(total_text(&case), "calibrated");
        case.spec.total_bytes = Some(4096);
        assert_eq!(total_text(&case), "4 KiB");
        let search = KneeSearch {
            p99_bound_ns: None,
            arrivals: vec![Arrivals::Even],
            pacers: Vec::new(),
            duration_ns: None,
        };
        let schedule = search.schedules(case.spec.mode, case.placement)[0];
        let paced = case.paced(search.pacing(schedule, 1_000));
        let rate = pacing_text(&paced, |pacing| PerSecond(pacing.rate_per_s).to_string());
        assert_eq!((total_text(&paced), rate), (String::new(), "1k/s".to_owned()));
    }
}
