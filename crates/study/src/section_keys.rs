//! The sections of a study file, each with its keys.
//!
//! The sections for figures and tables are in [`crate::display_sections`]; the keys of tests are in
//! [`crate::hypothesis`].

use super::key::{Key, Requirement, ValueType};
use super::section::{Occurrence, Section, factor_key, optional, required, required_unless};
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
            "name of the study on the command line and in results files",
        ),
        required("title", ValueType::Text, "\"Pipe or socket?\"", "title of the report"),
        required(
            "question",
            ValueType::Text,
            "\"Is a pipe faster than a unix socket between two processes on one CPU?\"",
            "question that the study answers, as a sentence",
        ),
        optional(
            "source",
            ValueType::Text,
            "\"Bell and Thomas 2020\"",
            "none",
            "paper that the study repeats",
        ),
    ],
};

/// The `[sampling]` section: repetitions, limits and seed.
pub(crate) const SAMPLING: Section = Section {
    name: "sampling",
    occurrence: Occurrence::Once,
    about: "Repetitions of each case, time limits, and the seed for the order of the cases.",
    keys: &[
        factor_key(
            Factor::Repetitions,
            ValueType::Integer(1, 100_000),
            "20",
            "number of valid repetitions of each case; one more repetition is made first, and is excluded",
        ),
        optional(
            "quick_repetitions",
            ValueType::Integer(1, 10),
            "6",
            "the smaller of 10 and `repetitions`",
            "number of valid repetitions of each case with --quick",
        ),
        factor_key(
            Factor::UntilCi,
            ValueType::Number(0.001, 99.0),
            "2",
            "instead of `repetitions`: precision in percent. A case is repeated until half the width of the 95 % \
             interval of its median is at most this percentage of the median, in two consecutive checks",
        ),
        factor_key(
            Factor::MaxRepetitions,
            ValueType::Integer(10, 100_000),
            "200",
            "with `until_ci`: maximum number of repetitions of each case",
        ),
        factor_key(
            Factor::MaxTime,
            ValueType::Duration(0.001, MAX_TIME_LIMIT_S),
            "\"2min\"",
            "with `until_ci`: time limit of the measurement; after it, a case is repeated only until it has 10 repetitions",
        ),
        factor_key(
            Factor::Attempts,
            ValueType::Integer(1, 1_000),
            "3",
            "maximum number of attempts per repetition; a run that other activity disturbed is retried",
        ),
        factor_key(
            Factor::Timeout,
            ValueType::Duration(0.001, MAX_TIMEOUT_S),
            "\"10s\"",
            "maximum duration of a run; a run that takes longer is stopped and counts as failed",
        ),
        factor_key(
            Factor::Seed,
            ValueType::Integer(0, u64::MAX),
            "1",
            "seed for the order of the cases within each block",
        ),
    ],
};

/// The `[[matrix]]` section: the cases to measure.
pub(crate) const MATRIX: Section = Section {
    name: "matrix",
    occurrence: Occurrence::Many,
    about: "The cases to measure: every combination of the levels of all keys. Most keys have the name of a \
            flag of ipcperf run, and their levels are written as for this flag: kernel_buffer takes the levels \
            of --kernel-buffer. The key for an option of a mechanism is MECHANISM.OPTION: pipe.capacity = \
            [\"default\", \"1MiB\"].",
    keys: MATRIX_KEYS,
};

const MATRIX_KEYS: &[Key] = &[
    optional(
        "name",
        ValueType::Name,
        "\"streams\"",
        "position of the matrix in the file: 1, 2, ...",
        "name by which hypotheses, tables and figures can select the cases of this matrix",
    ),
    required(
        Factor::Mechanism.key(),
        ValueType::Levels,
        "[\"pipe\", \"unix-stream\"]",
        "mechanism that carries the bytes",
    ),
    required_unless(
        Factor::Messages.key(),
        Factor::Buffer.key(),
        ValueType::Levels,
        "\"512..16MiB\"",
        "size of a message: the number of bytes that the sender passes to one call",
    ),
    factor_key(Factor::Workload, ValueType::Levels, "\"stream\"", "traffic pattern of the peers"),
    factor_key(
        Factor::Total,
        ValueType::Levels,
        "\"16MiB\"",
        "payload bytes per run, in one direction; calibrated: enough for a run of at least 16 ms",
    ),
    optional(
        "messages",
        ValueType::Integer(1, 1 << 40),
        "1000000",
        "none",
        "instead of `total`: number of messages, or of round trips, per run",
    ),
    factor_key(
        Factor::Mode,
        ValueType::Levels,
        "\"2proc\"",
        "how the peers run: 1thread (one thread is both peers), 2thread (two threads), 2proc (two processes), 2exec (two \
            separately executed programs)",
    ),
    factor_key(
        Factor::Placement,
        ValueType::Levels,
        "\"same\"",
        "CPUs of the peers: same (one CPU for both), split (one CPU for each), free (the scheduler decides), ...",
    ),
    factor_key(
        Factor::KernelBuffer,
        ValueType::Levels,
        "[\"default\", \"match\"]",
        "size of the kernel's buffer between the peers; match: the same size as `buffer`",
    ),
    factor_key(
        Factor::Messages,
        ValueType::Levels,
        "[\"200B:90%,64KiB:10%\", \"1KiB:50%,4KiB:50%\"]",
        "instead of `buffer`: sizes of the messages with their shares, in an order drawn from the seed; each text is one \
         level",
    ),
    factor_key(
        Factor::Touch,
        ValueType::Levels,
        "\"both\"",
        "access to every payload byte: write (the sender writes it), read (the receiver reads it), both, none",
    ),
    factor_key(Factor::Payload, ValueType::Levels, "\"random\"", "content of the messages"),
    factor_key(
        Factor::Buffers,
        ValueType::Levels,
        "\"rotate\"",
        "buffers that hold the messages: hot (one buffer for all messages), rotate (16 buffers in turn), cold (so \
         many buffers in turn that their total size is at least 256 MiB)",
    ),
    factor_key(
        Factor::FirstTouch,
        ValueType::Levels,
        "\"before-fork\"",
        "time at which buffers are first touched: after-fork, before-fork, timed (during the measurement)",
    ),
    factor_key(
        Factor::Reply,
        ValueType::Levels,
        "\"8\"",
        "size of the reply to a request; echo: the request is sent back",
    ),
    factor_key(
        Factor::Peers,
        ValueType::Levels,
        "\"1,2,4,8\"",
        "number of peers of the workloads fan-in, fan-out, pairs and server",
    ),
    factor_key(
        Factor::Traffic,
        ValueType::Levels,
        "\"round-trip\"",
        "traffic of the workload pairs: stream, round-trip",
    ),
    factor_key(
        Factor::SenderPrefix,
        ValueType::Levels,
        "[\"none\", \"chrt -f 50\"]",
        "in mode 2exec: command that starts the sender's program; none: without a command. A command may contain commas: write \
            several as a list",
    ),
    factor_key(
        Factor::ReceiverPrefix,
        ValueType::Levels,
        "[\"none\", \"chrt -f 50\"]",
        "the same for the receiver's program",
    ),
    factor_key(
        Factor::Rate,
        ValueType::Levels,
        "\"1k,20k\"",
        "messages per second of paced traffic; without a rate, each message is sent as soon as possible",
    ),
    factor_key(
        Factor::Arrivals,
        ValueType::Levels,
        "\"poisson\"",
        "times between the messages of paced traffic: even, poisson, burst:K (K messages at once)",
    ),
    factor_key(
        Factor::Pacer,
        ValueType::Levels,
        "\"spin\"",
        "how the sender of paced traffic waits for the time of a message: spin, sleep",
    ),
    factor_key(
        Factor::Duration,
        ValueType::Number(0.0, f64::MAX),
        "5",
        "duration of a paced run, seconds",
    ),
    factor_key(
        Factor::Instrument,
        ValueType::Levels,
        "[\"rusage\", \"syscalls\"]",
        "instruments that observe the runs",
    ),
    optional(
        Factor::CounterEvents.key(),
        ValueType::Levels,
        "[\"instructions\", \"cycles\"]",
        "the default events in docs/counters.md",
        "events that the instrument `counters` counts",
    ),
    optional(
        Factor::ProfileEvent.key(),
        ValueType::Levels,
        "\"cpu-clock\"",
        "cpu-clock",
        "sampling event of the instrument `profile`",
    ),
    optional(
        "quick",
        ValueType::Table(QUICK_KEYS),
        "{ messages = 20000 }",
        "every second buffer size, if there are more than 4",
        "with --quick: values that replace those of the matrix",
    ),
    optional(
        "as_published",
        ValueType::Table(AS_PUBLISHED_KEYS),
        "{ messages = 1000000 }",
        "none",
        "with --as-published: values that replace those of the matrix, such as the message counts of the \
         paper; the measurement can then take hours",
    ),
];

/// Default of a key that has the same value at every length.
const AS_IN_MATRIX: &str = "as in the matrix";
/// Keys that `--quick` can override.
const QUICK_KEYS: &[Key] =
    &length_keys("every second size, including the largest, if the matrix has more than 4");
/// Keys that `--as-published` can override.
const AS_PUBLISHED_KEYS: &[Key] = &length_keys(AS_IN_MATRIX);

/// Returns the keys that can be overridden; `default_sizes` describes the default of the buffer sizes.
const fn length_keys(default_sizes: &'static str) -> [Key; 5] {
    [
        optional(
            Factor::Buffer.key(),
            ValueType::Levels,
            "\"512,64KiB,16MiB\"",
            default_sizes,
            "size of a message: the number of bytes that the sender passes to one call",
        ),
        optional(
            Factor::Total.key(),
            ValueType::Levels,
            "\"1MiB\"",
            AS_IN_MATRIX,
            "payload bytes per run, in one direction",
        ),
        optional(
            "messages",
            ValueType::Integer(1, 1 << 40),
            "20000",
            AS_IN_MATRIX,
            "number of messages, or of round trips, per run",
        ),
        optional(
            Factor::Mechanism.key(),
            ValueType::Levels,
            "\"pipe\"",
            AS_IN_MATRIX,
            "mechanism that carries the bytes",
        ),
        optional(
            Factor::Placement.key(),
            ValueType::Levels,
            "\"same\"",
            AS_IN_MATRIX,
            "CPUs of the peers: same (one CPU for both), split (one CPU for each), free (the scheduler decides), ...",
        ),
    ]
}

/// Factor along which a line of cases runs.
pub(crate) const OVER: Key = optional(
    "over",
    ValueType::Name,
    "\"buffer\"",
    "buffer",
    "factor in which the cases of a line differ; all cases of a line have the same level of every other factor",
);
/// Significance level of the test.
pub(crate) const ALPHA: Key = optional(
    "alpha",
    ValueType::Number(0.000_1, 0.5),
    "0.05",
    "0.05",
    "significance level: maximum probability that a false claim is supported, if the assumptions of the test hold",
);
/// Correction for multiple comparisons.
pub(crate) const CORRECTION: Key = optional(
    "correction",
    ValueType::Choice(&["holm", "benjamini-hochberg", "none"]),
    "\"holm\"",
    "holm",
    "correction for multiple comparisons, if the claim has several parts. holm and benjamini-hochberg correct \
     p-values by the method of that name. Both correct intervals by Bonferroni's method: alpha is divided by the \
     number of parts. none: no correction. The correction applies to the verdict rejected and, if `min_fraction` \
     is below 1, also to the verdict supported",
);
/// Minimum share of parts that must hold.
pub(crate) const MIN_FRACTION: Key = optional(
    "min_fraction",
    ValueType::Number(0.001, 1.0),
    "0.75",
    "1",
    "the claim is supported if at least this fraction of its testable parts is supported",
);

/// Metric that is compared.
pub(crate) const METRIC: Key = optional(
    "metric",
    ValueType::Metric,
    "\"bandwidth\"",
    "main metric of the workload",
    "metric that the claim is about",
);
/// Cases to which a claim is restricted.
pub(crate) const WHERE: Key = optional(
    "where",
    ValueType::Cases,
    "{ placement = \"same\" }",
    "all cases",
    "cases that the claim is about",
);
/// Number that the figure of the p-values has in the publication.
pub(crate) const FIGURE_NUMBER: Key = optional(
    "figure",
    ValueType::Name,
    "\"3b\"",
    "none",
    "number of the paper's figure that shows the p-values of this claim at each level",
);
/// Result of the publication.
pub(crate) const PUBLISHED: Key = optional(
    "published",
    ValueType::Text,
    "\"3.9 to 5.9\"",
    "none",
    "what the paper found, as text",
);

/// The `[[hypothesis]]` section. Each test adds its own keys.
pub(crate) const HYPOTHESIS: Section = Section {
    name: "hypothesis",
    occurrence: Occurrence::Many,
    about: "A claim, written down before the measurement, and the test that judges it.",
    keys: &[
        required("id", ValueType::Name, "\"H1\"", "name of the claim"),
        required(
            "claim",
            ValueType::Text,
            "\"A pipe is faster than a unix socket.\"",
            "claim, as a sentence",
        ),
        required("test", ValueType::Text, "\"faster-than\"", "test that judges the claim"),
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
            "keys with which the claim is judged a second time, as in the paper",
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
        about: "correction for multiple comparisons",
        example: "\"none\"",
        ..CORRECTION
    },
    Key { requirement: AS_ABOVE, ..MIN_FRACTION },
];

/// Statistics for comparing two samples.
pub(crate) const STATISTICS: &[&str] =
    &["wilcoxon", "paired-t", "mann-whitney", "student", "welch"];

/// All sections, in the order of the documentation.
pub(crate) const SECTIONS: [&Section; 7] =
    [&TOP, &SAMPLING, &MATRIX, &TABLE, &FIGURE, &INSTRUMENT_FIGURE, &HYPOTHESIS];
