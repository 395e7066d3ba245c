//! Mistakes in sections for tables and figures.

use super::base::{Broken, broken};

/// Tables, their rows and columns, and figures.
pub(super) const EXHIBITS: &[Broken] = &[
    broken(
        ("sum = [\"sendto\", \"recvfrom\"]", "sum = [\"sendto\", \"recfrom\"]"),
        ("sum", "table[1].row[3].sum"),
        &["`recfrom`", "`recvfrom`?"],
    ),
    broken(
        ("sum = [\"sendto\", \"recvfrom\"]", "sum = [\"sendto\"]\nseen = { syscall = \"read\" }"),
        ("sum", "table[1].row[3].sum"),
        &["cannot be combined with seen", "leave out seen"],
    ),
    broken(
        ("seen = { role = \"receiver\", syscall = \"recvfrom\" }", "seen = \"recvfrom\""),
        ("seen = \"recvfrom\"", "table[1].row[2].seen"),
        &["`recvfrom`", "table of fields"],
    ),
    broken(
        ("number = \"1\"\n", "number = \"1\"\nspread = \"iqrs\"\n"),
        ("spread", "table[1].spread"),
        &["`iqrs`", "`iqr`?"],
    ),
    broken(
        ("number = \"1\"\n", "number = \"1\"\nlists = \"machine\"\n"),
        ("lists", "table[1].lists"),
        &["`machine`", "`machines`?"],
    ),
    broken(
        (
            "title = \"Times of calls\"\ninstrument = \"syscalls\"",
            "title = \"Times of calls\"\ninstrument = \"syscall\"",
        ),
        ("instrument = \"syscall\"\n", "instrument_figure[1].instrument"),
        &["`syscall`", "`syscalls`?"],
    ),
    broken(
        ("kind = \"histogram\"", "kind = \"histograms\""),
        ("kind", "instrument_figure[1].kind"),
        &["`histograms`", "`histogram`?"],
    ),
    broken(
        ("repetitions = 10\n", "repetitions = 10\nquick_repetitions = 11\n"),
        ("quick_repetitions", "sampling.quick_repetitions"),
        &["11", "1 to 10"],
    ),
];
