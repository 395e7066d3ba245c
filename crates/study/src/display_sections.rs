//! The sections of a study file for figures, instrument figures and tables, each with its keys.

use super::key::{Key, ValueType};
use super::section::{Occurrence, Section, optional, required};

/// The `[[figure]]` section.
pub(crate) const FIGURE: Section = Section {
    name: "figure",
    occurrence: Occurrence::Many,
    about: "A figure of the report, with one panel for each metric. It shows the median and the \
            interquartile range of each case, and connects the cases of each line.",
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
            "factor on the horizontal axis; a line has one point for each level of this factor",
        ),
        WHERE,
        optional(
            "relative_to",
            ValueType::Cases,
            "{ mechanism = \"pipe\" }",
            "none",
            "baseline cases. In each block, the values of each line are divided by those of its baseline: the line \
             of baseline cases that has the same levels of all factors except those that `relative_to` names. \
             Baselines are not drawn",
        ),
        optional(
            "marks",
            ValueType::Choices(&["caches", "limit"]),
            "[\"caches\", \"limit\"]",
            "none",
            "marks in the figure: caches (sizes of the caches), limit (the best value that the hardware of the machine allows)",
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
    about: "Figures that an instrument draws from one run of each instrumented case: tables, histograms, \
            timelines, flame graphs.",
    keys: &[
        Key { example: "\"2\"", ..NUMBER },
        Key { example: "\"Times of calls\"", ..TITLE },
        CAPTION,
        required(
            "instrument",
            ValueType::Name,
            "\"syscalls\"",
            "instrument that draws the figures",
        ),
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
            "show only figures whose title contains this text",
        ),
    ],
};

/// The `[[table]]` section.
pub(crate) const TABLE: Section = Section {
    name: "table",
    occurrence: Occurrence::Many,
    about: "A table of the report. Each cell shows the median over the repetitions, and the spread of the \
            repetitions.",
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
            "content: cases (measurements), or machines (one row for each results file)",
        ),
        optional(
            "spread",
            ValueType::Choice(&["iqr", "range"]),
            "\"range\"",
            "iqr",
            "spread shown with each median: iqr (interquartile range, as a percentage of the median), or \
             range (minimum and maximum)",
        ),
        optional(
            "row",
            ValueType::Tables(ROW),
            "[{ name = \"open\", seen = { syscall = \"openat\" } }]",
            "one row for each level of the factor `rows`",
            "named rows; each can also be written as a section [[table.row]]",
        ),
        optional(
            "column",
            ValueType::Tables(COLUMN),
            "[{ name = \"pipe\", where = { mechanism = \"pipe\" } }]",
            "one column for each line of cases and each metric",
            "named columns; each can also be written as a section [[table.column]]",
        ),
    ],
};

const NUMBER: Key = required(
    "number",
    ValueType::Name,
    "\"1\"",
    "number of the table or figure in the paper, or any other name",
);
const TITLE: Key = required("title", ValueType::Text, "\"Bandwidth by buffer size\"", "title");
const CAPTION: Key = optional(
    "caption",
    ValueType::Text,
    "\"Lines fall beyond L2.\"",
    "none",
    "caption that says what to look for",
);
const METRICS: Key = optional(
    "metric",
    ValueType::Metrics,
    "[\"user\", \"system\"]",
    "main metric of the workload",
    "metrics to show; each has its own column of the table, or its own panel of the figure",
);
const WHERE: Key =
    optional("where", ValueType::Cases, "{ placement = \"same\" }", "all cases", "cases to show");

const ROW: &[Key] = &[
    required("name", ValueType::Text, "\"open\"", "name of the row"),
    optional(
        "seen",
        ValueType::Fields,
        "{ role = \"sender\", syscall = \"openat\" }",
        "all observations",
        "field values that an observation must have to count in this row, in addition to the field values in the \
         metric of the column",
    ),
    optional(
        "where",
        ValueType::Cases,
        "{ mechanism = \"pipe\" }",
        "all cases of the column",
        "cases that the row shows, selected from those of the column",
    ),
    optional(
        "sum",
        ValueType::Names,
        "[\"open\", \"close\"]",
        "none",
        "instead of `seen` and `where`: names of earlier rows; in each block, the values of these rows are \
         added",
    ),
];

const COLUMN: &[Key] = &[
    required("name", ValueType::Text, "\"PIPE\"", "name of the column"),
    optional(
        "where",
        ValueType::Cases,
        "{ mechanism = \"pipe\" }",
        "all cases of the table",
        "cases that the column shows, selected from those of the table",
    ),
    optional("metric", ValueType::Metric, "\"cpu\"", "metric of the table", "metric of the column"),
    optional(
        "best",
        ValueType::Names,
        "[\"COPY\", \"MEMFD\"]",
        "none",
        "instead of `where` and `metric`: names of earlier columns; in each block, the best value of these \
         columns is used",
    ),
    optional(
        "ratio",
        ValueType::Names,
        "[\"PIPE\", \"MAX\"]",
        "none",
        "instead of `where` and `metric`: names of two earlier columns; in each block, the value of the first \
         is divided by that of the second",
    ),
];
