//! Descriptions of figures. A figure is one [`FigureSpec`] without code of its own.

use std::borrow::Cow;

use ipcperf_model::workload::WorkloadKind;

use super::quantity::Quantity;

/// A declarative description of a figure: the quantities on its axes, the cases, the statistic and the reference lines.
/// Series are mechanisms with their options. Each mode, placement, CPU distance class and kernel buffer has its own
/// panel. The panels of several results files are side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSpec {
    /// Name, used in links and file names.
    pub name: Cow<'static, str>,
    /// Subject, with which the title starts.
    pub subject: Cow<'static, str>,
    /// Quantity on the horizontal axis, if the title names it.
    pub by: Option<&'static str>,
    /// Caption: the feature to look for.
    pub caption: &'static str,
    /// Only cases of this workload.
    pub workload: Option<WorkloadKind>,
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
    Extremes,
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
    /// One point for each case, at the medians of both quantities, with the middle half of each.
    Scatter,
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
    HundredPercent,
    /// The cache sizes, on the horizontal axis.
    Caches,
}

/// The figures of a report, in order.
pub const FIGURES: &[FigureSpec] = &[
    FigureSpec {
        name: Cow::Borrowed("bandwidth"),
        subject: Cow::Borrowed("Bandwidth"),
        by: Some("buffer size"),
        caption: "Where a line rises in proportion to the buffer size, the cost per message is constant: system calls \
            and wake-ups dominate. Where the line flattens, the cost per byte dominates. Where the line falls, the \
            buffers are larger than a cache or the kernel's queue.",
        workload: Some(WorkloadKind::Stream),
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::Bandwidth,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Limit, Reference::Caches],
    },
    FigureSpec {
        name: Cow::Borrowed("round-trip"),
        subject: Cow::Borrowed("Round-trip latency"),
        by: Some("message size"),
        caption: "Where a line is flat, wake-ups and context switches dominate. Where it bends up, copying the message \
            becomes significant.",
        workload: Some(WorkloadKind::RoundTrip),
        sizes: Sizes::All,
        x: Quantity::MessageBytes,
        y: Quantity::RoundTripMean,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Limit, Reference::Caches],
    },
    FigureSpec {
        name: Cow::Borrowed("round-trip-distribution"),
        subject: Cow::Borrowed("Latency distribution (CDF)"),
        by: None,
        caption: "The further left a line is, the shorter are the round trips; the steeper it is, the less they vary. A \
            line with two steep parts shows two modes: some round trips take another path, such as sleeping instead \
            of spinning. The marks are at 1, 10, 25, 50, 75, 90, 99 and 99.9 % of the round trips.",
        workload: Some(WorkloadKind::RoundTrip),
        sizes: Sizes::Extremes,
        x: Quantity::SingleRoundTrip,
        y: Quantity::CumulatedShare,
        statistic: Statistic::Distribution,
        references: &[],
    },
    FigureSpec {
        name: Cow::Borrowed("share-of-limit"),
        subject: Cow::Borrowed("Share of hardware limit"),
        by: None,
        caption: "The minimum time of a message on this machine, divided by the measured time. The minimum is the time \
            to copy the message or the time to hand it over (system calls, context switches, wake-ups or a cache \
            line), whichever is longer. At 100 %, a mechanism is as fast as the hardware allows; a low share means \
            that it spends its time elsewhere.",
        workload: None,
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::ShareOfLimit,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::HundredPercent, Reference::Caches],
    },
    FigureSpec {
        name: Cow::Borrowed("cpu-per-byte"),
        subject: Cow::Borrowed("CPU time per byte by role"),
        by: None,
        caption: "CPU time of the sender and of the receiver for each byte of a stream. It shows whether a high \
            bandwidth keeps two CPUs busy.",
        workload: Some(WorkloadKind::Stream),
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::CpuPerByte,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Caches],
    },
    FigureSpec {
        name: Cow::Borrowed("cpu-per-message"),
        subject: Cow::Borrowed("CPU time per message by role"),
        by: None,
        caption: "CPU time of the sender and of the receiver for each message of a stream, or for each round trip. A \
            peer that spins uses CPU time while it waits.",
        workload: None,
        sizes: Sizes::All,
        x: Quantity::BufferBytes,
        y: Quantity::CpuPerMessage,
        statistic: Statistic::Median(Band::Quartiles),
        references: &[Reference::Caches],
    },
    FigureSpec {
        name: Cow::Borrowed("latency-cpu"),
        subject: Cow::Borrowed("Round-trip latency against CPU time"),
        by: None,
        caption: "Each mark is a mechanism with its options. The lower a mark is, the shorter are the round trips. The \
            further left it is, the less CPU time a round trip takes, in all roles together. A mechanism that spins \
            while it waits pays with CPU time for short round trips.",
        workload: Some(WorkloadKind::RoundTrip),
        sizes: Sizes::Extremes,
        x: Quantity::CpuPerRoundTrip,
        y: Quantity::RoundTripMean,
        statistic: Statistic::Scatter,
        references: &[],
    },
    FigureSpec {
        name: Cow::Borrowed("paced-latency-cpu"),
        subject: Cow::Borrowed("Latency at a rate against CPU time"),
        by: None,
        caption: "Each mark is a mechanism with its options, and each rate has a panel. The lower a mark is, the shorter is \
            the median latency from the schedule. The further left it is, the less CPU time a message takes, in all roles \
            together and without waiting for the schedule. A receiver that spins pays with CPU time for a low latency, \
            and pays most at low rates. Mechanisms that do not carry the rate are left out.",
        workload: None,
        sizes: Sizes::Extremes,
        x: Quantity::PacedCpu,
        y: Quantity::PacedLatency,
        statistic: Statistic::Scatter,
        references: &[],
    },
    FigureSpec {
        name: Cow::Borrowed("bandwidth-modes"),
        subject: Cow::Borrowed("Bandwidth in several modes"),
        by: None,
        caption: "Cases whose repetitions form groups. Each dot is a group; larger dots contain more repetitions. A \
            single median would describe none of the groups.",
        workload: Some(WorkloadKind::Stream),
        sizes: Sizes::All,
        x: Quantity::Bandwidth,
        y: Quantity::Case,
        statistic: Statistic::Modes,
        references: &[],
    },
    FigureSpec {
        name: Cow::Borrowed("round-trip-modes"),
        subject: Cow::Borrowed("Round-trip latency in several modes"),
        by: None,
        caption: "Cases whose individual round trips form groups. Each dot is a group; larger dots contain more round \
            trips.",
        workload: Some(WorkloadKind::RoundTrip),
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
