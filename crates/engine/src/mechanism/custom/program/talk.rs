//! Text protocol on descriptor 3: lines of words in both directions.

use std::fmt::Write as _;

use ipcperf_model::{Answer as Reply, FailureKind, Role, RunSpec, TouchCheck};

use crate::mechanism::plain;
use crate::workload::Extent;

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
pub(super) enum Marks {
    Yes,
    No,
}

/// Capabilities of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) verifies: Verifies,
    pub(super) marks: Marks,
}

/// A successful answer of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
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
pub(super) struct Complaint {
    pub(super) what: FailureKind,
    pub(super) words: String,
}

/// Formats the case for the peer `role`.
pub(super) fn case(spec: &RunSpec, role: Role, folder: &str) -> String {
    let (reply, reply_bytes) = match (spec.reply_bytes(), spec.answer()) {
        (None, _) => ("none", 0),
        (Some(bytes), Reply::Own(_)) => ("own", bytes),
        (Some(bytes), Reply::Echo) => ("echo", bytes),
    };
    let verify = if spec.check == TouchCheck::Verify { "yes" } else { "no" };
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
    if let Some(bytes) = spec.kernel_buffer.asked_bytes(spec.buffer_bytes) {
        let _ = writeln!(text, "kernel_buffer_bytes {bytes}");
    }
    for (name, value) in &spec.options {
        let _ = writeln!(text, "option {name} {value}");
    }
    text + "prepare\n"
}

/// Formats the command to begin a phase.
pub(super) fn go(extent: Extent) -> String {
    format!("go {} {}\n", extent.messages, extent.last_bytes)
}

/// Parses a line from a program.
pub(super) fn understand(line: &str) -> Result<Answer, Complaint> {
    let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    let complaint = |what| Err(Complaint { what, words: plain(rest) });
    match (word, rest) {
        ("ready", skills) => ready(skills, line).map(Answer::Ready),
        ("done", numbers) => done(numbers).map(Answer::Done),
        ("refuse", _) => complaint(FailureKind::SetUp),
        ("error", _) => complaint(FailureKind::Call),
        ("corrupt", _) => complaint(FailureKind::Corrupt),
        _ => Err(said_no_answer(line)),
    }
}

fn ready(skills: &str, line: &str) -> Result<Ready, Complaint> {
    let mut ready = Ready { verifies: Verifies::No, marks: Marks::No };
    for skill in skills.split_ascii_whitespace() {
        match skill {
            "verifies" => ready.verifies = Verifies::Yes,
            "marks" => ready.marks = Marks::Yes,
            _ => return Err(said_no_answer(line)),
        }
    }
    Ok(ready)
}

fn done(numbers: &str) -> Result<Done, Complaint> {
    let mut done = Done::default();
    for word in numbers.split_ascii_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let value = value.parse::<u64>().map_err(|_| {
            no_answer(&format!("said `{}`, which is no whole number of 64 bits", plain(word)))
        })?;
        let place = match key {
            "begin_ns" => &mut done.began_ns,
            "end_ns" => &mut done.ended_ns,
            "messages" => &mut done.messages,
            "calls" => &mut done.calls,
            _ => {
                return Err(no_answer(&format!(
                    "said `{}`, of which nothing is known",
                    plain(word)
                )));
            }
        };
        *place = Some(value);
    }
    Ok(done)
}

fn said_no_answer(line: &str) -> Complaint {
    no_answer(&format!("said `{}`, which is no answer", plain(line)))
}

/// Returns the complaint about an invalid answer.
pub(super) fn no_answer(words: &str) -> Complaint {
    Complaint { what: FailureKind::Answer, words: words.to_owned() }
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::Kind;

    use super::*;
    use crate::testing::spec;

    #[test]
    fn a_case_is_told_line_by_line() {
        let mut spec = spec("exec:/x", [0, 0]);
        spec.workload = Kind::RequestReply;
        spec.options.insert("depth".to_owned(), "a b".to_owned());
        let told = case(&spec, Role::Receiver, "/f");
        assert_eq!(
            told,
            "ipcperf 1\nrole receiver\nworkload request-reply\nbuffer_bytes 64\nreply echo\n\
             reply_bytes 64\nverify no\nfolder /f\noption depth a b\nprepare\n"
        );
        assert_eq!(go(Extent::of_total(64, 100)), "go 2 36\n");
    }

    #[test]
    fn answers_are_understood() {
        let ready = |verifies, marks| Ok(Answer::Ready(Ready { verifies, marks }));
        assert_eq!(understand("ready"), ready(Verifies::No, Marks::No));
        assert_eq!(understand("ready verifies"), ready(Verifies::Yes, Marks::No));
        assert_eq!(understand("ready marks verifies"), ready(Verifies::Yes, Marks::Yes));
        let Ok(Answer::Done(done)) = understand("done end_ns=7 messages=3 calls=9") else {
            panic!()
        };
        assert_eq!((done.began_ns, done.ended_ns), (None, Some(7)));
        assert_eq!((done.messages, done.calls), (Some(3), Some(9)));
        let refused = understand("refuse only streams").unwrap_err();
        assert_eq!(
            refused,
            Complaint { what: FailureKind::SetUp, words: "only streams".to_owned() }
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
            assert_eq!(understand(line).unwrap_err().what, FailureKind::Answer, "{line}");
        }
    }
}
