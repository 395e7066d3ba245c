//! Descriptions of figures. A figure is one [`Description`] without code of its own.

use std::borrow::Cow;

use ipcperf_model::workload::Kind;

use super::quantity::Quantity;

/// A declarative description of a figure: the quantities on its axes, the cases, the statistic and the reference lines.
/// Series are mechanisms with their options. Each mode, placement, CPU distance class and kernel buffer has its own
/// panel. The panels of several results files are side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Name, used in links and file names.
    pub name: Cow<'static, str>,
    /// Title.
    pub title: Cow<'static, str>,
    /// Caption: the feature to look for.
    pub see: &'static str,
    /// Only cases of this workload.
    pub workload: Option<Kind>,
    /// Only cases of these sizes.
    pub sizes: Sizes,
    /// Quantity on the horizontal axis.
    pub x: Quantity,
    /// Quantity on the vertical axis.
    pub y: Quantity,
    /// Statistic shown for the samples of a case.
    pub statistic: Statistic,
    /// Reference lines from the machine.
    pub references: &'static [Reference],
}

/// Selection of buffer sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All sizes.
    All,
    /// The smallest and the largest size, each in its own panel.
    Ends,
}

/// Statistic shown for the samples of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The median of the repetitions with a band. If they have several modes, the largest mode, with the other modes as
    /// separate marks: no single central value would represent them.
    Median(Band),
    /// The cumulative distribution of the single values, pooled over all repetitions.
    Distribution,
    /// Each mode with its share, for cases with several modes.
    Modes,
}

/// Band around a median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// The middle half of the repetitions.
    Quartiles,
}

/// Reference line or mark from the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The hardware limit.
    Limit,
    /// The whole: 100 %.
    Whole,
    /// The cache sizes, on the horizontal axis.
    Caches,
}

/// The figures of a report, in order.
pub const FIGURES: &[Description] = &[
    Description {
        name: Cow::Borrowed("bandwidth"),
        title: Cow::Borrowed("Bandwidth"),
        see: "Where a line rises in proportion to the buffer, each message costs the same: calls \
              and wake-ups decide. Where it flattens, bytes decide. Where it falls, buffers have \
              outgrown a cache or the kernel's queue.",
        workload: Some(Kind::Stream),
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::Bandwidth,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Limit, Reference::Caches],
    },
    Description {
        name: Cow::Borrowed("round-trip"),
        title: Cow::Borrowed("Round trip"),
        see: "A flat line is the cost of waking and switching; it bends up where copying the \
              message begins to count.",
        workload: Some(Kind::RoundTrip),
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::RoundTripMean,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Limit, Reference::Caches],
    },
    Description {
        name: Cow::Borrowed("round-trip-distribution"),
        title: Cow::Borrowed("Single round trips: what share took at most how long"),
        see: "The further left and the steeper a line, the faster and the more even. A step is a \
              mode: some trips go another way, such as sleeping instead of spinning. The marks are \
              1, 10, 25, 50, 75, 90, 99 and 99.9 % of the trips.",
        workload: Some(Kind::RoundTrip),
        sizes: Sizes::Ends,
        x: Quantity::SingleRoundTrip,
        y: Quantity::CumulatedShare,
        statistic: Statistic::Distribution,
        references: &[],
    },
    Description {
        name: Cow::Borrowed("share-of-limit"),
        title: Cow::Borrowed("Share of what this machine can do"),
        see: "What the machine needs at least (copying the message, entering the kernel, switching, \
              or carrying a cache line, whichever takes longest), over what it took. 100 % cannot be \
              beaten; far below it lies what the mechanism itself costs.",
        workload: None,
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::ShareOfLimit,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Whole, Reference::Caches],
    },
    Description {
        name: Cow::Borrowed("cpu-per-byte"),
        title: Cow::Borrowed("CPU time for each byte, by role"),
        see: "What sender and receiver each spend to move a byte of a stream. Bandwidth that is \
              bought with two busy CPUs shows here.",
        workload: Some(Kind::Stream),
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::CpuPerByte,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Caches],
    },
    Description {
        name: Cow::Borrowed("cpu-per-message"),
        title: Cow::Borrowed("CPU time for each message, by role"),
        see: "What sender and receiver each spend on a message of a stream, or on a round trip. A \
              party that spins pays for all of the time it waits.",
        workload: None,
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::CpuPerMessage,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Caches],
    },
    Description {
        name: Cow::Borrowed("bandwidth-modes"),
        title: Cow::Borrowed("Bandwidth in several modes"),
        see: "Cases whose repetitions fall into groups. Each dot is a group, larger where it holds \
              more of the repetitions. No middle of them all would stand for any.",
        workload: Some(Kind::Stream),
        sizes: Sizes::All,
        x: Quantity::Bandwidth,
        y: Quantity::Case,
        statistic: Statistic::Modes,
        references: &[],
    },
    Description {
        name: Cow::Borrowed("round-trip-modes"),
        title: Cow::Borrowed("Round trips in several modes"),
        see: "Cases whose single round trips fall into groups. Each dot is a group, larger where it \
              holds more of the trips.",
        workload: Some(Kind::RoundTrip),
        sizes: Sizes::All,
        x: Quantity::SingleRoundTrip,
        y: Quantity::Case,
        statistic: Statistic::Modes,
        references: &[],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_different_and_fit_for_links_and_files() {
        let names: BTreeSet<&str> = FIGURES.iter().map(|figure| &*figure.name).collect();
        assert_eq!(names.len(), FIGURES.len());
        let fits = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(names.iter().all(|name| name.chars().all(fits)), "{names:?}");
    }
}
