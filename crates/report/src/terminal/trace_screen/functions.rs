//! Hottest functions of the roles, side by side.

use ipcperf_model::instrument::profile::{ProfileRow, Space, SymbolShare};
use ipcperf_model::observation::{Observation, rows_of};
use ipcperf_model::units;
use textwrap::core::display_width;

use crate::terminal::clip::{CutAt, clip};

/// Maximum number of functions shown for each role.
const MAX_FUNCTIONS: usize = 10;
/// Minimum width of the functions of a role; roles that do not fit side by side are shown below each other.
const MIN_WIDTH: usize = 32;
/// Width of a share with the space after it.
const SHARE_WIDTH: usize = 8;
/// Mark of a function of the kernel, as in perf.
const IN_KERNEL: &str = " [k]";

/// Formats the functions of each of `roles` that was sampled, at most `columns` wide; `None` if none was.
pub(super) fn hottest_functions(
    roles: &[&str],
    observations: &[Observation],
    columns: usize,
) -> Option<String> {
    let sampled: Vec<_> = roles
        .iter()
        .filter_map(|&role| Some((role, RoleFunctions::new(rows_of(observations, role))?)))
        .collect();
    let across = (columns / MIN_WIDTH).min(sampled.len()).max(1);
    let width = columns / across;
    let blocks = sampled.chunks(across).map(|chunk| {
        let columns = chunk.iter().map(|(role, functions)| functions.lines(role, width - 1));
        side_by_side(&columns.collect::<Vec<_>>(), width)
    });
    let blocks: Vec<String> = blocks.collect();
    let title = "Hottest functions: share of the samples of the role ([k]: in the kernel)";
    (!blocks.is_empty()).then(|| format!("{title}\n{}", blocks.join("\n")))
}

/// Samples of one role by function.
#[derive(Debug)]
struct RoleFunctions {
    samples: u64,
    /// Functions, those with the largest share first.
    symbols: Vec<SymbolShare>,
}

impl RoleFunctions {
    /// Selects the functions from the `rows` of a role; `None` if it was not sampled.
    fn new(rows: Vec<ProfileRow>) -> Option<Self> {
        let (mut samples, mut symbols) = (None, Vec::new());
        for row in rows {
            match row {
                ProfileRow::Summary(summary) => samples = Some(summary.samples),
                ProfileRow::Symbol(symbol) => symbols.push(symbol),
                ProfileRow::Group(_) | ProfileRow::Stack(_) => {}
            }
        }
        symbols.sort_by(|one, other| other.share.total_cmp(&one.share));
        samples.map(|samples| Self { samples, symbols })
    }

    /// Returns a heading, the functions and the number of those that are not shown, at most `width` wide.
    fn lines(&self, role: &str, width: usize) -> Vec<String> {
        let samples = if self.samples == 1 { "sample" } else { "samples" };
        let heading = format!(" {role}, {} {samples}", self.samples);
        let shown = self.symbols.iter().take(MAX_FUNCTIONS);
        let shown = shown.map(|symbol| function_line(symbol, width));
        let hidden = match self.symbols.len().saturating_sub(MAX_FUNCTIONS) {
            0 => None,
            1 => Some("1 more function".to_owned()),
            hidden => Some(format!("{hidden} more functions")),
        };
        let hidden = hidden.map(|text| format!("{:SHARE_WIDTH$}{text}", ""));
        std::iter::once(clip(&heading, width, CutAt::Character))
            .chain(shown)
            .chain(hidden)
            .collect()
    }
}

fn function_line(symbol: &SymbolShare, width: usize) -> String {
    let mark = if symbol.space == Space::Kernel { IN_KERNEL } else { "" };
    let room = width.saturating_sub(SHARE_WIDTH + mark.len());
    let name = clip(&symbol.symbol, room, CutAt::Character);
    format!("{:>7} {name}{mark}", units::percent(symbol.share))
}

/// Puts `columns` of lines next to each other, each `width` wide.
fn side_by_side(columns: &[Vec<String>], width: usize) -> String {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let cells = columns.iter().map(|lines| {
            let text = lines.get(at).map_or("", String::as_str);
            format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
        });
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::trace_screen::test_rows::profile_rows;

    /// Returns a profile of `role` with 200 samples.
    fn observations(role: &str, functions: u32) -> Vec<Observation> {
        let rows = profile_rows(200, functions);
        rows.iter().map(|row| Observation::from_row(Some(role), row)).collect()
    }

    #[test]
    fn two_roles_stand_side_by_side() {
        let all = [observations("sender", 12), observations("receiver", 3)].concat();
        let text = hottest_functions(&["sender", "receiver"], &all, 100).expect("samples");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 1 + MAX_FUNCTIONS + 1, "{text}");
        assert!(lines[1].starts_with(" sender, 200 samples "), "{text}");
        assert!(lines[1].ends_with(" receiver, 200 samples"), "{text}");
        assert_eq!(lines[2].matches("long_name_12 [k]").count(), 1, "{text}");
        assert!(lines[2].starts_with("   12 % ") && lines[2].contains("  3.0 % "), "{text}");
        assert_eq!(lines[12], "        2 more functions");
    }

    #[test]
    fn roles_that_do_not_fit_stand_below_each_other() {
        let all = [observations("sender", 2), observations("receiver", 2)].concat();
        for (columns, height) in [(80, 4), (40, 7)] {
            let text = hottest_functions(&["sender", "receiver"], &all, columns).expect("samples");
            assert_eq!(text.lines().count(), height, "{text}");
            let is_narrow = |line: &str| display_width(line) <= columns;
            assert!(text.lines().skip(1).all(is_narrow), "{text}");
        }
    }

    #[test]
    fn what_was_not_sampled_is_not_shown() {
        assert_eq!(hottest_functions(&["sender"], &[], 100), None);
    }
}
