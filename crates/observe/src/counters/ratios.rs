//! Ratios of counts of the same run.

use ipcperf_model::instrument::counters::{EventCount, EventRatio, PrivilegeLevel};

/// A ratio and its possible pairs of events: the first pair of which both were counted is used.
struct RatioDefinition {
    name: &'static str,
    pairs: &'static [(&'static str, &'static str)],
}

const RATIOS: &[RatioDefinition] = &[
    RatioDefinition {
        name: "cycles-per-instruction",
        pairs: &[
            ("cycles", "instructions"),
            ("cpu-cycles", "instructions"),
            ("CLOCK_CYCLES", "INSTR_EXECUTED"),
            ("CPU_CYCLES", "INST_RETIRED"),
        ],
    },
    RatioDefinition {
        name: "l1d-misses-per-access",
        pairs: &[
            ("L1D_CACHE_REFILL", "L1D_CACHE"),
            ("L1_DCACHE_REFILL", "L1_DCACHE_ACCESS"),
            ("L1-dcache-load-misses", "L1-dcache-loads"),
        ],
    },
    RatioDefinition { name: "l1i-misses-per-access", pairs: &[("L1I_CACHE_REFILL", "L1I_CACHE")] },
    RatioDefinition {
        name: "l2-misses-per-access",
        pairs: &[("L2D_CACHE_REFILL", "L2D_CACHE"), ("L2_CACHE_MISS", "L2_ACCESS")],
    },
    RatioDefinition {
        name: "llc-misses-per-access",
        pairs: &[("LLC-load-misses", "LLC-loads"), ("cache-misses", "cache-references")],
    },
    RatioDefinition { name: "dtlb-misses-per-load", pairs: &[("dTLB-load-misses", "dTLB-loads")] },
    RatioDefinition {
        name: "mispredicted-per-branch",
        pairs: &[("branch-misses", "branches"), ("branch-misses", "branch-instructions")],
    },
    // For cores that do not count L2 misses: this ratio rises once the L2 is too small.
    RatioDefinition {
        name: "cycles-per-l2-access",
        pairs: &[
            ("CLOCK_CYCLES", "L2_ACCESS"),
            ("cycles", "L2D_CACHE"),
            ("CPU_CYCLES", "L2D_CACHE"),
        ],
    },
    RatioDefinition {
        name: "bus-accesses-per-instruction",
        pairs: &[
            ("BUS_ACCESS", "instructions"),
            ("BUS_ACCESS", "INST_RETIRED"),
            ("AXI_READ", "INSTR_EXECUTED"),
        ],
    },
];

/// Returns the ratios of `rows`, which belong to one role: for the program, the kernel, and both together.
pub(super) fn compute(rows: &[EventCount]) -> Vec<EventRatio> {
    let is_counted = |name: &str| rows.iter().any(|row| row.event == name);
    let available = RATIOS.iter().filter_map(|definition| {
        let pair = definition.pairs.iter().find(|pair| is_counted(pair.0) && is_counted(pair.1))?;
        Some((definition.name, *pair))
    });
    available.flat_map(|(name, pair)| in_spaces(name, pair, rows)).collect()
}

fn in_spaces(name: &str, pair: (&str, &str), rows: &[EventCount]) -> Vec<EventRatio> {
    let spaces = [PrivilegeLevel::User, PrivilegeLevel::Kernel, PrivilegeLevel::Both]
        .into_iter()
        .filter_map(|space| {
            let (numerator, denominator) =
                (count(rows, pair.0, space)?, count(rows, pair.1, space)?);
            let value = numerator
                .zip(denominator)
                .and_then(|(numerator, denominator)| divide(numerator, denominator));
            Some(EventRatio { ratio: name.to_owned(), space, value })
        });
    spaces.collect()
}

/// Returns the count of `event` in `space`: `None` if it was not requested, `Some(None)` if it was not available. The
/// count for both spaces is that of a single counter, or the sum of two.
fn count(rows: &[EventCount], event: &str, space: PrivilegeLevel) -> Option<Option<u64>> {
    let find = |space| rows.iter().find(|row| row.event == event && row.space == space);
    if let Some(row) = find(space) {
        return Some(row.count);
    }
    let (user, kernel) = (find(PrivilegeLevel::User)?, find(PrivilegeLevel::Kernel)?);
    Some(user.count.zip(kernel.count).map(|(user, kernel)| user.saturating_add(kernel)))
}

#[allow(clippy::cast_precision_loss)]
fn divide(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(event: &str, space: PrivilegeLevel, count: Option<u64>) -> EventCount {
        let event = event.to_owned();
        EventCount { event, space, count, running_share: Some(1.0), raw_count: count }
    }

    fn values(rows: &[EventCount]) -> Vec<(String, PrivilegeLevel, Option<f64>)> {
        compute(rows).into_iter().map(|one| (one.ratio, one.space, one.value)).collect()
    }

    #[test]
    fn what_was_counted_apart_is_told_apart_and_together() {
        let rows = [
            row("cycles", PrivilegeLevel::User, Some(30)),
            row("cycles", PrivilegeLevel::Kernel, Some(90)),
            row("instructions", PrivilegeLevel::User, Some(20)),
            row("instructions", PrivilegeLevel::Kernel, Some(30)),
        ];
        let name = "cycles-per-instruction".to_owned();
        assert_eq!(
            values(&rows),
            [
                (name.clone(), PrivilegeLevel::User, Some(1.5)),
                (name.clone(), PrivilegeLevel::Kernel, Some(3.0)),
                (name, PrivilegeLevel::Both, Some(2.4)),
            ]
        );
    }

    #[test]
    fn a_space_that_was_not_asked_for_has_no_ratio_and_one_that_was_not_had_is_null() {
        let rows = [
            row("CLOCK_CYCLES", PrivilegeLevel::Both, Some(10)),
            row("INSTR_EXECUTED", PrivilegeLevel::Both, None),
            row("L2_ACCESS", PrivilegeLevel::Both, Some(0)),
        ];
        assert_eq!(
            values(&rows),
            [
                ("cycles-per-instruction".to_owned(), PrivilegeLevel::Both, None),
                ("cycles-per-l2-access".to_owned(), PrivilegeLevel::Both, None),
            ]
        );
        assert_eq!(values(&rows[1..]), []);
    }

    #[test]
    fn names_occur_once() {
        for (index, made) in RATIOS.iter().enumerate() {
            assert!(RATIOS[..index].iter().all(|other| other.name != made.name));
        }
    }
}
