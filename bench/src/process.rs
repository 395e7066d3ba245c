//! Child processes: started, given input, read, and ended in time.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::BenchError;

/// Runs `command` with `input` on standard input and returns its standard output. This process sleeps meanwhile. A
/// program that exceeds `deadline` is killed; those started here make sure that their own children die too.
pub(crate) fn run_with_input(
    command: &mut Command,
    input: &[u8],
    deadline: Duration,
) -> Result<Vec<u8>, BenchError> {
    // It may be gone already.
    run_until(command, input, deadline, |child| drop(child.kill()))
}

/// Runs `command` in its own process group and returns its output. If it exceeds `deadline`, it is killed with all its
/// children, which might otherwise wait for each other for ever.
pub(crate) fn run_in_group(
    command: &mut Command,
    deadline: Duration,
) -> Result<Vec<u8>, BenchError> {
    run_until(command.process_group(0), b"", deadline, |child| {
        // It may be gone already.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    })
}

fn run_until(
    command: &mut Command,
    input: &[u8],
    deadline: Duration,
    kill: impl FnOnce(&mut Child),
) -> Result<Vec<u8>, BenchError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| BenchError::Start(program.clone(), error))?;
    let said = write_and_read(&mut child, input, Instant::now() + deadline);
    if !matches!(said, Ok(Some(_))) {
        kill(&mut child);
    }
    let status = child.wait().map_err(|error| BenchError::Io(program.clone(), error))?;
    match said.map_err(|error| BenchError::Io(program.clone(), error))? {
        None => Err(BenchError::Timeout { program, deadline }),
        Some(_) if !status.success() => Err(BenchError::ExitStatus { program, status }),
        Some(text) => Ok(text),
    }
}

/// Returns the output of the child until it closes it; `None` if `end` comes first.
fn write_and_read(
    child: &mut Child,
    input: &[u8],
    end: Instant,
) -> std::io::Result<Option<Vec<u8>>> {
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input)?;
    }
    let mut text = Vec::new();
    let Some(mut output) = child.stdout.take() else { return Ok(Some(text)) };
    while is_readable_before(&output, end)? {
        let mut piece = [0; 16 * 1024];
        match output.read(&mut piece)? {
            0 => return Ok(Some(text)),
            count => text.extend_from_slice(&piece[..count]),
        }
    }
    Ok(None)
}

fn is_readable_before(output: &ChildStdout, end: Instant) -> std::io::Result<bool> {
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let limit = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&limit)) {
            Err(Errno::INTR) => {}
            polled => return Ok(polled? > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far longer than any of these takes on a busy machine; processes that must be killed sleep for longer.
    const SOON: Duration = Duration::from_secs(300);

    #[test]
    fn what_is_told_comes_back_from_cat() {
        assert_eq!(run_with_input(&mut Command::new("cat"), b"word", SOON).unwrap(), b"word");
    }

    #[test]
    fn what_overstays_is_killed_and_what_fails_is_told() {
        let sleeper = &mut Command::new("sleep");
        let late = run_with_input(sleeper.arg("3600"), b"", Duration::from_millis(20));
        assert!(matches!(late, Err(BenchError::Timeout { .. })), "{late:?}");
        let failed = run_with_input(&mut Command::new("false"), b"", SOON);
        assert!(matches!(failed, Err(BenchError::ExitStatus { .. })), "{failed:?}");
        let missing = run_with_input(&mut Command::new("no-such-program"), b"", SOON);
        assert!(matches!(missing, Err(BenchError::Start(..))), "{missing:?}");
    }

    /// The child of the killed process holds a pipe open, which closes when it is gone too.
    #[test]
    fn what_overstays_takes_its_children_along() {
        let (mut ear, mouth) = std::io::pipe().unwrap();
        let mut parent = Command::new("sh");
        parent.args(["-c", "sleep 3600 & wait"]).stderr(mouth);
        let start = Instant::now();
        let late = run_in_group(&mut parent, Duration::from_millis(200));
        assert!(matches!(late, Err(BenchError::Timeout { .. })), "{late:?}");
        drop(parent);
        ear.read_to_end(&mut Vec::new()).unwrap();
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
    }

    #[test]
    fn what_a_group_says_comes_back() {
        let said = run_in_group(Command::new("echo").arg("word"), SOON);
        assert_eq!(said.unwrap(), b"word\n");
    }
}
