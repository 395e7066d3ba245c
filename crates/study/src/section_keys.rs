//! The sections of a study file, each with its keys.
//!
//! The sections for figures and tables are in [`crate::display_sections`]; the keys of tests are in
//! [`crate::hypothesis`].

use super::key::{Key, Requirement, ValueType};
use super::section::{Occurrence, Section, factor_key, optional, required};
use crate::display_sections::{FIGURE, INSTRUMENT_FIGURE, TABLE};
use ipcperf_plan::{Factor, MAX_TIME_LIMIT_S, MAX_TIMEOUT_S};

/// The top of the file.
pub(crate) const TOP: Section = Section {
    name: "",
    occurrence: Occurrence::Once,
    about: "Name and question of the study.",
    keys: &[
        required(
            "name",
            ValueType::Name,
            "\"pipe-or-socket\"",
            "name on the command line and in results files",
        ),
        required("title", ValueType::Text, "\"Pipe or socket?\"", "title of the report"),
        required(
            "question",
            ValueType::Text,
            "\"Is a pipe faster than a unix socket between two processes on one CPU?\"",
            "the question, as a sentence",
        ),
        optional(
            "source",
            ValueType::Text,
            "\"Bell and Thomas 2020\"",
            "none",
            "the paper that the study repeats",
        ),
    ],
};

/// The `[sampling]` section: repetitions, limits and seed.
pub(crate) const SAMPLING: Section = Section {
    name: "sampling",
    occurrence: Occurrence::Once,
    about: "Number of repetitions of each case.",
    keys: &[
        factor_key(
            Factor::Repetitions,
            ValueType::Integer(1, 100_000),
            "20",
            "valid repetitions of each case; one more is made first and excluded",
        ),
        optional(
            "quick_repetitions",
            ValueType::Integer(1, 10),
            "6",
            "10, or repetitions if that is fewer",
            "valid repetitions with --quick",
        ),
        factor_key(
            Factor::UntilCi,
            ValueType::Number(0.001, 99.0),
            "2",
            "repeat until the 95 % interval of the median is within this percentage of it, in either \
             direction",
        ),
        factor_key(
            Factor::MaxRepetitions,
            ValueType::Integer(10, 100_000),
            "200",
            "with until_ci: maximum repetitions of a case",
        ),
        factor_key(
            Factor::MaxTime,
            ValueType::Number(0.001, MAX_TIME_LIMIT_S),
            "120",
            "with until_ci: maximum time for repetitions, s",
        ),
        factor_key(
            Factor::Attempts,
            ValueType::Integer(1, 1_000),
            "3",
            "attempts per repetition: a disturbed run is retried",
        ),
        factor_key(
            Factor::Timeout,
            ValueType::Number(0.001, MAX_TIMEOUT_S),
            "10",
            "maximum duration of a run, s",
        ),
        factor_key(
            Factor::Seed,
            ValueType::Integer(0, u64::MAX),
            "1",
            "seed that shuffles the cases of \
                                                                        each block",
        ),
    ],
};

/// The `[[matrix]]` section: the cases to measure.
pub(crate) const MATRIX: Section = Section {
    name: "matrix",
    occurrence: Occurrence::Many,
    about: "The cases to measure: every combination of the levels. Values are those of the flags of \
            ipcperf run. An option is a table with the name of its mechanism: pipe.capacity = \
            [\"default\", \"1MiB\"].",
    keys: MATRIX_KEYS,
};

const MATRIX_KEYS: &[Key] = &[
    optional(
        "name",
        ValueType::Name,
        "\"streams\"",
        "its number",
        "name, by which hypotheses can select its cases",
    ),
    required(
        Factor::Mechanism.key(),
        ValueType::Levels,
        "[\"pipe\", \"unix-stream\"]",
        "mechanism that carries the bytes",
    ),
    required(
        Factor::Buffer.key(),
        ValueType::Levels,
        "\"512..16MiB\"",
        "bytes per call, or per message",
    ),
    factor_key(Factor::Workload, ValueType::Levels, "\"stream\"", "traffic pattern of the peers"),
    factor_key(
        Factor::Total,
        ValueType::Levels,
        "\"16MiB\"",
        "payload bytes per run, in one direction",
    ),
    optional(
        "messages",
        ValueType::Integer(1, 1 << 40),
        "1000000",
        "none",
        "messages, or round trips, per run; instead of total",
    ),
    factor_key(
        Factor::Mode,
        ValueType::Levels,
        "\"2proc\"",
        "how the peers run: threads or processes",
    ),
    factor_key(Factor::Placement, ValueType::Levels, "\"same\"", "CPUs of the peers"),
    factor_key(
        Factor::KernelBuffer,
        ValueType::Levels,
        "[\"default\", \"match\"]",
        "size of the kernel buffer",
    ),
    factor_key(
        Factor::Touch,
        ValueType::Levels,
        "\"both\"",
        "which peer accesses every payload byte",
    ),
    factor_key(Factor::Payload, ValueType::Levels, "\"random\"", "content of the messages"),
    factor_key(
        Factor::Buffers,
        ValueType::Levels,
        "\"rotate\"",
        "whether messages reuse one buffer or rotate through several",
    ),
    factor_key(
        Factor::FirstTouch,
        ValueType::Levels,
        "\"before-fork\"",
        "when buffers are first touched",
    ),
    factor_key(Factor::Reply, ValueType::Levels, "\"8\"", "reply to a request: its size, or echo"),
    factor_key(Factor::Instrument, ValueType::Levels, "[\"rusage\", \"syscalls\"]", "instruments"),
    factor_key(
        Factor::CounterEvents,
        ValueType::Levels,
        "[\"instructions\", \"cycles\"]",
        "events of the instrument counters",
    ),
    factor_key(
        Factor::ProfileEvent,
        ValueType::Levels,
        "\"cpu-clock\"",
        "event of the instrument profile",
    ),
    optional(
        "quick",
        ValueType::Table(LENGTH_OVERRIDES),
        "{ messages = 20000 }",
        "every second size",
        "overrides with --quick",
    ),
    optional(
        "as_published",
        ValueType::Table(LENGTH_OVERRIDES),
        "{ messages = 1000000 }",
        "as at full length",
        "overrides with --as-published: message counts of the paper, which take hours",
    ),
];

/// Keys that `--quick` and `--as-published` can override.
const LENGTH_OVERRIDES: &[Key] = &[
    optional(
        Factor::Buffer.key(),
        ValueType::Levels,
        "\"512,64KiB,16MiB\"",
        "every second level",
        "bytes per call or message",
    ),
    optional(
        Factor::Total.key(),
        ValueType::Levels,
        "\"1MiB\"",
        "as at full length",
        "payload bytes per run, in one direction",
    ),
    optional(
        "messages",
        ValueType::Integer(1, 1 << 40),
        "20000",
        "as at full length",
        "messages per run",
    ),
    optional(
        Factor::Mechanism.key(),
        ValueType::Levels,
        "\"pipe\"",
        "as at full length",
        "mechanism that carries the bytes",
    ),
    optional(
        Factor::Placement.key(),
        ValueType::Levels,
        "\"same\"",
        "as at full length",
        "CPUs of the peers",
    ),
];

/// Factor along which a line of cases runs.
pub(crate) const OVER: Key = optional(
    "over",
    ValueType::Name,
    "\"buffer\"",
    "buffer",
    "factor along which a line of cases runs",
);
/// Significance level of the test.
pub(crate) const ALPHA: Key = optional(
    "alpha",
    ValueType::Number(0.000_1, 0.5),
    "0.05",
    "0.05",
    "significance level of the test",
);
/// Correction of p-values for multiple comparisons.
pub(crate) const CORRECTION: Key = optional(
    "correction",
    ValueType::Choice(&["holm", "benjamini-hochberg", "none"]),
    "\"holm\"",
    "holm",
    "correction of p-values and intervals for several parts, if one part is enough to reject or, with \
     `min_fraction` below 1, to support",
);
/// Minimum share of parts that must hold.
pub(crate) const MIN_FRACTION: Key = optional(
    "min_fraction",
    ValueType::Number(0.001, 1.0),
    "0.75",
    "1",
    "fraction of its parts that must hold for the claim to be supported",
);

/// Metric that is compared.
pub(crate) const METRIC: Key = optional(
    "metric",
    ValueType::Metric,
    "\"bandwidth\"",
    "main metric of the workload",
    "metric that is compared",
);
/// Cases to which a claim is restricted.
pub(crate) const WHERE: Key = optional(
    "where",
    ValueType::Cases,
    "{ placement = \"same\" }",
    "all cases",
    "selection of cases",
);
/// Number that the figure of the p-values has in the publication.
pub(crate) const FIGURE_NUMBER: Key = optional(
    "figure",
    ValueType::Name,
    "\"3b\"",
    "none",
    "number of the paper's figure of its p-values by level",
);
/// Result of the publication.
pub(crate) const PUBLISHED: Key = optional(
    "published",
    ValueType::Text,
    "\"3.9 to 5.9\"",
    "none",
    "result of the paper, as text",
);

/// The `[[hypothesis]]` section. Each test adds its own keys.
pub(crate) const HYPOTHESIS: Section = Section {
    name: "hypothesis",
    occurrence: Occurrence::Many,
    about: "A claim that is made before the measurement, and the test that judges it.",
    keys: &[
        required("id", ValueType::Name, "\"H1\"", "name of the claim"),
        required(
            "claim",
            ValueType::Text,
            "\"A pipe is faster than a unix socket.\"",
            "the claim, as a sentence",
        ),
        required("test", ValueType::Text, "\"faster-than\"", "the test that judges it"),
        METRIC,
        WHERE,
        OVER,
        ALPHA,
        CORRECTION,
        MIN_FRACTION,
        FIGURE_NUMBER,
        PUBLISHED,
        optional(
            "original_test",
            ValueType::OriginalTest,
            "{ statistic = \"student\", correction = \"none\" }",
            "none",
            "test of the paper: gives a second verdict",
        ),
    ],
};

/// Default of a key of the publication's judgement: the value of the claim.
const AS_ABOVE: Requirement = Requirement::Optional("as in the claim");

/// Keys with which the judgement of a publication may differ from ours, in addition to the keys of the test.
pub const ORIGINAL_TEST_KEYS: &[Key] = &[
    Key { requirement: AS_ABOVE, ..ALPHA },
    Key {
        requirement: AS_ABOVE,
        about: "correction of p-values",
        example: "\"none\"",
        ..CORRECTION
    },
    Key { requirement: AS_ABOVE, about: "fraction of the parts that must hold", ..MIN_FRACTION },
];

/// Statistics for comparing two samples.
pub(crate) const STATISTICS: &[&str] =
    &["wilcoxon", "paired-t", "mann-whitney", "student", "welch"];

/// All sections, in the order of the documentation.
pub(crate) const SECTIONS: [&Section; 7] =
    [&TOP, &SAMPLING, &MATRIX, &TABLE, &FIGURE, &INSTRUMENT_FIGURE, &HYPOTHESIS];
