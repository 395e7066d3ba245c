//! Peers for tests: a process with a helper thread that works for its main peer, as a library's thread does, and a
//! daemon that answers it. The process is this test program, started again with an environment variable set.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe, stdin, stdout};
use std::process::{Child, Command, Stdio};

use rustix::io::{read, write};

use super::forked_pair::mark;
use crate::{Member, Scope, Targets};

/// Environment variable that makes this program run as the process.
const RUN_AS_PROCESS: &str = "IPCPERF_TEST_PROCESS_AND_DAEMON";
/// Text that it prints before and after its thread ID.
const TID_DELIMITERS: [&str; 2] = ["main thread ", "."];
const LINE: &[u8] = b"message\n";

/// Number of messages in each of two phases. For each message the main thread writes to its helper and to the daemon,
/// and reads from both; helper and daemon each read and write once.
pub(crate) const MESSAGES: u64 = 50;

/// Both processes at their gates. They are killed when dropped.
#[derive(Debug)]
pub(crate) struct ProcessAndDaemon {
    /// `sender`, a process with a helper thread, and `broker`, a daemon.
    pub(crate) targets: Targets,
    process: Child,
    daemon: Child,
}

impl ProcessAndDaemon {
    /// Starts both.
    pub(crate) fn start() -> Self {
        let mut daemon = Command::new("/bin/sh");
        let daemon = piped(daemon.args(["-c", "while read line; do echo $line; done"]));
        let mut process = Command::new(std::env::current_exe().unwrap());
        // Tests are named without their crate.
        let (_, module) = module_path!().split_once("::").unwrap();
        let test = format!("{module}::tests::runs_in_a_separate_process");
        let mut process =
            piped(process.args([&*test, "--exact", "--nocapture"]).env(RUN_AS_PROCESS, "1"));
        let tid = read_tid(process.stdout.as_mut().unwrap());
        let member =
            |role: &str, pid, tid, scope| Member { role: role.to_owned(), pid, tid, scope };
        let members = vec![
            member("sender", process.id(), tid, Scope::Process),
            member("broker", daemon.id(), daemon.id(), Scope::Daemon),
        ];
        Self { targets: Targets::new(members), process, daemon }
    }

    /// Opens the gate, forwards lines between the two, and waits for the process to exit.
    pub(crate) fn run(&mut self) {
        let (process, daemon) = (&mut self.process, &mut self.daemon);
        let mut to_process = process.stdin.take().unwrap();
        let mut from_process = process.stdout.take().unwrap();
        let mut to_daemon = daemon.stdin.take().unwrap();
        let mut from_daemon = daemon.stdout.take().unwrap();
        to_process.write_all(b"\n").unwrap();
        for _ in 0..2 * MESSAGES {
            forward_line(&mut from_process, &mut to_daemon);
            forward_line(&mut from_daemon, &mut to_process);
        }
        assert!(process.wait().unwrap().success());
    }
}

impl Drop for ProcessAndDaemon {
    fn drop(&mut self) {
        for child in [&mut self.process, &mut self.daemon] {
            // Both fail only if the process is already gone.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn piped(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Reads the ID of the main thread, skipping what the test harness prints.
fn read_tid(mut stdout: impl Read) -> u32 {
    let (mut output, mut byte) = (String::new(), [0]);
    loop {
        let after = output
            .split_once(TID_DELIMITERS[0])
            .and_then(|(_, after)| after.split_once(TID_DELIMITERS[1]));
        if let Some((tid, _)) = after {
            return tid.parse().unwrap();
        }
        stdout.read_exact(&mut byte).unwrap();
        output.push(char::from(byte[0]));
    }
}

fn forward_line(from: &mut impl Read, to: &mut impl Write) {
    let mut line = [0; LINE.len()];
    from.read_exact(&mut line).unwrap();
    assert_eq!(line, LINE);
    to.write_all(&line).unwrap();
}

/// Runs the helper: it answers until its input is closed.
fn run_helper(mut requests: &PipeReader, mut replies: &PipeWriter) {
    let mut line = [0; LINE.len()];
    while requests.read_exact(&mut line).is_ok() {
        replies.write_all(&line).unwrap();
    }
}

fn run_process() {
    let (requests, mut request_writer) = pipe().unwrap();
    let (mut reply_reader, replies) = pipe().unwrap();
    let helper = std::thread::spawn(move || run_helper(&requests, &replies));
    let tid = rustix::thread::gettid();
    write(stdout(), format!("{}{tid}{}", TID_DELIMITERS[0], TID_DELIMITERS[1]).as_bytes()).unwrap();
    assert_eq!(read(stdin(), &mut [0]).unwrap(), 1);
    for _ in 0..2 {
        mark();
        for _ in 0..MESSAGES {
            let mut line = [0; LINE.len()];
            request_writer.write_all(LINE).unwrap();
            reply_reader.read_exact(&mut line).unwrap();
            assert_eq!(write(stdout(), &line).unwrap(), LINE.len());
            assert_eq!(read(stdin(), &mut line).unwrap(), LINE.len());
        }
        mark();
    }
    drop(request_writer);
    helper.join().unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_in_a_separate_process() {
        if std::env::var_os(RUN_AS_PROCESS).is_some() {
            run_process();
        }
    }

    #[test]
    fn a_household_plays_to_its_end() {
        ProcessAndDaemon::start().run();
    }
}
