//! Mistakes in TOML syntax and in keys.

use super::base::{Broken, broken};

/// Invalid TOML.
pub(super) const WRITTEN_AMISS: &[Broken] = &[
    broken(
        ("title = \"A base for mistakes\"", "title = \"A base for mistakes"),
        ("title =", "TOML"),
        &["quote"],
    ),
    broken(
        ("source = \"our own\"", "source = \"C:\\temp\\quota\""),
        ("source =", "TOML"),
        &["escape", "single quotes"],
    ),
    broken(
        ("source = \"our own\"", "source = \"our own\"\ntitle = \"Twice\""),
        ("title = \"Twice\"", "TOML"),
        &["duplicate key", "`title`", "keep one"],
    ),
    broken(
        ("workload = \"stream\"", "workload = stream"),
        ("workload = stream", "TOML"),
        &["`stream`", "put text in double quotes"],
    ),
    broken(("mode = \"2proc\"", "mode \"2proc\""), ("mode ", "TOML"), &["KEY = VALUE"]),
    broken(("mode = \"2proc\"", "mode = "), ("mode =", "TOML"), &["KEY = VALUE"]),
    broken(("[sampling]", "[sampling"), ("[sampling", "TOML"), &["]"]),
    broken(
        ("buffer = [8, 64]", "buffer = [8 64]"),
        ("buffer = [8", "TOML"),
        &["commas between items"],
    ),
    broken(
        ("first = { buffer = 64 }", "first = { buffer = 64"),
        ("second = { buffer = 8 }", "TOML"),
        &["commas", "}"],
    ),
    broken(("seed = 7", "seed = 007"), ("seed = 007", "TOML"), &["leading zero"]),
];

/// Keys that are unknown, missing, or have an invalid value.
pub(super) const KEYS: &[Broken] = &[
    broken(("title =", "titel ="), ("titel", "titel"), &["unknown key", "`title`"]),
    broken(
        ("name = \"base\"", "name = \"two words\""),
        ("name", "name"),
        &["`two words`", "letters"],
    ),
    broken(
        ("question = \"Which mistakes are told?\"\n", ""),
        ("name", "question"),
        &["missing", "text in quotes"],
    ),
    broken(
        ("question = \"Which mistakes are told?\"", "question = \"\""),
        ("question", "question"),
        &["text in quotes"],
    ),
    broken(("source = \"our own\"", "source = 2015"), ("source", "source"), &["text in quotes"]),
    broken(
        ("[sampling]", "[samplings]"),
        ("[samplings]", "samplings"),
        &["unknown key", "`sampling`"],
    ),
    broken(
        ("[sampling]", "[[sampling]]"),
        ("[[sampling]]", "sampling"),
        &["only once", "write [sampling]"],
    ),
    broken(
        ("repetitions = 10", "repetitons = 10"),
        ("repetitons", "sampling.repetitons"),
        &["`repetitions`"],
    ),
    broken(
        ("repetitions = 10", "repetitions = 0"),
        ("repetitions", "sampling.repetitions"),
        &["`0`", "1 to 100000"],
    ),
    broken(
        ("repetitions = 10", "repetitions = \"ten\""),
        ("repetitions", "sampling.repetitions"),
        &["`ten`", "whole number"],
    ),
    broken(
        ("repetitions = 10", "repetitions = 10\nuntil_ci = 2"),
        ("repetitions", "sampling.repetitions"),
        &["until_ci", "keep one"],
    ),
    broken(("seed = 7", "seed = -7"), ("seed", "sampling.seed"), &["`-7`", "whole number"]),
    broken(("seed = 7", "max_time = 7"), ("max_time", "sampling.max_time"), &["until_ci"]),
    broken(("timeout = 20", "timeout = 1e9"), ("timeout", "sampling.timeout"), &["86400"]),
    broken(("timeout = 20", "timeout = nan"), ("timeout", "sampling.timeout"), &["86400"]),
    broken(("timeout = 20", "timeout = \"20m\""), ("timeout", "sampling.timeout"), &["2min"]),
    broken(
        ("timeout = 20", "timeout = true"),
        ("timeout", "sampling.timeout"),
        &["true or false", "a number"],
    ),
    broken(("name = \"streams\"", "nane = \"streams\""), ("nane", "matrix[1].nane"), &["`name`"]),
    broken(("id = \"H1\"\n", ""), ("[[hypothesis]]", "hypothesis[1].id"), &["missing", "id ="]),
    broken(
        ("claim = \"A pipe is faster than a socket.\"\n", ""),
        ("[[hypothesis]]", "hypothesis[1].claim"),
        &["missing"],
    ),
    broken(
        ("test = \"faster-than\"\n", ""),
        ("[[hypothesis]]", "hypothesis[1].test"),
        &["missing", "faster-than"],
    ),
    broken(
        ("first = { mechanism = \"pipe\" }\n", ""),
        ("[[hypothesis]]\nid = \"H3\"", "hypothesis[3].first"),
        &["missing"],
    ),
    broken(
        ("from = \"4KiB\"\n", ""),
        ("[[hypothesis]]\nid = \"H3\"", "hypothesis[3].from"),
        &["missing", "a size"],
    ),
];
