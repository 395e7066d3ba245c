//! Assignment of cases to panels, and the order of panels.

use std::collections::HashMap;

use ipcperf_model::size::Bytes;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary};

use super::figure_spec::{FigureSpec, Sizes};
use crate::wording::{Heading, by_heading};

/// Whether a case belongs in figures: it was measured and transfers something.
pub(super) fn is_drawn(case: &CaseSummary) -> bool {
    case.refused.is_none() && !case.case.is_harness_only()
}

/// The cases of one panel.
pub(super) struct Group<'a> {
    pub(super) file: &'a AnalyzedFile,
    pub(super) heading: Heading,
    pub(super) cases: Vec<&'a CaseSummary>,
    /// Role whose values are shown, if each role has its own panel.
    pub(super) role: Option<String>,
    /// Letter of the file and buffer size, which distinguish the panel from others with the same heading.
    letter: Option<char>,
    size: Option<u64>,
}

impl Group<'_> {
    /// Whether another panel shows the same question, perhaps for another machine or day.
    pub(super) fn has_same_request(&self, other: &Self) -> bool {
        self.size == other.size && self.heading.request_text() == other.heading.request_text()
    }

    /// Returns a sort key that puts the sender before the receiver, the reverse of alphabetical order.
    fn role_order(&self) -> std::cmp::Reverse<Option<String>> {
        std::cmp::Reverse(self.role.clone())
    }

    /// Returns the title that distinguishes the panel from the others.
    pub(super) fn title(&self, description: &FigureSpec) -> String {
        let mut parts: Vec<String> = self.letter.map(String::from).into_iter().collect();
        if description.workload != Some(self.heading.workload()) {
            parts.push(self.heading.workload().name().to_owned());
        }
        parts.push(self.heading.short_configuration());
        parts.extend(self.size.map(|bytes| Bytes(bytes).to_string()));
        parts.extend(self.role.clone());
        parts.join(" · ")
    }
}

/// Whether cases under `heading` belong in figures of `workload`: both have replies, or neither has. Paced cases have
/// tables instead.
fn is_comparable(workload: WorkloadKind, heading: &Heading) -> bool {
    workload.is_answered() == heading.workload().is_answered() && !heading.is_paced()
}

/// Maximum number of panels in a figure.
const MAX_PANELS: usize = 60;

/// Assigns cases to panels, in order: by question, with files side by side. Also returns the number of panels left out.
pub(super) fn groups<'a>(
    description: &FigureSpec,
    files: &'a [AnalyzedFile],
) -> (Vec<Group<'a>>, usize) {
    let mut groups: Vec<Group> = Vec::new();
    for (file, letter) in files.iter().zip('A'..) {
        let letter = (files.len() > 1).then_some(letter);
        for (heading, mut cases) in by_heading(&file.summaries) {
            if description.workload.is_some_and(|workload| !is_comparable(workload, &heading)) {
                continue;
            }
            cases.retain(|case| is_drawn(case));
            let whole = Group { file, heading, cases, role: None, letter, size: None };
            groups.extend(split(description, whole));
        }
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for group in &groups {
        let next = places.len();
        places.entry(group.heading.request_text()).or_insert(next);
    }
    let place = |group: &Group| places.get(&group.heading.request_text()).copied();
    groups.sort_by_cached_key(|group| (place(group), group.size, group.role_order(), group.letter));
    let left_out = groups.len().saturating_sub(MAX_PANELS);
    groups.truncate(MAX_PANELS);
    (groups, left_out)
}

/// Splits a group by role or size, if each gets its own panel.
fn split<'a>(description: &FigureSpec, whole: Group<'a>) -> Vec<Group<'a>> {
    let part = |role, size: Option<u64>| {
        let is_of = |case: &&&CaseSummary| size.is_none_or(|bytes| case.case.buffer_bytes == bytes);
        let cases = whole.cases.iter().filter(is_of).copied().collect();
        let heading = whole.heading.clone();
        Group { file: whole.file, heading, cases, role, letter: whole.letter, size }
    };
    if description.y.is_per_role() {
        let mut roles: Vec<&String> = whole.cases.iter().flat_map(|c| c.roles.keys()).collect();
        roles.sort_unstable();
        roles.dedup();
        return roles.into_iter().map(|role| part(Some(role.clone()), None)).collect();
    }
    let sizes = || whole.cases.iter().map(|case| case.case.buffer_bytes);
    match (description.sizes, sizes().min(), sizes().max()) {
        (Sizes::Extremes, Some(least), Some(most)) if least < most => {
            vec![part(None, Some(least)), part(None, Some(most))]
        }
        (Sizes::Extremes, Some(only), _) => vec![part(None, Some(only))],
        (Sizes::All, _, _) | (Sizes::Extremes, None, _) => vec![whole],
    }
}
