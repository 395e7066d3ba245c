//! Assignment of cases to panels, and the order of panels.

use std::collections::{BTreeMap, HashMap};

use ipcperf_model::rate::PerSecond;
use ipcperf_model::size::Bytes;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_results::analysis::{AnalyzedFile, CaseSummary};

use super::figure_spec::{FigureSpec, Sizes};
use super::quantity::Quantity;
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
    /// Rate of the cases, if each rate has its own panel, messages per second.
    rate_per_s: Option<u64>,
}

impl Group<'_> {
    /// Whether another panel shows the same question, perhaps for another machine or day.
    pub(super) fn has_same_request(&self, other: &Self) -> bool {
        (self.size, self.rate_per_s) == (other.size, other.rate_per_s)
            && self.heading.request_text() == other.heading.request_text()
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
        parts.extend(self.rate_per_s.map(|per_s| PerSecond(per_s).to_string()));
        parts.extend(self.role.clone());
        parts.join(" · ")
    }
}

/// Whether cases under `heading` belong in the figure: its workload and theirs have replies, or neither has, and both are
/// paced, or neither is. Events are counted in both.
fn is_comparable(description: &FigureSpec, heading: &Heading) -> bool {
    let is_alike = |workload: WorkloadKind| {
        workload.is_answered() == heading.workload().is_answered() && !heading.is_paced()
    };
    match (&description.y, description.workload) {
        (Quantity::Counter(..), None) => true,
        (y, None) => y.is_paced() == heading.is_paced(),
        (_, Some(workload)) => is_alike(workload),
    }
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
            if !is_comparable(description, &heading) {
                continue;
            }
            cases.retain(|case| is_drawn(case));
            let whole =
                Group { file, heading, cases, role: None, letter, size: None, rate_per_s: None };
            let of_rates = split_by_rate(description, whole);
            groups.extend(of_rates.into_iter().flat_map(|group| split(description, group)));
        }
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for group in &groups {
        let next = places.len();
        places.entry(group.heading.request_text()).or_insert(next);
    }
    let place = |group: &Group| places.get(&group.heading.request_text()).copied();
    groups.sort_by_cached_key(|group| {
        (place(group), group.size, group.rate_per_s, group.role_order(), group.letter)
    });
    let left_out = groups.len().saturating_sub(MAX_PANELS);
    groups.truncate(MAX_PANELS);
    (groups, left_out)
}

/// Splits a group of paced cases by rate.
fn split_by_rate<'a>(description: &FigureSpec, whole: Group<'a>) -> Vec<Group<'a>> {
    if !description.y.is_paced() {
        return vec![whole];
    }
    let mut by_rate: BTreeMap<Option<u64>, Vec<&'a CaseSummary>> = BTreeMap::new();
    for case in &whole.cases {
        by_rate.entry(case.case.rate_per_s).or_default().push(case);
    }
    let group = |(rate_per_s, cases)| Group {
        heading: whole.heading.clone(),
        cases,
        role: None,
        rate_per_s,
        ..whole
    };
    by_rate.into_iter().map(group).collect()
}

/// Splits a group by role or size, if each gets its own panel.
fn split<'a>(description: &FigureSpec, whole: Group<'a>) -> Vec<Group<'a>> {
    let part = |role, size: Option<u64>| {
        let is_of = |case: &&&CaseSummary| size.is_none_or(|bytes| case.case.buffer_bytes == bytes);
        let cases = whole.cases.iter().filter(is_of).copied().collect();
        let heading = whole.heading.clone();
        Group { heading, cases, role, size, ..whole }
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
