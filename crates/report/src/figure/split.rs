//! Division of panels with too many lines into several panels.

use super::chart::{Content, Curve, Panel};

/// Maximum number of lines in a panel: the number of colors that are easily distinguished.
const MAX_LINES: usize = 8;

/// Divides each of `panels` that has more than [`MAX_LINES`] lines into panels with the same axes and about the same
/// number of lines. Rows are not divided: they never overlap.
pub(super) fn split_panels(panels: Vec<Panel>) -> Vec<Panel> {
    panels.into_iter().flat_map(split_panel).collect()
}

fn split_panel(panel: Panel) -> Vec<Panel> {
    let lines = panel.content.curves.len();
    if lines <= MAX_LINES || !panel.content.rows.is_empty() {
        return vec![panel];
    }
    let parts = lines.div_ceil(MAX_LINES);
    let curves = panel.content.curves.chunks(lines.div_ceil(parts));
    (1..).zip(curves).map(|(number, curves)| part(&panel, curves, (number, parts))).collect()
}

/// Returns part `number` of `parts` of a panel, with its lines, and the findings that are on them or on no line.
fn part(panel: &Panel, curves: &[Curve], (number, parts): (usize, usize)) -> Panel {
    let belongs = |series| curves.iter().any(|curve| curve.series == series);
    let findings = panel.findings.iter().filter(|finding| finding.series.is_none_or(belongs));
    let part_name = format!("part {number} of {parts}");
    let title = match panel.title.as_str() {
        "" => part_name,
        title => format!("{title} · {part_name}"),
    };
    Panel {
        title,
        content: Content { curves: curves.to_vec(), rows: Vec::new() },
        findings: findings.cloned().collect(),
        ..panel.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Quantity;
    use crate::figure::axis::Axis;
    use crate::figure::chart::{Finding, FindingAxis};

    /// Returns a panel with `lines` lines and a finding on the last one.
    fn panel(lines: usize) -> Panel {
        let curves = (0..lines).map(|series| Curve { series, ..Curve::default() });
        let last = Finding {
            axis: FindingAxis::X,
            value: 1.0,
            interval: None,
            label: "peak".to_owned(),
            series: lines.checked_sub(1),
        };
        Panel {
            title: "2proc, same".to_owned(),
            x: Axis::from_range(Quantity::BufferBytes, 1.0, 2.0),
            y: Axis::from_range(Quantity::Bandwidth, 1.0, 2.0),
            content: Content { curves: curves.collect(), rows: Vec::new() },
            guides: Vec::new(),
            caches: Vec::new(),
            findings: vec![last],
        }
    }

    #[test]
    fn eight_lines_stay_together() {
        assert_eq!(split_panels(vec![panel(8)]), [panel(8)]);
    }

    #[test]
    fn more_lines_are_divided_evenly_and_take_their_findings_along() {
        let parts = split_panels(vec![panel(17)]);
        let facts = parts.iter().map(|part| (part.content.curves.len(), part.findings.len()));
        assert_eq!(facts.collect::<Vec<_>>(), [(6, 0), (6, 0), (5, 1)]);
        assert_eq!(parts[2].title, "2proc, same · part 3 of 3");
        assert!(parts.iter().all(|part| part.x == parts[0].x && part.y == parts[0].y));
    }
}
