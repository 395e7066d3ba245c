//! A plan for display on a terminal: the matrix, what is left out, and the estimated time.

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_plan::{Enough, Extent, Plan, Watched};

use super::cells::new_table;
use super::watched::cells_left_out;

/// Maximum number of cases listed. More are only counted.
const LISTED: usize = 400;

/// Formats the plan as a table, at most `columns` wide, with closing lines.
pub fn plan_table(plan: &Plan, columns: usize) -> String {
    let mut table = new_table(columns);
    let is_watched = plan.cases.iter().any(|case| !case.watched.by.is_empty());
    let mut header = vec!["mechanism", "workload", "mode", "placement", "CPUs", "buffer", "total"];
    header.extend(is_watched.then_some("watched by"));
    table.set_header(header);
    for case in plan.cases.iter().take(LISTED) {
        let spec = &case.spec;
        let cpus = spec.cpus.map_or("any".to_owned(), |[sender, receiver]| {
            if sender == receiver { sender.to_string() } else { format!("{sender}, {receiver}") }
        });
        let total = spec.total_bytes.map_or("calibrated".to_owned(), |b| Bytes(b).to_string());
        let row = [
            case.variant(),
            spec.workload.name().to_owned(),
            spec.mode.name().to_owned(),
            case.placement.to_string(),
            cpus,
            Bytes(spec.buffer_bytes).to_string(),
            total,
        ];
        table.add_row(row.into_iter().chain(is_watched.then(|| watched_words(&case.watched))));
    }
    let mut lines = vec![table.to_string()];
    if plan.cases.len() > LISTED {
        lines.push(format!("... and {} more cases", plan.cases.len() - LISTED));
    }
    lines.extend(plan.refused.iter().map(|refused| format!("refused: {refused}")));
    lines.extend(plan.unavailable.iter().map(|absent| {
        format!("unavailable: {}: {} ({})", absent.mechanism, absent.reason, absent.remedy)
    }));
    lines.extend(plan.unwatched.iter().map(|missing| {
        let what = match missing.extent {
            Extent::Whole => "cannot watch",
            Extent::Event => "watches without",
        };
        let left_out = cells_left_out(missing.cells_left_out, &missing.matrices);
        format!("{what}: {}: {}{left_out}", missing.instrument, missing.why)
    }));
    lines.push(closing(plan));
    lines.join("\n")
}

/// Names the instruments of a case, or says that it is an uninstrumented twin.
fn watched_words(watched: &Watched) -> String {
    match (watched.by.as_slice(), &watched.twin_of) {
        (names, None) => names.join(", "),
        ([], Some(_)) => "nobody (twin)".to_owned(),
        (names, Some(_)) => format!("{} (twin)", names.join(", ")),
    }
}

fn closing(plan: &Plan) -> String {
    let (cases, blocks, runs) = (plan.cases.len(), plan.whole_blocks(), plan.runs());
    let (time, seed) = (units::duration(plan.estimate()), plan.seed);
    let counts = format!("{cases} cases, {blocks} blocks (the first is set aside), {runs} runs");
    match &plan.enough {
        Enough::Repetitions(_) => format!("{counts}, about {time}; seed {seed}"),
        Enough::UntilCi(precision) => format!(
            "{counts} or more, until each median is known to {}: at least {time}, at most {} \
             repetitions of a case or {}; seed {seed}",
            units::percent(precision.half_width),
            precision.most_repetitions,
            units::duration(precision.most_time()),
        ),
        Enough::UntilDecided(looks) => format!(
            "{counts} or more, until each claim is decided: at least {time}, at most {} repetitions of a case; \
             claims are judged after {} repetitions; seed {seed}",
            looks.last(),
            ascending(&looks.at_repetitions),
        ),
    }
}

/// Formats numbers as `10, 15 and 30`.
fn ascending(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
