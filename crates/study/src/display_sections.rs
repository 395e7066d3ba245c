//! The sections of a study file for figures, instrument figures and tables, each with its keys.

use super::key::{Key, ValueType};
use super::section::{Occurrence, Section, optional, required};

/// The `[[figure]]` section.
pub(crate) const FIGURE: Section = Section {
    name: "figure",
    occurrence: Occurrence::Many,
    about: "A figure of the report: lines of cases, as medians with interquartile ranges; one panel per \
            metric.",
    keys: &[
        NUMBER,
        TITLE,
        CAPTION,
        METRICS,
        optional(
            "over",
            ValueType::Name,
            "\"buffer\"",
            "buffer",
            "factor of the horizontal axis: each level is a point of a line",
        ),
        WHERE,
        optional(
            "relative_to",
            ValueType::Cases,
            "{ mechanism = \"pipe\" }",
            "as measured",
            "divide each line, block by block, by the line of these cases that has the same other factors",
        ),
        optional(
            "marks",
            ValueType::Choices(&["caches", "limit"]),
            "[\"caches\", \"limit\"]",
            "none",
            "marks: cache sizes, hardware limit",
        ),
        optional(
            "scale",
            ValueType::Choice(&["log", "linear"]),
            "\"log\"",
            "log",
            "scale of the vertical axis",
        ),
    ],
};

/// The `[[instrument_figure]]` section: figures that an instrument draws from its observations.
pub(crate) const INSTRUMENT_FIGURE: Section = Section {
    name: "instrument_figure",
    occurrence: Occurrence::Many,
    about: "A figure by an instrument, of one run of each instrumented case: tables, histograms, \
            timelines, flame graphs.",
    keys: &[
        Key { example: "\"2\"", ..NUMBER },
        Key { example: "\"Times of calls\"", ..TITLE },
        CAPTION,
        required("instrument", ValueType::Name, "\"syscalls\"", "name of the instrument"),
        WHERE,
        optional(
            "kind",
            ValueType::Choices(&["table", "histogram", "timeline", "flame-graph"]),
            "\"histogram\"",
            "all",
            "kinds of figures to show",
        ),
        optional(
            "titled",
            ValueType::Text,
            "\"write\"",
            "all",
            "only figures whose title contains this \
                                                                 word",
        ),
    ],
};

/// The `[[table]]` section.
pub(crate) const TABLE: Section = Section {
    name: "table",
    occurrence: Occurrence::Many,
    about: "A table of medians, each with the spread of its values.",
    keys: &[
        NUMBER,
        TITLE,
        CAPTION,
        METRICS,
        optional(
            "rows",
            ValueType::Name,
            "\"buffer\"",
            "buffer",
            "factor whose levels are the rows",
        ),
        WHERE,
        optional(
            "lists",
            ValueType::Choice(&["cases", "machines"]),
            "\"machines\"",
            "cases",
            "content: measurements of cases, or the machines, one per results file",
        ),
        optional(
            "spread",
            ValueType::Choice(&["iqr", "range"]),
            "\"range\"",
            "iqr",
            "spread shown with each median: interquartile range as a percentage of it, or minimum and \
             maximum",
        ),
        optional(
            "row",
            ValueType::Tables(ROW),
            "[{ name = \"open\", seen = { syscall = \"openat\" } }]",
            "the levels of a factor",
            "rows, each also as [[table.row]]; a row selects cases, or rows of an instrument",
        ),
        optional(
            "column",
            ValueType::Tables(COLUMN),
            "[{ name = \"pipe\", where = { mechanism = \"pipe\" } }]",
            "one for each line of cases and metric",
            "columns, each also as [[table.column]]",
        ),
    ],
};

const NUMBER: Key = required("number", ValueType::Name, "\"1\"", "number in the paper");
const TITLE: Key = required("title", ValueType::Text, "\"Bandwidth by buffer size\"", "title");
const CAPTION: Key = optional(
    "caption",
    ValueType::Text,
    "\"Lines fall beyond L2.\"",
    "none",
    "caption: what to look for",
);
const METRICS: Key = optional(
    "metric",
    ValueType::Metrics,
    "[\"user\", \"system\"]",
    "main metric of the workload",
    "metrics to show; several are shown side by side",
);
const WHERE: Key = optional(
    "where",
    ValueType::Cases,
    "{ placement = \"same\" }",
    "all cases",
    "selection of cases",
);

const ROW: &[Key] = &[
    required("name", ValueType::Text, "\"open\"", "name of the row"),
    optional(
        "seen",
        ValueType::Fields,
        "{ role = \"sender\", syscall = \"openat\" }",
        "all",
        "conditions on the rows of the instrument, in addition to those of the column's metric",
    ),
    optional(
        "where",
        ValueType::Cases,
        "{ mechanism = \"pipe\" }",
        "cases of the column",
        "selection among the cases of the column",
    ),
    optional(
        "sum",
        ValueType::Levels,
        "[\"open\", \"close\"]",
        "none",
        "instead of cases: the sum of earlier rows, by name, in each block",
    ),
];

const COLUMN: &[Key] = &[
    required("name", ValueType::Text, "\"PIPE\"", "name of the column"),
    optional(
        "where",
        ValueType::Cases,
        "{ mechanism = \"pipe\" }",
        "cases of the table",
        "selection among the cases of the table",
    ),
    optional("metric", ValueType::Metric, "\"cpu\"", "metric of the table", "metric of the column"),
    optional(
        "best",
        ValueType::Levels,
        "[\"COPY\", \"MEMFD\"]",
        "none",
        "instead of cases: the best of earlier columns, by name, in each block",
    ),
    optional(
        "ratio",
        ValueType::Levels,
        "[\"PIPE\", \"MAX\"]",
        "none",
        "instead of cases: one earlier column divided by another, by name, in each block",
    ),
];
