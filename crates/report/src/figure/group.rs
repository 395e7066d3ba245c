//! Which cases stand in which panel, and in what order panels stand.

use std::collections::HashMap;

use ipcperf_model::size::Bytes;
use ipcperf_model::workload::Kind;
use ipcperf_results::analysis::{CaseSummary, Summarised};

use super::description::{Description, Sizes};
use crate::wording::{Heading, by_heading};

/// Whether a case has its place in figures: it was measured, and something moved.
pub(super) fn is_drawn(case: &CaseSummary) -> bool {
    case.refused.is_none() && !case.case.moves_nothing()
}

/// The cases of one panel.
pub(super) struct Group<'a> {
    pub(super) file: &'a Summarised,
    pub(super) heading: Heading,
    pub(super) cases: Vec<&'a CaseSummary>,
    /// Whose figures are meant, where each role has its own.
    pub(super) role: Option<String>,
    /// Its place among the files, then a size, that tell it from others of the same heading.
    letter: Option<char>,
    size: Option<u64>,
}

impl Group<'_> {
    /// Whether the same was asked for another panel, of another machine or day perhaps.
    pub(super) fn asks_the_same(&self, other: &Self) -> bool {
        self.size == other.size && self.heading.question() == other.heading.question()
    }

    /// The sender comes before the receiver, which the alphabet has the other way round.
    fn turn(&self) -> std::cmp::Reverse<Option<String>> {
        std::cmp::Reverse(self.role.clone())
    }

    /// What tells the panel from the others.
    pub(super) fn title(&self, description: &Description) -> String {
        let mut parts: Vec<String> = self.letter.map(String::from).into_iter().collect();
        if description.workload != Some(self.heading.workload()) {
            parts.push(self.heading.workload().name().to_owned());
        }
        parts.push(self.heading.place_in_short());
        parts.extend(self.size.map(|bytes| Bytes(bytes).to_string()));
        parts.extend(self.role.clone());
        parts.join(" · ")
    }
}

/// Whether what stands under `heading` belongs into figures of `workload`: both are answered, or neither.
fn is_like(workload: Kind, heading: &Heading) -> bool {
    workload.is_answered() == heading.workload().is_answered()
}

/// Nobody looks at more panels of one figure.
const MOST_PANELS: usize = 60;

/// The cases of each panel, panels in their order: what was asked first, and files side by side. How
/// many more there would be is told beside them.
pub(super) fn groups<'a>(
    description: &Description,
    files: &'a [Summarised],
) -> (Vec<Group<'a>>, usize) {
    let mut groups: Vec<Group> = Vec::new();
    for (file, letter) in files.iter().zip('A'..) {
        let letter = (files.len() > 1).then_some(letter);
        for (heading, mut cases) in by_heading(&file.summaries) {
            if description.workload.is_some_and(|workload| !is_like(workload, &heading)) {
                continue;
            }
            cases.retain(|case| is_drawn(case));
            let whole = Group { file, heading, cases, role: None, letter, size: None };
            groups.extend(parted(description, whole));
        }
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for group in &groups {
        let next = places.len();
        places.entry(group.heading.question()).or_insert(next);
    }
    let place = |group: &Group| places.get(&group.heading.question()).copied();
    groups.sort_by_cached_key(|group| (place(group), group.size, group.turn(), group.letter));
    let left_out = groups.len().saturating_sub(MOST_PANELS);
    groups.truncate(MOST_PANELS);
    (groups, left_out)
}

/// A group for each role or size that gets a panel of its own.
fn parted<'a>(description: &Description, whole: Group<'a>) -> Vec<Group<'a>> {
    let part = |role, size: Option<u64>| {
        let is_of = |case: &&&CaseSummary| size.is_none_or(|bytes| case.case.buffer_bytes == bytes);
        let cases = whole.cases.iter().filter(is_of).copied().collect();
        let heading = whole.heading.clone();
        Group { file: whole.file, heading, cases, role, letter: whole.letter, size }
    };
    if description.y.is_of_roles() {
        let mut roles: Vec<&String> = whole.cases.iter().flat_map(|c| c.roles.keys()).collect();
        roles.sort_unstable();
        roles.dedup();
        return roles.into_iter().map(|role| part(Some(role.clone()), None)).collect();
    }
    let sizes = || whole.cases.iter().map(|case| case.case.buffer_bytes);
    match (description.sizes, sizes().min(), sizes().max()) {
        (Sizes::Ends, Some(least), Some(most)) if least < most => {
            vec![part(None, Some(least)), part(None, Some(most))]
        }
        (Sizes::Ends, Some(only), _) => vec![part(None, Some(only))],
        (Sizes::All, _, _) | (Sizes::Ends, None, _) => vec![whole],
    }
}
