//! Mistakes in hypotheses.

use super::base::{Broken, broken};

/// Hypotheses.
pub(super) const HYPOTHESES: &[Broken] = &[
    broken(
        ("test = \"faster-than\"", "test = \"faster-then\""),
        ("test", "hypothesis[1].test"),
        &["`faster-then`", "`faster-than`"],
    ),
    broken(
        ("test = \"faster-than\"", "test = \"zzz\""),
        ("test", "hypothesis[1].test"),
        &["`zzz`", "expected one of"],
    ),
    broken(
        ("metric = \"bandwidth\"", "metric = \"bandwith\""),
        ("metric", "hypothesis[1].metric"),
        &["`bandwith`", "`bandwidth`"],
    ),
    broken(
        ("metric = \"bandwidth\"", "metric = 5"),
        ("metric", "hypothesis[1].metric"),
        &["`5`", "expected one of"],
    ),
    broken(
        ("metric = \"bandwidth\"", "metric = \"sender_sys_ns\""),
        ("metric", "hypothesis[1].metric"),
        &["`sender_sys_ns`", "`sender_system_ns`"],
    ),
    broken(
        ("{ instrument = \"syscalls\", role", "{ instrument = \"sycalls\", role"),
        ("metric = {", "hypothesis[2].metric"),
        &["`sycalls`", "`syscalls`"],
    ),
    broken(
        ("{ instrument = \"syscalls\", role", "{ instrument = \"strace\", role"),
        ("metric = {", "hypothesis[2].metric"),
        &["no matrix", "strace"],
    ),
    broken(("field = \"total_ns\", ", ""), ("metric = {", "hypothesis[2].metric"), &["field"]),
    broken(
        ("unit = \"ns\" }", "unit = \"ns\", better = \"more\" }"),
        ("metric = {", "hypothesis[2].metric"),
        &["`more`", "higher or lower"],
    ),
    broken(
        ("over = \"mechanism\"", "over = \"mechansim\""),
        ("over", "hypothesis[2].over"),
        &["mechansim", "`mechanism`"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = { matrix = \"answer\" }"),
        ("where = { matrix = \"answer\" }", "hypothesis[2].where.matrix"),
        &["answer", "`answers`"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = { matrx = \"answers\" }"),
        ("where = { matrx", "hypothesis[2].where.matrx"),
        &["`matrix`"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = {}"),
        ("where = {}", "hypothesis[2].where"),
        &["no cases"],
    ),
    broken(
        ("where = { matrix = \"answers\" }", "where = \"answers\""),
        ("where = \"answers\"", "hypothesis[2].where"),
        &["{ mechanism = \"pipe\" }"],
    ),
    broken(
        ("first = { buffer = 64 }", "first = { buffer = 65 }"),
        ("first = { buffer", "hypothesis[2].first.buffer"),
        &["65", "64"],
    ),
    broken(
        ("first = { buffer = 64 }", "first = { buffer = 8 }"),
        ("second = { buffer", "hypothesis[2].second"),
        &["same cases"],
    ),
    broken(
        ("pipe.capacity = \"default\" }", "pipe.capacity = \"2MiB\" }"),
        ("first", "hypothesis[1].first.pipe.capacity"),
        &["2097152", "1048576"],
    ),
    broken(
        ("pipe.capacity = \"default\" }", "tcp.nodelay = \"on\" }"),
        ("first", "hypothesis[1].first.tcp.nodelay"),
        &["no matrix has the factor"],
    ),
    broken(
        ("second = { mechanism = [\"unix-stream\", \"tcp\"] }", "second = { mechanism = [] }"),
        ("second", "hypothesis[1].second.mechanism"),
        &["a level"],
    ),
    broken(
        ("of_second = \"best\"", "of_second = \"worst\""),
        ("of_second", "hypothesis[1].of_second"),
        &["`worst`", "\"each\" or \"best\""],
    ),
    broken(
        ("at = \"levels\"", "at = \"level\""),
        ("at =", "hypothesis[1].at"),
        &["`level`", "`levels`"],
    ),
    broken(("alpha = 0.01", "alpha = 5"), ("alpha = 5", "hypothesis[1].alpha"), &["`5`", "to 0.5"]),
    broken(
        ("correction = \"holm\"", "correction = \"bonferroni\""),
        ("correction", "hypothesis[1].correction"),
        &["`bonferroni`", "holm"],
    ),
    broken(
        ("min_fraction = 0.75", "min_fraction = 75"),
        ("min_fraction", "hypothesis[1].min_fraction"),
        &["`75`", "to 1"],
    ),
    broken(
        ("original_test = { statistic = \"student\"", "original_test = { statistic = \"studnt\""),
        ("original_test", "hypothesis[1].original_test.statistic"),
        &["`studnt`", "`student`"],
    ),
    broken(
        ("original_test = { statistic", "original_test = { share"),
        ("original_test", "hypothesis[1].original_test.share"),
        &["unknown key"],
    ),
    broken(
        ("from = \"4KiB\"", "from = \"4kib\""),
        ("from = ", "hypothesis[3].from"),
        &["`4kib`", "a size"],
    ),
    broken(
        ("from = \"4KiB\"", "from = \"4KiB\"\nabove = 2"),
        ("above = 2", "hypothesis[3].above"),
        &["always-from"],
    ),
    broken(
        ("above = 1.5\nbelow = 3\n", ""),
        ("[[hypothesis]]\nid = \"H2\"", "hypothesis[2].above"),
        &["no bound", "above, below or both"],
    ),
    broken(("above = 1.5", "above = 4"), ("above = 4", "hypothesis[2].above"), &["smaller"]),
    broken(
        ("id = \"H2\"", "id = \"H1\""),
        ("[[hypothesis]]\nid = \"H1\"\nclaim = \"A large", "hypothesis"),
        &["`H1`", "use unique names"],
    ),
];
