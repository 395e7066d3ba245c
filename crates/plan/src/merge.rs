//! Merges several matrices into one plan: their cases share the same blocks, and a case of two matrices is run
//! once.

use std::collections::{HashMap, HashSet};

use ipcperf_engine::mechanism::RequestedMechanism;
use ipcperf_engine::placement::Topology;

use super::cell::Naming;
use super::{Case, Plan, Request, WithoutInstruments, matrix};
use crate::error::Error;

impl Plan {
    /// Resolves `requests`, each with the name of its matrix, against this machine. Repetitions, seed and deadline
    /// are those of the first request.
    ///
    /// # Errors
    /// Returns a usage error if there are no requests, for a CPU outside the cpuset, or if every cell is refused,
    /// and nothing-runs if no requested mechanism is available.
    pub fn resolve_all(requests: &[(String, Request)], topology: &Topology) -> Result<Self, Error> {
        let cells = requests.iter().map(|(_, request)| {
            let mechanisms = request.mechanisms.iter().map(RequestedMechanism::mechanism);
            matrix::count(request, mechanisms)
        });
        crate::cell_count::check_count(cells.fold(0, usize::saturating_add))?;
        let parts = |naming| -> Result<Vec<(&str, Self)>, Error> {
            let mut parts = Vec::new();
            for (name, request) in requests {
                let part =
                    Self::resolve_part(request, naming, WithoutInstruments::LeftOut, topology)?;
                parts.push((name.as_str(), part));
            }
            Ok(parts)
        };
        let has_one_total = requests.windows(2).all(|two| two[0].1.total == two[1].1.total);
        let usual = parts(Naming::Short)?;
        let parts =
            if has_one_total && has_unique_names(&usual) { usual } else { parts(Naming::Full)? };
        let merged =
            parts.into_iter().map(|(name, part)| part.with_matrix(name)).reduce(Self::merge);
        let nothing = || Error::usage("the study has no matrix, so nothing is measured");
        merged.ok_or_else(nothing)?.require_cases()
    }

    fn with_matrix(mut self, name: &str) -> Self {
        for case in &mut self.cases {
            case.matrices = vec![name.to_owned()];
        }
        for missing in
            self.unavailable_instruments.iter_mut().filter(|missing| missing.cells_left_out > 0)
        {
            missing.matrices = vec![name.to_owned()];
        }
        self
    }

    /// Merges both plans; duplicates are kept once.
    fn merge(mut self, other: Self) -> Self {
        let known: HashMap<String, usize> =
            self.cases.iter().enumerate().map(|(at, case)| (case.id.clone(), at)).collect();
        for case in other.cases {
            match known.get(&case.id) {
                Some(&at) => self.cases[at].matrices.extend(case.matrices),
                None => self.cases.push(case),
            }
        }
        let known: HashSet<String> = self.refused.iter().map(|one| one.id.clone()).collect();
        self.refused.extend(other.refused.into_iter().filter(|one| !known.contains(&one.id)));
        for absent in other.unavailable {
            if !self.unavailable.iter().any(|one| one.mechanism == absent.mechanism) {
                self.unavailable.push(absent);
            }
        }
        for missing in other.unavailable_instruments {
            match self
                .unavailable_instruments
                .iter_mut()
                .find(|known| known.has_same_cause(&missing))
            {
                Some(known) => known.merge(missing),
                None => self.unavailable_instruments.push(missing),
            }
        }
        self
    }
}

/// Whether cases with the same name are identical.
fn has_unique_names(parts: &[(&str, Plan)]) -> bool {
    let mut seen: HashMap<&str, &Case> = HashMap::new();
    let cases = parts.iter().flat_map(|(_, plan)| &plan.cases);
    cases.into_iter().all(|case| {
        let first = seen.entry(&case.id).or_insert(case);
        first.spec == case.spec && first.instruments == case.instruments
    })
}
