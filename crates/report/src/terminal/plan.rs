//! A plan for display on a terminal: the matrix, what is left out, and the estimated time.

use ipcperf_model::size::Bytes;
use ipcperf_model::units;
use ipcperf_plan::{CaseInstruments, MissingPart, Plan, StoppingRule};

use super::cells::new_table;
use super::instruments::cells_left_out;

/// Maximum number of cases listed. More are only counted.
const MAX_LISTED: usize = 400;

/// Formats the plan as a table, at most `columns` wide, with closing lines.
pub fn plan_table(plan: &Plan, columns: usize) -> String {
    let mut table = new_table(columns);
    let is_instrumented = plan.cases.iter().any(|case| !case.instruments.names.is_empty());
    let mut header = vec!["mechanism", "workload", "mode", "placement", "CPUs", "buffer", "total"];
    header.extend(is_instrumented.then_some("instruments"));
    table.set_header(header);
    for case in plan.cases.iter().take(MAX_LISTED) {
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
        table.add_row(
            row.into_iter().chain(is_instrumented.then(|| instruments_text(&case.instruments))),
        );
    }
    let mut lines = vec![table.to_string()];
    if plan.cases.len() > MAX_LISTED {
        lines.push(format!("... and {} more cases", plan.cases.len() - MAX_LISTED));
    }
    lines.extend(plan.refused.iter().map(|refused| format!("refused: {refused}")));
    lines.extend(plan.unavailable.iter().map(|absent| {
        format!("unavailable: {}: {} ({})", absent.mechanism, absent.reason, absent.remedy)
    }));
    lines.extend(plan.unavailable_instruments.iter().map(|missing| {
        let what = match missing.missing_part {
            MissingPart::Whole => "unavailable instrument",
            MissingPart::Event => "partly unavailable instrument",
        };
        let left_out = cells_left_out(missing.cells_left_out, &missing.matrices);
        format!("{what}: {}: {}{left_out}", missing.instrument, missing.why)
    }));
    lines.push(closing_line(plan));
    lines.join("\n")
}

/// Names the instruments of a case, or says that it is an uninstrumented twin.
fn instruments_text(instruments: &CaseInstruments) -> String {
    match (instruments.names.as_slice(), &instruments.twin_of) {
        (names, None) => names.join(", "),
        ([], Some(_)) => "none (twin)".to_owned(),
        (names, Some(_)) => format!("{} (twin)", names.join(", ")),
    }
}

fn closing_line(plan: &Plan) -> String {
    let (cases, blocks, runs) = (plan.cases.len(), plan.full_blocks(), plan.runs());
    let (time, seed) = (units::duration(plan.estimate()), plan.seed);
    let counts = format!("{cases} cases, {blocks} blocks (the first is excluded), {runs} runs");
    match &plan.stopping_rule {
        StoppingRule::Repetitions(_) => format!("{counts}, about {time}; seed {seed}"),
        StoppingRule::UntilCi(precision) => format!(
            "{counts} or more, until the precision of each median is ±{}: at least {time}; at most {} repetitions or \
             {} per case; seed {seed}",
            units::percent(precision.half_width),
            precision.max_repetitions,
            units::duration(precision.max_time()),
        ),
        StoppingRule::UntilDecided(looks) => format!(
            "{counts} or more, until each claim is decided: at least {time}, at most {} repetitions per case; claims \
             are judged after {} repetitions; seed {seed}",
            looks.last(),
            join_numbers(&looks.at_repetitions),
        ),
    }
}

/// Formats numbers as `10, 15 and 30`.
fn join_numbers(numbers: &[u32]) -> String {
    let words: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
