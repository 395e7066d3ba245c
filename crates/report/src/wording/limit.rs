//! Hardware limits of the best mechanism as a sentence.

use ipcperf_model::units;
use ipcperf_results::analysis::{Bound, Contender};

/// Maximum credible share of a hardware limit. Slightly more than 1 is noise of both measurements. Above this, the
/// limit does not apply, or its measurement was disturbed.
const MAX_CREDIBLE_SHARE: f64 = 1.1;

/// Describes what limits `best`, and its share of the limit. `None` if the limits were not measured.
pub(crate) fn limit_text(best: &Contender) -> Option<String> {
    let hardware_limit = best.hardware_limit?;
    let (name, bound, share) =
        (&best.name, hardware_limit.bound_by.description(), units::percent(hardware_limit.share));
    Some(if hardware_limit.share > MAX_CREDIBLE_SHARE && hardware_limit.bound_by == Bound::WakeUp {
        format!(
            "{name} reaches {share} of its hardware limit (two wake-ups across CPUs): the peers found most messages \
             before they fell asleep."
        )
    } else if hardware_limit.share > MAX_CREDIBLE_SHARE {
        format!(
            "{name} seems to reach {share} of its hardware limit ({bound}): the measurement of the limit was \
             disturbed, so what bounds {name} is unknown."
        )
    } else {
        format!("{name} reaches {share} of its hardware limit ({bound}).")
    })
}
