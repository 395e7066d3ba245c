//! The sections of a study file and their keys, except the keys of tests, which are in [`crate::hypothesis`].

use super::key::{Key, Need, Takes};
use super::section::{Repeats, Section, of_factor, optional, required};
use crate::display_schema::{FIGURE, PICTURE, TABLE};
use ipcperf_plan::{Factor, LONGEST_DEADLINE_S, LONGEST_MOST_S};

/// The top of the file.
pub(crate) const TOP: Section = Section {
    name: "",
    repeats: Repeats::Once,
    about: "What the study is called and what it asks.",
    keys: &[
        required(
            "name",
            Takes::Name,
            "\"pipe-or-socket\"",
            "names the study on the command line and in results",
        ),
        required("title", Takes::Text, "\"Pipe or socket?\"", "heads the report"),
        required(
            "question",
            Takes::Text,
            "\"Is a pipe faster than a unix socket between two processes on one CPU?\"",
            "what is asked, as a sentence",
        ),
        optional(
            "source",
            Takes::Text,
            "\"Bell and Thomas 2020\"",
            "none",
            "the document whose question it is",
        ),
    ],
};

/// The `[sampling]` section: repetitions, limits and seed.
pub(crate) const SAMPLING: Section = Section {
    name: "sampling",
    repeats: Repeats::Once,
    about: "How often each case is measured.",
    keys: &[
        of_factor(
            Factor::Repetitions,
            Takes::Whole(1, 100_000),
            "20",
            "kept repetitions of each case; one more comes first and is set aside",
        ),
        optional(
            "quick_repetitions",
            Takes::Whole(1, 10),
            "6",
            "10, or repetitions where these are fewer",
            "kept repetitions with --quick",
        ),
        of_factor(
            Factor::UntilCi,
            Takes::Number(0.001, 99.0),
            "2",
            "repeat until the 95 % interval of the median is known to this many per cent, either way",
        ),
        of_factor(
            Factor::MostRepetitions,
            Takes::Whole(10, 100_000),
            "200",
            "with until_ci: give a case up after so many",
        ),
        of_factor(
            Factor::MostSeconds,
            Takes::Number(0.001, LONGEST_MOST_S),
            "120",
            "with until_ci: repeat no longer, s",
        ),
        of_factor(
            Factor::Attempts,
            Takes::Whole(1, 1_000),
            "3",
            "runs for one repetition at most, until one is undisturbed",
        ),
        of_factor(
            Factor::Deadline,
            Takes::Number(0.001, LONGEST_DEADLINE_S),
            "10",
            "the most a run may last, s",
        ),
        of_factor(Factor::Seed, Takes::Whole(0, u64::MAX), "1", "shuffles the cases of each block"),
    ],
};

/// The `[[matrix]]` section: the cases to measure.
pub(crate) const MATRIX: Section = Section {
    name: "matrix",
    repeats: Repeats::Often,
    about: "What is measured: every combination of the levels. Words are those of the flags of ipcperf run; an \
            option is a table of its mechanism's name: pipe.capacity = [\"default\", \"1MiB\"].",
    keys: MATRIX_KEYS,
};

const MATRIX_KEYS: &[Key] = &[
    optional(
        "name",
        Takes::Name,
        "\"streams\"",
        "its number",
        "names it, so that hypotheses can mean its cases",
    ),
    required(
        Factor::Mechanism.key(),
        Takes::Levels,
        "[\"pipe\", \"unix-stream\"]",
        "what carries the bytes",
    ),
    required(
        Factor::Buffer.key(),
        Takes::Levels,
        "\"512..16MiB\"",
        "bytes of one call, or of one message",
    ),
    of_factor(Factor::Workload, Takes::Levels, "\"stream\"", "what the parties do"),
    of_factor(Factor::Total, Takes::Levels, "\"16MiB\"", "payload one way in a run"),
    optional(
        "messages",
        Takes::Whole(1, 1 << 40),
        "1000000",
        "none",
        "messages, or round trips, in a run: instead of total",
    ),
    of_factor(Factor::Mode, Takes::Levels, "\"2proc\"", "which parties there are"),
    of_factor(Factor::Placement, Takes::Levels, "\"same\"", "on which CPUs"),
    of_factor(
        Factor::KernelBuffer,
        Takes::Levels,
        "[\"default\", \"match\"]",
        "what the kernel holds",
    ),
    of_factor(Factor::Touch, Takes::Levels, "\"both\"", "who writes and reads every byte"),
    of_factor(Factor::Payload, Takes::Levels, "\"random\"", "what messages hold"),
    of_factor(
        Factor::Buffers,
        Takes::Levels,
        "\"rotate\"",
        "whether messages lie where the one before lay",
    ),
    of_factor(
        Factor::FirstTouch,
        Takes::Levels,
        "\"before-fork\"",
        "when buffers are touched first",
    ),
    of_factor(Factor::Reply, Takes::Levels, "\"8\"", "what a request is answered with"),
    of_factor(Factor::Instrument, Takes::Levels, "[\"rusage\", \"syscalls\"]", "what watches runs"),
    of_factor(
        Factor::CounterEvents,
        Takes::Levels,
        "[\"instructions\", \"cycles\"]",
        "what counters count",
    ),
    of_factor(Factor::ProfileEvent, Takes::Levels, "\"cpu-clock\"", "by what the profile samples"),
    optional(
        "quick",
        Takes::Table(OTHER_LENGTH),
        "{ messages = 20000 }",
        "every second size",
        "what --quick has instead",
    ),
    optional(
        "as_published",
        Takes::Table(OTHER_LENGTH),
        "{ messages = 1000000 }",
        "as in full",
        "what --as-published has instead: counts that take hours",
    ),
];

/// Keys that `--quick` and `--as-published` can override.
const OTHER_LENGTH: &[Key] = &[
    optional(
        Factor::Buffer.key(),
        Takes::Levels,
        "\"512,64KiB,16MiB\"",
        "every second",
        "bytes of one call or message",
    ),
    optional(
        Factor::Total.key(),
        Takes::Levels,
        "\"1MiB\"",
        "as in full",
        "payload one way in a run",
    ),
    optional("messages", Takes::Whole(1, 1 << 40), "20000", "as in full", "messages in a run"),
    optional(
        Factor::Mechanism.key(),
        Takes::Levels,
        "\"pipe\"",
        "as in full",
        "what carries the bytes",
    ),
    optional(Factor::Placement.key(), Takes::Levels, "\"same\"", "as in full", "on which CPUs"),
];

/// Factor along which a line of cases runs.
pub(crate) const OVER: Key = optional(
    "over",
    Takes::Name,
    "\"buffer\"",
    "buffer",
    "the factor along which a line of cases runs",
);
/// Significance level of the test.
pub(crate) const LEVEL: Key =
    optional("level", Takes::Number(0.000_1, 0.5), "0.05", "0.05", "the level of the test");
/// Correction of p-values for multiple comparisons.
pub(crate) const CORRECTION: Key = optional(
    "correction",
    Takes::OneOf(&["holm", "benjamini-hochberg", "none"]),
    "\"holm\"",
    "holm",
    "of p-values and intervals where the claim has several parts and one suffices to reject or, at a \
             `need` below 1, to support",
);
/// Minimum share of parts that must hold.
pub(crate) const NEED: Key = optional(
    "need",
    Takes::Number(0.001, 1.0),
    "0.75",
    "1",
    "the share of its parts that must hold for the claim to be supported",
);

/// Metric that is compared.
pub(crate) const METRIC: Key = optional(
    "metric",
    Takes::Metric,
    "\"bandwidth\"",
    "what the cases are about",
    "what is compared",
);
/// Cases to which a claim is restricted.
pub(crate) const WHERE: Key = optional(
    "where",
    Takes::Cases,
    "{ placement = \"same\" }",
    "all cases",
    "the cases that are meant",
);
/// Number that the figure of the p-values has in the publication.
pub(crate) const FIGURE_NUMBER: Key = optional(
    "figure",
    Takes::Name,
    "\"3b\"",
    "none",
    "the number that the figure of its p-values by level has in the document",
);
/// Result of the publication.
pub(crate) const PUBLISHED: Key = optional(
    "published",
    Takes::Text,
    "\"3.9 to 5.9\"",
    "none",
    "what the document found, to be shown beside",
);

/// The `[[hypothesis]]` section. Each test adds its own keys.
pub(crate) const HYPOTHESIS: Section = Section {
    name: "hypothesis",
    repeats: Repeats::Often,
    about: "What is claimed before anything is measured, and the test that judges it.",
    keys: &[
        required("id", Takes::Name, "\"H1\"", "names it"),
        required(
            "claim",
            Takes::Text,
            "\"A pipe is faster than a unix socket.\"",
            "the claim, as a sentence",
        ),
        required("test", Takes::Text, "\"faster-than\"", "the test that judges it"),
        METRIC,
        WHERE,
        OVER,
        LEVEL,
        CORRECTION,
        NEED,
        FIGURE_NUMBER,
        PUBLISHED,
        optional(
            "beside",
            Takes::Judgement,
            "{ statistic = \"student\", correction = \"none\" }",
            "none",
            "how the document judged it: a verdict of its own beside ours",
        ),
    ],
};

/// Default of a key of the publication's judgement: the value of the claim.
const AS_ABOVE: Need = Need::Optional("as above");

/// Keys with which the judgement of a publication may differ from ours, in addition to the keys of the test.
pub const BESIDE: &[Key] = &[
    Key { need: AS_ABOVE, ..LEVEL },
    Key { need: AS_ABOVE, about: "of p-values", example: "\"none\"", ..CORRECTION },
    Key { need: AS_ABOVE, about: "the share of parts that must hold", ..NEED },
];

/// Statistics for comparing two samples.
pub(crate) const STATISTICS: &[&str] =
    &["wilcoxon", "paired-t", "mann-whitney", "student", "welch"];

/// All sections, in the order of the documentation.
pub(crate) const SECTIONS: [&Section; 7] =
    [&TOP, &SAMPLING, &MATRIX, &TABLE, &FIGURE, &PICTURE, &HYPOTHESIS];
