//! Ratios of counts of the same run.

use ipcperf_model::instrument::counters::{Count, Ratio, Space};

/// A ratio and its possible pairs of events: the first pair of which both were counted is used.
struct Made {
    name: &'static str,
    pairs: &'static [(&'static str, &'static str)],
}

const MADE: &[Made] = &[
    Made {
        name: "cycles-per-instruction",
        pairs: &[
            ("cycles", "instructions"),
            ("cpu-cycles", "instructions"),
            ("CLOCK_CYCLES", "INSTR_EXECUTED"),
            ("CPU_CYCLES", "INST_RETIRED"),
        ],
    },
    Made {
        name: "l1d-misses-per-access",
        pairs: &[
            ("L1D_CACHE_REFILL", "L1D_CACHE"),
            ("L1_DCACHE_REFILL", "L1_DCACHE_ACCESS"),
            ("L1-dcache-load-misses", "L1-dcache-loads"),
        ],
    },
    Made { name: "l1i-misses-per-access", pairs: &[("L1I_CACHE_REFILL", "L1I_CACHE")] },
    Made {
        name: "l2-misses-per-access",
        pairs: &[("L2D_CACHE_REFILL", "L2D_CACHE"), ("L2_CACHE_MISS", "L2_ACCESS")],
    },
    Made {
        name: "llc-misses-per-access",
        pairs: &[("LLC-load-misses", "LLC-loads"), ("cache-misses", "cache-references")],
    },
    Made { name: "dtlb-misses-per-load", pairs: &[("dTLB-load-misses", "dTLB-loads")] },
    Made {
        name: "mispredicted-per-branch",
        pairs: &[("branch-misses", "branches"), ("branch-misses", "branch-instructions")],
    },
    // For cores that do not count L2 misses: this ratio rises once the L2 is too small.
    Made {
        name: "cycles-per-l2-access",
        pairs: &[
            ("CLOCK_CYCLES", "L2_ACCESS"),
            ("cycles", "L2D_CACHE"),
            ("CPU_CYCLES", "L2D_CACHE"),
        ],
    },
    Made {
        name: "bus-accesses-per-instruction",
        pairs: &[
            ("BUS_ACCESS", "instructions"),
            ("BUS_ACCESS", "INST_RETIRED"),
            ("AXI_READ", "INSTR_EXECUTED"),
        ],
    },
];

/// Returns the ratios of `rows`, which belong to one role: for the program, the kernel, and both together.
pub(super) fn of(rows: &[Count]) -> Vec<Ratio> {
    let is_there = |name: &str| rows.iter().any(|row| row.event == name);
    let made = MADE.iter().filter_map(|made| {
        let pair = made.pairs.iter().find(|pair| is_there(pair.0) && is_there(pair.1))?;
        Some((made.name, *pair))
    });
    made.flat_map(|(name, pair)| in_spaces(name, pair, rows)).collect()
}

fn in_spaces(name: &str, pair: (&str, &str), rows: &[Count]) -> Vec<Ratio> {
    let spaces = [Space::User, Space::Kernel, Space::Both].into_iter().filter_map(|space| {
        let (over, under) = (count(rows, pair.0, space)?, count(rows, pair.1, space)?);
        let value = over.zip(under).and_then(|(over, under)| divided(over, under));
        Some(Ratio { ratio: name.to_owned(), space, value })
    });
    spaces.collect()
}

/// Returns the count of `event` in `space`: `None` if it was not requested, `Some(None)` if it was not available. The
/// count for both spaces is that of a single counter, or the sum of two.
fn count(rows: &[Count], event: &str, space: Space) -> Option<Option<u64>> {
    let of = |space| rows.iter().find(|row| row.event == event && row.space == space);
    if let Some(row) = of(space) {
        return Some(row.count);
    }
    let (user, kernel) = (of(Space::User)?, of(Space::Kernel)?);
    Some(user.count.zip(kernel.count).map(|(user, kernel)| user.saturating_add(kernel)))
}

#[allow(clippy::cast_precision_loss)]
fn divided(over: u64, under: u64) -> Option<f64> {
    (under > 0).then(|| over as f64 / under as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(event: &str, space: Space, count: Option<u64>) -> Count {
        let event = event.to_owned();
        Count { event, space, count, counted_share: Some(1.0), raw_count: count }
    }

    fn values(rows: &[Count]) -> Vec<(String, Space, Option<f64>)> {
        of(rows).into_iter().map(|one| (one.ratio, one.space, one.value)).collect()
    }

    #[test]
    fn what_was_counted_apart_is_told_apart_and_together() {
        let rows = [
            row("cycles", Space::User, Some(30)),
            row("cycles", Space::Kernel, Some(90)),
            row("instructions", Space::User, Some(20)),
            row("instructions", Space::Kernel, Some(30)),
        ];
        let name = "cycles-per-instruction".to_owned();
        assert_eq!(
            values(&rows),
            [
                (name.clone(), Space::User, Some(1.5)),
                (name.clone(), Space::Kernel, Some(3.0)),
                (name, Space::Both, Some(2.4)),
            ]
        );
    }

    #[test]
    fn a_space_that_was_not_asked_for_has_no_ratio_and_one_that_was_not_had_is_null() {
        let rows = [
            row("CLOCK_CYCLES", Space::Both, Some(10)),
            row("INSTR_EXECUTED", Space::Both, None),
            row("L2_ACCESS", Space::Both, Some(0)),
        ];
        assert_eq!(
            values(&rows),
            [
                ("cycles-per-instruction".to_owned(), Space::Both, None),
                ("cycles-per-l2-access".to_owned(), Space::Both, None),
            ]
        );
        assert_eq!(values(&rows[1..]), []);
    }

    #[test]
    fn names_occur_once() {
        for (index, made) in MADE.iter().enumerate() {
            assert!(MADE[..index].iter().all(|other| other.name != made.name));
        }
    }
}
