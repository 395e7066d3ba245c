//! Parses one line of strace's output.

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TraceLine<'a> {
    /// Thread ID; `None` if strace omits it, which it does when it traces only one thread.
    pub(super) tid: Option<u32>,
    pub(super) event: TraceEvent<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TraceEvent<'a> {
    /// A complete call.
    Complete { call: &'a str, starts_thread: bool, outcome: Outcome },
    /// Start of a call that was interrupted by other output.
    Unfinished { call: &'a str, starts_thread: bool },
    /// End of such a call.
    Resumed { call: &'a str, outcome: Outcome },
    /// A signal or an exit, not a call.
    SignalOrExit,
}

/// Result of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// Return value; `None` if the call failed or did not return.
    pub(super) returned: Option<u64>,
    /// Duration, ns; `None` if strace does not report it.
    pub(super) ns: Option<u64>,
}

/// Parses `line`; `None` if it has no known form.
pub(super) fn parse(line: &str) -> Option<TraceLine<'_>> {
    let (tid, rest) = split_tid(line.trim_end());
    Some(TraceLine { tid, event: parse_event(rest)? })
}

fn split_tid(line: &str) -> (Option<u32>, &str) {
    let digits = line.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(line.len());
    match line[..digits].parse() {
        Ok(tid) if line[digits..].starts_with(' ') => (Some(tid), line[digits..].trim_start()),
        _ => (None, line),
    }
}

fn parse_event(rest: &str) -> Option<TraceEvent<'_>> {
    if rest.starts_with("+++ ") || rest.starts_with("--- ") {
        return Some(TraceEvent::SignalOrExit);
    }
    if let Some(resumed) = rest.strip_prefix("<... ") {
        let (call, rest) = resumed.split_once(" resumed>")?;
        return Some(TraceEvent::Resumed {
            call: parse_name(call)?,
            outcome: parse_outcome(rest).unwrap_or_default(),
        });
    }
    let (call, arguments) = rest.split_once('(')?;
    let call = parse_name(call)?;
    let starts_thread = arguments.contains("CLONE_THREAD");
    if arguments.ends_with(" ...>") {
        return Some(TraceEvent::Unfinished { call, starts_thread });
    }
    Some(TraceEvent::Complete { call, starts_thread, outcome: parse_outcome(arguments)? })
}

fn parse_name(call: &str) -> Option<&str> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (!call.is_empty() && call.bytes().all(is_letter)).then_some(call)
}

/// Parses the end of a line: `) = 0x64 <0.000006294>`.
fn parse_outcome(rest: &str) -> Option<Outcome> {
    let (rest, ns) = match rest.strip_suffix('>').and_then(|rest| rest.rsplit_once(" <")) {
        Some((rest, seconds)) => (rest, Some(parse_seconds(seconds)?)),
        None => (rest, None),
    };
    let (_, value) = rest.rsplit_once(" = ")?;
    let value = value.split(' ').next()?;
    let returned = match value.strip_prefix("0x") {
        Some(digits) => Some(u64::from_str_radix(digits, 16).ok()?),
        None if value == "?" => None,
        None => u64::try_from(value.parse::<i128>().ok()?).ok(),
    };
    Some(Outcome { returned, ns })
}

/// Converts seconds with one to nine decimal places to ns.
fn parse_seconds(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.')?;
    let digits = u32::try_from(part.len()).ok().filter(|digits| (1..=9).contains(digits))?;
    let part = part.parse::<u64>().ok()? * 10_u64.pow(9 - digits);
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn outcome_of(returned: Option<u64>, ns: Option<u64>) -> Outcome {
        Outcome { returned, ns }
    }

    /// Actual output of strace 6.1.
    #[test]
    fn what_strace_writes_is_understood() {
        let whole = |call, returned, ns| TraceEvent::Complete {
            call,
            starts_thread: false,
            outcome: outcome_of(returned, Some(ns)),
        };
        let lines = [
            (
                "16259 write(0x4, 0x7fffae7055b0, 0x64)  = 0x64 <0.000006294>",
                whole("write", Some(100), 6_294),
            ),
            (
                "16259 write(0xffffffff, 0x7ff0, 0x1) = -1 EBADF (Bad file descriptor) <0.000003870>",
                whole("write", None, 3_870),
            ),
            (
                "16259 brk(0)                            = 0x55c410405000 <0.000003986>",
                whole("brk", Some(0x55c4_1040_5000), 3_986),
            ),
            (
                "16271 read(0x3, 0x7f35c62bdec0 <unfinished ...>",
                TraceEvent::Unfinished { call: "read", starts_thread: false },
            ),
            (
                "16271 read(0x3, 0x7f35c62bdec0 <detached ...>",
                TraceEvent::Unfinished { call: "read", starts_thread: false },
            ),
            (
                "16259 <... futex resumed>)              = -1 ERESTARTSYS (Unknown error 512) <0.001294328>",
                TraceEvent::Resumed { call: "futex", outcome: outcome_of(None, Some(1_294_328)) },
            ),
            (
                "16280 <... getrusage resumed>{ru_utime={tv_sec=0, tv_usec=29}, ...}) = 0 <0.000006667>",
                TraceEvent::Resumed {
                    call: "getrusage",
                    outcome: outcome_of(Some(0), Some(6_667)),
                },
            ),
            (
                "16280 restart_syscall(<... resuming interrupted clock_nanosleep ...>) = 0 <1.001895977>",
                whole("restart_syscall", Some(0), 1_001_895_977),
            ),
            (
                "16271 exit(0)                           = ?",
                TraceEvent::Complete {
                    call: "exit",
                    starts_thread: false,
                    outcome: outcome_of(None, None),
                },
            ),
            ("16271 +++ exited with 0 +++", TraceEvent::SignalOrExit),
            (
                "16271 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=18277} ---",
                TraceEvent::SignalOrExit,
            ),
        ];
        for (line, event) in lines {
            let read = parse(line).map(|read| (read.tid.is_some(), read.event));
            assert_eq!(read, Some((true, event)), "{line}");
        }
    }

    #[test]
    fn new_threads_are_told_from_new_processes() {
        let starts = |line| match parse(line).unwrap().event {
            TraceEvent::Complete { starts_thread, .. }
            | TraceEvent::Unfinished { starts_thread, .. } => starts_thread,
            _ => panic!("{line}"),
        };
        assert!(starts(
            "16259 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM, stack_size=0x7fff80} => {parent_tid=[16271]}, 88) = 16271 <0.000034605>"
        ));
        assert!(starts(
            "16280 clone3({flags=CLONE_VM|CLONE_THREAD, stack=0x7fbba98a4000} <unfinished ...>"
        ));
        assert!(!starts(
            "16259 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f35c62c0a10) = 16272 <0.000112706>"
        ));
    }

    #[test]
    fn one_thread_alone_is_not_named() {
        let line = parse("write(0x4, 0x7fffae7055b0, 0x64)  = 0x64 <0.000006>").unwrap();
        assert_eq!(line.tid, None);
        let outcome = outcome_of(Some(100), Some(6_000));
        assert_eq!(
            line.event,
            TraceEvent::Complete { call: "write", starts_thread: false, outcome }
        );
    }

    #[test]
    fn times_beyond_belief_are_not_understood() {
        for seconds in ["9.9999999999", "9.", ".5", "99999999999999999999.5", "99999999999.5", "5"]
        {
            assert_eq!(parse(&format!("17 write(0x4) = 0 <{seconds}>")), None, "{seconds}");
        }
    }

    #[test]
    fn other_words_are_not_understood() {
        for line in [
            "",
            "17",
            "strace: Process 16259 attached",
            "17 write(0x4",
            "17 = 3",
            "(",
            "17 WRITE() = 0",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_fall(line in "\\PC*") {
            let _ = parse(&line);
        }

        #[test]
        fn no_line_made_of_its_words_makes_it_fall(words in proptest::collection::vec(
            prop_oneof![
                Just("17"), Just(" "), Just("write("), Just(")"), Just(" = "), Just("0x"), Just("-1"), Just("?"),
                Just("<"), Just(">"), Just("<... "), Just(" resumed>"), Just(" <unfinished ...>"), Just("+++ "),
                Just("0.000001"), Just("99999999999999999999999"), Just("9.9999999999"), Just("é"), Just("."),
            ],
            0..12,
        )) {
            let _ = parse(&words.concat());
        }
    }
}
