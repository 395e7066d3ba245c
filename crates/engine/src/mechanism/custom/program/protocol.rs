//! Text protocol on descriptor 3: lines of words in both directions.

use std::fmt::Write as _;

use ipcperf_model::{Answer as Reply, FailureKind, PayloadCheck, Role, RunSpec};

use crate::mechanism::foreign_text::sanitize;
use crate::workload::PhaseSize;

/// Version of the protocol.
pub(super) const PROTOCOL: u32 = 1;

/// Whether a program checks messages when asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verifies {
    Yes,
    No,
}

/// Whether a program marks its loop for instruments with a call of getrusage(2) just before and just after
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarksLoop {
    Yes,
    No,
}

/// Capabilities of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) verifies: Verifies,
    pub(super) marks: MarksLoop,
}

/// A successful answer of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramAnswer {
    Ready(Ready),
    Done(Done),
}

/// Results of a phase. Role and workload decide which of them are required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) began_ns: Option<u64>,
    pub(super) ended_ns: Option<u64>,
    pub(super) messages: Option<u64>,
    pub(super) calls: Option<u64>,
}

/// An answer that reports a failure, or a line that is not a valid answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProgramError {
    pub(super) kind: FailureKind,
    pub(super) text: String,
}

/// Formats the case for the peer `role`.
pub(super) fn format_case(spec: &RunSpec, role: Role, folder: &str) -> String {
    let (reply, reply_bytes) = match (spec.reply_bytes(), spec.answer()) {
        (None, _) => ("none", 0),
        (Some(bytes), Reply::Separate(_) | Reply::SameSize) => ("own", bytes),
        (Some(bytes), Reply::Echo) => ("echo", bytes),
    };
    let verify = if spec.check == PayloadCheck::Verify { "yes" } else { "no" };
    let lines = [
        ("ipcperf", PROTOCOL.to_string()),
        ("role", role.name().to_owned()),
        ("workload", spec.workload.name().to_owned()),
        ("buffer_bytes", spec.buffer_bytes.to_string()),
        ("reply", reply.to_owned()),
        ("reply_bytes", reply_bytes.to_string()),
        ("verify", verify.to_owned()),
        ("folder", folder.to_owned()),
    ];
    let mut text: String = lines.iter().map(|(key, value)| format!("{key} {value}\n")).collect();
    // Writing to a `String` cannot fail.
    if let Some(bytes) = spec.kernel_buffer.requested_bytes(spec.buffer_bytes) {
        let _ = writeln!(text, "kernel_buffer_bytes {bytes}");
    }
    for (name, value) in &spec.options {
        let _ = writeln!(text, "option {name} {value}");
    }
    text + "prepare\n"
}

/// Formats the command to begin a phase.
pub(super) fn format_go(size: PhaseSize) -> String {
    format!("go {} {}\n", size.messages, size.last_bytes)
}

/// Parses a line from a program.
pub(super) fn parse_answer(line: &str) -> Result<ProgramAnswer, ProgramError> {
    let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let complaint = |what| Err(ProgramError { kind: what, text: sanitize(rest) });
    match (word, rest) {
        ("ready", skills) => parse_ready(skills, line).map(ProgramAnswer::Ready),
        ("done", numbers) => parse_done(numbers).map(ProgramAnswer::Done),
        ("refuse", _) => complaint(FailureKind::SetUp),
        ("error", _) => complaint(FailureKind::Call),
        ("corrupt", _) => complaint(FailureKind::Corrupt),
        _ => Err(invalid_line(line)),
    }
}

fn parse_ready(capabilities: &str, line: &str) -> Result<Ready, ProgramError> {
    let mut ready = Ready { verifies: Verifies::No, marks: MarksLoop::No };
    for capability in capabilities.split_ascii_whitespace() {
        match capability {
            "verifies" => ready.verifies = Verifies::Yes,
            "marks" => ready.marks = MarksLoop::Yes,
            _ => return Err(invalid_line(line)),
        }
    }
    Ok(ready)
}

fn parse_done(numbers: &str) -> Result<Done, ProgramError> {
    let mut done = Done::default();
    for word in numbers.split_ascii_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let value = value.parse::<u64>().map_err(|_| {
            invalid_answer(&format!(
                "sent `{}`, which is not an unsigned 64-bit integer",
                sanitize(word)
            ))
        })?;
        let field = match key {
            "begin_ns" => &mut done.began_ns,
            "end_ns" => &mut done.ended_ns,
            "messages" => &mut done.messages,
            "calls" => &mut done.calls,
            _ => {
                return Err(invalid_answer(&format!(
                    "sent `{}`, which is an unknown key",
                    sanitize(word)
                )));
            }
        };
        *field = Some(value);
    }
    Ok(done)
}

fn invalid_line(line: &str) -> ProgramError {
    invalid_answer(&format!("sent `{}`, which is not a valid answer", sanitize(line)))
}

/// Returns the complaint about an invalid answer.
pub(super) fn invalid_answer(words: &str) -> ProgramError {
    ProgramError { kind: FailureKind::Answer, text: words.to_owned() }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::spec;

    #[test]
    fn a_case_is_told_line_by_line() {
        let mut spec = spec("exec:/x", [0, 0]);
        spec.workload = WorkloadKind::RequestReply;
        spec.options.insert("depth".to_owned(), "a b".to_owned());
        let text = format_case(&spec, Role::Receiver, "/f");
        assert_eq!(
            text,
            "ipcperf 1\nrole receiver\nworkload request-reply\nbuffer_bytes 64\nreply echo\n\
             reply_bytes 64\nverify no\nfolder /f\noption depth a b\nprepare\n"
        );
        assert_eq!(format_go(PhaseSize::from_total(64, 100)), "go 2 36\n");
    }

    #[test]
    fn answers_are_understood() {
        let ready = |verifies, marks| Ok(ProgramAnswer::Ready(Ready { verifies, marks }));
        assert_eq!(parse_answer("ready"), ready(Verifies::No, MarksLoop::No));
        assert_eq!(parse_answer("ready verifies"), ready(Verifies::Yes, MarksLoop::No));
        assert_eq!(parse_answer("ready marks verifies"), ready(Verifies::Yes, MarksLoop::Yes));
        let Ok(ProgramAnswer::Done(done)) = parse_answer("done end_ns=7 messages=3 calls=9") else {
            panic!()
        };
        assert_eq!((done.began_ns, done.ended_ns), (None, Some(7)));
        assert_eq!((done.messages, done.calls), (Some(3), Some(9)));
        let refused = parse_answer("refuse only streams").unwrap_err();
        assert_eq!(
            refused,
            ProgramError { kind: FailureKind::SetUp, text: "only streams".to_owned() }
        );
    }

    #[test]
    fn what_is_no_answer_is_told() {
        for line in [
            "",
            "redy",
            "ready now",
            "done messages=18446744073709551616",
            "done x=1",
            "done begin_ns=-1",
            "done 5",
        ] {
            assert_eq!(parse_answer(line).unwrap_err().kind, FailureKind::Answer, "{line}");
        }
    }
}
