//! End of the screen: what is not shown, how to see it, and what tracing cost.

use ipcperf_results::analysis::{AnalyzedFile, probe_effects};
use ipcperf_results::{ProbeEffect, Sample};

use crate::terminal::width::wrap;

/// Observations that the screen does not show.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// Number of roles.
    pub(super) roles: usize,
    /// Number of tables and figures by instrument.
    pub(super) views: Vec<(String, usize)>,
}

impl Hidden {
    /// Lists the observations; `None` if there are none.
    fn describe(&self) -> Option<String> {
        let views = self.views.iter().map(|(_, count)| count).sum::<usize>();
        let by = self.views.iter().map(|(instrument, count)| format!("{instrument} {count}"));
        let by = by.collect::<Vec<_>>().join(", ");
        let roles = match self.roles {
            0 => None,
            1 => Some("1 more role".to_owned()),
            more => Some(format!("{more} more roles")),
        };
        let views = (views > 0).then(|| format!("{views} tables and figures ({by})"));
        let all: Vec<String> = roles.into_iter().chain(views).collect();
        (!all.is_empty()).then(|| format!("Not shown: {}", all.join("; ")))
    }
}

/// Returns what is `hidden`, the commands that show the whole of `file`, and, last, what tracing cost.
pub(super) fn footer(file: &AnalyzedFile, hidden: &Hidden, columns: usize) -> String {
    let path = file.path.display();
    // Commands are not wrapped, so that they can be copied.
    let commands = format!(
        "All tables:  ipcperf show {path}\nAll figures: ipcperf report {path} -o report.html"
    );
    let lines = hidden.describe().map(|text| wrap(&text, columns)).into_iter();
    let cost = wrap(&cost_line(&file.results.samples), columns);
    lines.chain([commands, cost]).collect::<Vec<_>>().join("\n")
}

/// Describes how much longer a message took with instruments than without.
fn cost_line(samples: &[Sample]) -> String {
    let effects = probe_effects(samples);
    let of_parts = effects.iter().map(|effect| match effects.len() {
        1 => effect_text(effect),
        _ => format!("{} ({})", effect_text(effect), effect.instruments.join(", ")),
    });
    let costs = of_parts.collect::<Vec<_>>().join("; ");
    let has_twin = samples.iter().any(|sample| sample.twin_of.is_some());
    match (effects.is_empty(), has_twin) {
        (false, _) => format!("Cost of tracing: {costs}"),
        (true, true) => {
            "Cost of tracing: unknown (no valid pair of runs with and without it)".to_owned()
        }
        (true, false) => {
            "Cost of tracing: none (these instruments act only before and after the run)".to_owned()
        }
    }
}

fn effect_text(effect: &ProbeEffect) -> String {
    let pairs = if effect.pairs == 1 { "pair" } else { "pairs" };
    let note = if effect.slowdown_interval.is_none() { ", too few to be reliable" } else { "" };
    format!(
        "{:.2} times the time per message without it ({} {pairs} of runs{note})",
        effect.slowdown, effect.pairs
    )
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;
    use ipcperf_results::testing::sample;

    use super::*;

    fn run(case: &str, twin_of: Option<&str>, block: u32, elapsed_ns: u64) -> Sample {
        let mut run = sample("pipe", WorkloadKind::Stream, 64, block, elapsed_ns);
        run.run.case.case_id = case.to_owned();
        run.twin_of = twin_of.map(str::to_owned);
        run
    }

    #[test]
    fn the_cost_is_that_of_the_pair_or_unknown_or_none() {
        let pair = [run("one", None, 1, 3_420_000), run("twin", Some("one"), 1, 1_000_000)];
        let cost = "Cost of tracing: 3.42 times the time per message without it (1 pair of runs, \
                    too few to be reliable)";
        assert_eq!(cost_line(&pair), cost);
        let unpaired = [run("one", None, 1, 2), run("twin", Some("one"), 2, 1)];
        assert!(cost_line(&unpaired).contains("unknown"), "{}", cost_line(&unpaired));
        assert!(cost_line(&pair[..1]).contains("none"), "{}", cost_line(&pair[..1]));
    }

    #[test]
    fn what_is_hidden_is_counted() {
        let views = vec![("syscalls".to_owned(), 6), ("sched".to_owned(), 5)];
        let hidden = Hidden { roles: 2, views };
        let text = "Not shown: 2 more roles; 11 tables and figures (syscalls 6, sched 5)";
        assert_eq!(hidden.describe().as_deref(), Some(text));
        assert_eq!(Hidden::default().describe(), None);
    }
}
