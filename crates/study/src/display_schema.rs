//! The sections of a study file that define its presentation: figures, instrument figures and tables.

use super::key::{Key, Takes};
use super::section::{Repeats, Section, optional, required};

/// The `[[figure]]` section.
pub(crate) const FIGURE: Section = Section {
    name: "figure",
    repeats: Repeats::Often,
    about: "What the report draws: lines of cases, medians with their middle halves; a panel for each metric.",
    keys: &[
        NUMBER,
        TITLE,
        SEE,
        METRICS,
        optional(
            "over",
            Takes::Name,
            "\"buffer\"",
            "buffer",
            "the factor that lies across: each level is a point of a line",
        ),
        WHERE,
        optional(
            "relative_to",
            Takes::Cases,
            "{ mechanism = \"pipe\" }",
            "as measured",
            "each line is divided, block by block, by that of these cases with which it shares all else",
        ),
        optional(
            "marks",
            Takes::Words(&["caches", "limit"]),
            "[\"caches\", \"limit\"]",
            "none",
            "what of the machine is marked: sizes of its caches, what it cannot beat",
        ),
        optional(
            "scale",
            Takes::OneOf(&["log", "linear"]),
            "\"log\"",
            "log",
            "of the axis that goes up",
        ),
    ],
};

/// The `[[picture]]` section: figures that an instrument draws from its observations.
pub(crate) const PICTURE: Section = Section {
    name: "picture",
    repeats: Repeats::Often,
    about: "What an instrument draws of one run of each case that it watched: tables, histograms, time lines.",
    keys: &[
        Key { example: "\"2\"", ..NUMBER },
        Key { example: "\"Times of calls\"", ..TITLE },
        SEE,
        required("instrument", Takes::Name, "\"syscalls\"", "the instrument"),
        WHERE,
        optional(
            "kind",
            Takes::Words(&["table", "histogram", "time-line", "flame-graph"]),
            "\"histogram\"",
            "all",
            "which of its pictures",
        ),
        optional("titled", Takes::Text, "\"write\"", "all", "those whose title has this word"),
    ],
};

/// The `[[table]]` section.
pub(crate) const TABLE: Section = Section {
    name: "table",
    repeats: Repeats::Often,
    about: "What stands in rows and columns: medians, each with how far its values spread.",
    keys: &[
        NUMBER,
        TITLE,
        SEE,
        METRICS,
        optional(
            "rows",
            Takes::Name,
            "\"buffer\"",
            "buffer",
            "the factor whose levels are the rows",
        ),
        WHERE,
        optional(
            "lists",
            Takes::OneOf(&["cases", "machines"]),
            "\"machines\"",
            "cases",
            "what was measured of cases, or on which machines: one for each results file",
        ),
        optional(
            "spread",
            Takes::OneOf(&["iqr", "range"]),
            "\"range\"",
            "iqr",
            "beside each median the interquartile range as a share of it, or the least and the most",
        ),
        optional(
            "row",
            Takes::Tables(ROW),
            "[{ name = \"open\", seen = { syscall = \"openat\" } }]",
            "the levels of a factor",
            "the rows, each also as [[table.row]]: of each metric of the columns its own rows of an instrument",
        ),
        optional(
            "column",
            Takes::Tables(COLUMN),
            "[{ name = \"pipe\", where = { mechanism = \"pipe\" } }]",
            "one for each line of cases and metric",
            "the columns, each also as [[table.column]]",
        ),
    ],
};

const NUMBER: Key = required(
    "number",
    Takes::Name,
    "\"1\"",
    "the number it has in the document, so that it is found beside it",
);
const TITLE: Key = required("title", Takes::Text, "\"Bandwidth by buffer size\"", "what it shows");
const SEE: Key =
    optional("see", Takes::Text, "\"Lines fall beyond L2.\"", "none", "what to look for in it");
const METRICS: Key = optional(
    "metric",
    Takes::Metrics,
    "[\"user\", \"system\"]",
    "what the cases are about",
    "what is shown; several stand side by side",
);
const WHERE: Key = optional(
    "where",
    Takes::Cases,
    "{ placement = \"same\" }",
    "all cases",
    "the cases that are meant",
);

const ROW: &[Key] = &[
    required("name", Takes::Text, "\"open\"", "what it is called"),
    optional(
        "seen",
        Takes::Fields,
        "{ role = \"sender\", syscall = \"openat\" }",
        "all",
        "what the rows of the instrument must have, beside what the metric of the column says",
    ),
    optional(
        "where",
        Takes::Cases,
        "{ mechanism = \"pipe\" }",
        "those of the column",
        "its cases, of those of the column",
    ),
    optional(
        "sum",
        Takes::Levels,
        "[\"open\", \"close\"]",
        "none",
        "instead: in each block the sum of rows before it, by their names",
    ),
];

const COLUMN: &[Key] = &[
    required("name", Takes::Text, "\"PIPE\"", "heads it"),
    optional(
        "where",
        Takes::Cases,
        "{ mechanism = \"pipe\" }",
        "those of the table",
        "its cases, of those of the table",
    ),
    optional("metric", Takes::Metric, "\"cpu\"", "that of the table", "what stands in it"),
    optional(
        "best",
        Takes::Levels,
        "[\"COPY\", \"MEMFD\"]",
        "none",
        "instead of cases: in each block the best of columns before it, by their names",
    ),
    optional(
        "ratio",
        Takes::Levels,
        "[\"PIPE\", \"MAX\"]",
        "none",
        "instead of cases: in each block one column before it over another, by their names",
    ),
];
