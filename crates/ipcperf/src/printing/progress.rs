//! Progress bar: drawn between runs, never during one, and only on a terminal.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ipcperf_model::printable::printable_line;
use ipcperf_model::units;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_stats::quartiles;

use ipcperf_plan::Case;

/// Minimum time between redraws; more would heat up the CPU that the next run needs.
const REDRAW: Duration = Duration::from_millis(100);

/// Whether progress is shown on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Shown if standard error is a terminal.
    OnTerminal,
    /// Never shown.
    Quiet,
}

/// Progress bar with the case, the time left and the median of the case so far.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    last_drawn: Option<Instant>,
    done: u64,
}

impl Progress {
    /// Creates a bar over `runs` runs.
    pub(crate) fn new(runs: u64, visibility: Visibility) -> Self {
        let seen = visibility == Visibility::OnTerminal && std::io::stderr().is_terminal();
        let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(runs), target);
        // The template is a constant; if it were wrong, the default bar would do.
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), last_drawn: None, done: 0 }
    }

    /// Shows that another run of `case` starts, which has `figures` so far.
    pub(crate) fn show(&mut self, case: &Case, figures: &[f64]) {
        let due = self.last_drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW);
        if due && !self.bar.is_hidden() {
            self.bar.set_message(printable_line(&self.message(case, figures)).into_owned());
            self.bar.set_position(self.done);
            self.last_drawn = Some(Instant::now());
        }
        self.done += 1;
        // Retries, and repetitions required by a stopping rule, add to the planned runs.
        if self.bar.length().is_some_and(|length| length < self.done) {
            self.bar.set_length(self.done);
        }
    }

    /// Adds `runs` that were not planned before.
    pub(crate) fn add_runs(&mut self, runs: u64) {
        self.bar.set_length(self.done + runs);
    }

    /// Removes the bar from the terminal.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn message(&self, case: &Case, figures: &[f64]) -> String {
        let median = quartiles(figures).map_or_else(
            |_| String::new(),
            |quartiles| {
                let figure = match case.spec.workload {
                    WorkloadKind::Stream if !case.is_harness_only() => {
                        units::bandwidth(quartiles.median)
                    }
                    _ => units::time(quartiles.median),
                };
                format!("{figure} median, ")
            },
        );
        format!("{}{median}{}", self.time_left(), case.id)
    }

    #[allow(clippy::cast_precision_loss, reason = "an estimate for people")]
    fn time_left(&self) -> String {
        if self.done == 0 {
            return String::new();
        }
        let runs = self.bar.length().unwrap_or(self.done).saturating_sub(self.done);
        let each = self.started.elapsed().as_secs_f64() / self.done as f64;
        format!("{} left, ", units::duration(Duration::from_secs_f64(each * runs as f64)))
    }
}
