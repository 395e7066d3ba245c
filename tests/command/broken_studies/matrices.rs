//! Mistakes in matrices.

use super::base::{Broken, broken};

/// Matrices.
pub(super) const MATRICES: &[Broken] = &[
    broken(
        ("[[matrix]]\nname = \"answers\"", "[matrix]\nname = \"answers\""),
        ("[matrix]\nname = \"answers\"", "TOML"),
        &["duplicate key", "write [[matrix]]"],
    ),
    broken(
        ("mechanism = \"unix-dgram\"\n", ""),
        ("[[matrix]]\nname = \"answers\"", "matrix[2].mechanism"),
        &["missing", "mechanism ="],
    ),
    broken(
        ("buffer = [8, 64]\n", ""),
        ("[[matrix]]\nname = \"answers\"", "matrix[2].buffer"),
        &["missing", "buffer ="],
    ),
    broken(
        ("mechanism = \"unix-dgram\"", "mechanism = \"unix-dgam\""),
        ("mechanism = \"unix-dgam\"", "matrix[2].mechanism"),
        &["`unix-dgam`", "`unix-dgram`"],
    ),
    broken(
        ("\"unix-stream\", \"tcp\"]\nbuffer", "\"unix-stream\", \"zzz\"]\nbuffer"),
        ("mechanism = [\"pipe\"", "matrix[1].mechanism"),
        &["`zzz`", "expected one of"],
    ),
    broken(
        ("mechanism = [\"pipe\", \"unix-stream\", \"tcp\"]", "mechanism = []"),
        ("mechanism = []", "matrix[1].mechanism"),
        &["a list", "level"],
    ),
    broken(
        ("buffer = [8, 64]", "buffer = [8, [64]]"),
        ("buffer = [8", "matrix[2].buffer"),
        &["a list of levels"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"512..64kib\""),
        ("buffer = \"512", "matrix[1].buffer"),
        &["`64kib`", "KiB"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"64KiB..512\""),
        ("buffer = \"64KiB", "matrix[1].buffer"),
        &["ends before", "smaller size first"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"512..\""),
        ("buffer = \"512..\"", "matrix[1].buffer"),
        &["no end", "FROM..TO"],
    ),
    broken(
        ("buffer = [8, 64]", "buffer = [8, 0]"),
        ("buffer = [8", "matrix[2].buffer"),
        &["`0`", "at least 1 byte"],
    ),
    broken(
        ("workload = \"stream\"", "workload = \"strem\""),
        ("workload = \"strem\"", "matrix[1].workload"),
        &["`strem`", "`stream`"],
    ),
    broken(
        ("mode = \"2proc\"", "mode = \"2pro\""),
        ("mode", "matrix[1].mode"),
        &["`2pro`", "`2proc`"],
    ),
    broken(
        ("placement = [\"same\", \"split\"]", "placement = [\"same\", \"splti\"]"),
        ("placement", "matrix[1].placement"),
        &["`splti`", "split"],
    ),
    broken(
        ("kernel_buffer = \"default\"", "kernel_buffer = \"some\""),
        ("kernel_buffer", "matrix[1].kernel_buffer"),
        &["`some`", "match"],
    ),
    broken(
        ("total = \"1MiB\"", "total = \"lots\""),
        ("total", "matrix[1].total"),
        &["`lots`", "KiB"],
    ),
    broken(
        ("total = \"1MiB\"", "total = \"1MiB\"\nmessages = 5"),
        ("messages", "matrix[1].messages"),
        &["total", "keep one"],
    ),
    broken(
        ("messages = 1000", "messages = 1.5"),
        ("messages", "matrix[2].messages"),
        &["`1.5`", "whole number"],
    ),
    broken(
        ("touch = [\"none\", \"both\"]", "touch = [\"none\", \"boht\"]"),
        ("touch", "matrix[1].touch"),
        &["`boht`", "`both`"],
    ),
    broken(
        ("total = \"1MiB\"", "total = \"1MiB\"\npayload = \"compressible:0\""),
        ("payload", "matrix[1].payload"),
        &["`0`", "1 to 100"],
    ),
    broken(
        ("workload = \"request-reply\"\n", ""),
        ("reply", "matrix[2].reply"),
        &["request-reply"],
    ),
    broken(
        ("instrument = [\"rusage\", \"counters\"]", "instrument = [\"rusage\", \"couners\"]"),
        ("instrument", "matrix[1].instrument"),
        &["`couners`", "`counters`"],
    ),
    broken(
        ("instrument = [\"rusage\", \"counters\"]", "instrument = \"rusage\""),
        ("counter_events", "matrix[1].counter_events"),
        &["counters"],
    ),
    broken(
        ("counter_events = [\"instructions\", \"cycles\"]", "counter_events = [\"instrutions\"]"),
        ("counter_events", "matrix[1].counter_events"),
        &["instrutions", "instructions"],
    ),
    broken(
        ("pipe.capacity", "pipe.capcity"),
        ("pipe.capcity", "matrix[1].pipe.capcity"),
        &["`capcity`", "`capacity`"],
    ),
    broken(
        ("pipe.capacity", "pip.capacity"),
        ("pip.capacity", "matrix[1].pip.capacity"),
        &["`pip`", "`pipe`"],
    ),
    broken(
        ("pipe.capacity", "futex.spin"),
        ("futex.spin", "matrix[1].futex.spin"),
        &["futex", "mechanism"],
    ),
    broken(
        ("pipe.capacity = [\"default\", \"1MiB\"]", "pipe.capacity = { x = 1 }"),
        ("pipe.capacity", "matrix[1].pipe.capacity"),
        &["a table", "a value"],
    ),
    broken(("quick = {", "quik = {"), ("quik", "matrix[1].quik"), &["unknown key", "`quick`"]),
    broken(
        ("quick = { buffer = \"512,64KiB\"", "quick = { buffer = \"512,64kib\""),
        ("quick", "matrix[1].quick.buffer"),
        &["`64kib`", "KiB"],
    ),
    broken(
        ("quick = { buffer = \"512,64KiB\"", "quick = { bufer = \"512,64KiB\""),
        ("quick", "matrix[1].quick.bufer"),
        &["`buffer`"],
    ),
    broken(
        ("total = \"64KiB\" }", "messages = 10 }"),
        ("quick", "matrix[1].quick.messages"),
        &["total"],
    ),
    broken(
        ("name = \"answers\"", "name = \"streams\""),
        ("[[matrix]]\nname = \"streams\"\nmechanism = \"unix-dgram\"", "matrix"),
        &["`streams`", "use unique names"],
    ),
    broken(
        (
            "buffer = \"512..64KiB\"",
            "buffer = \"1..4096:4096\"\npayload = [\"constant\", \"random\", \"compressible:2\", \"compressible:3\", \"compressible:4\", \"compressible:5\"]",
        ),
        ("[[matrix]]\nname = \"streams\"", "matrix[1]"),
        &["cells", "the maximum is 100000"],
    ),
    broken(
        ("buffer = \"512..64KiB\"", "buffer = \"1..99999:99999\""),
        ("buffer", "matrix[1].buffer"),
        &["99999 levels", "the maximum is 4096"],
    ),
];
