//! A study without mistakes, and a type for a mistake in it.

/// A study without mistakes that uses every kind of section.
pub(crate) const GOOD: &str = r#"name = "base"
title = "A base for mistakes"
question = "Which mistakes are told?"
source = "our own"

[sampling]
repetitions = 10
timeout = 20
seed = 7

[[matrix]]
name = "streams"
mechanism = ["pipe", "unix-stream", "tcp"]
buffer = "512..64KiB"
workload = "stream"
mode = "2proc"
placement = ["same", "split"]
kernel_buffer = "default"
total = "1MiB"
touch = ["none", "both"]
instrument = ["rusage", "counters"]
counter_events = ["instructions", "cycles"]
pipe.capacity = ["default", "1MiB"]
quick = { buffer = "512,64KiB", total = "64KiB" }

[[matrix]]
name = "answers"
mechanism = "unix-dgram"
buffer = [8, 64]
workload = "request-reply"
reply = "8"
messages = 1000
instrument = "syscalls"

[[hypothesis]]
id = "H1"
claim = "A pipe is faster than a socket."
test = "faster-than"
metric = "bandwidth"
where = { matrix = "streams", placement = "same" }
first = { mechanism = "pipe", pipe.capacity = "default" }
second = { mechanism = ["unix-stream", "tcp"] }
of_second = "best"
at = "levels"
alpha = 0.01
correction = "holm"
min_fraction = 0.75
published = "63 % faster"
original_test = { statistic = "student", correction = "none" }

[[hypothesis]]
id = "H2"
claim = "A large message costs about twice a small one."
test = "ratio-within"
metric = { instrument = "syscalls", role = "sender", syscall = "sendmsg|sendto", field = "total_ns", per = "message", unit = "ns" }
over = "mechanism"
where = { matrix = "answers" }
first = { buffer = 64 }
second = { buffer = 8 }
above = 1.5
below = 3

[[hypothesis]]
id = "H3"
claim = "A pipe wins from 4 KiB on."
test = "always-from"
where = { matrix = "streams" }
first = { mechanism = "pipe" }
second = { mechanism = "tcp" }
from = "4KiB"

[[table]]
number = "1"
title = "Time in calls"
where = { matrix = "answers" }

[[table.row]]
name = "sendto"
seen = { role = "sender", syscall = "sendto" }

[[table.row]]
name = "recvfrom"
seen = { role = "receiver", syscall = "recvfrom" }

[[table.row]]
name = "both"
sum = ["sendto", "recvfrom"]

[[table.column]]
name = "mean"
metric = { instrument = "syscalls", field = "total_ns", per = "count", unit = "ns" }

[[instrument_figure]]
number = "5"
title = "Times of calls"
instrument = "syscalls"
kind = "histogram"
where = { matrix = "answers" }
"#;

/// A mistake: the text to replace, its replacement, and the line, key and words of the error message.
pub(crate) struct Broken {
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    /// Start of the reported line.
    line_of: &'static str,
    pub(super) key: &'static str,
    pub(super) words: &'static [&'static str],
}

pub(super) const fn broken(
    (from, to): (&'static str, &'static str),
    (line_of, key): (&'static str, &'static str),
    words: &'static [&'static str],
) -> Broken {
    Broken { from, to, line_of, key, words }
}

impl Broken {
    /// Returns the good study with this mistake in it.
    pub(crate) fn text(&self) -> String {
        assert!(GOOD.contains(self.from), "{} is in the good study", self.from);
        GOOD.replacen(self.from, self.to, 1)
    }

    /// Returns the number of the line that must be reported.
    pub(super) fn line(&self) -> usize {
        let text = self.text();
        let at = text.find(self.line_of).unwrap_or_else(|| panic!("no `{}`", self.line_of));
        // For a table, that is the line of its heading.
        text[..at].matches('\n').count() + 1
    }
}
