//! A program as one would write it with libzmq: two processes, each with a PAIR socket, and messages one way or there
//! and back.
//!
//! It knows nothing of ipcperf except the numbers in its arguments. The receiver is this program again. Both stay on
//! the CPU that the sender was started on, with the defaults of libzmq.

use std::ffi::CString;
use std::process::{Child, Command};
use std::time::Instant;

use clap::{Args, ValueEnum};
use ipcperf_zmq::Pair;

type PairResult<T> = Result<T, Box<dyn std::error::Error>>;

/// Arguments of the program.
#[derive(Args, Clone, Debug)]
pub(crate) struct PairArguments {
    work: PairWorkload,
    #[arg(long)]
    bytes: usize,
    #[arg(long)]
    messages: u64,
    /// Address of the sender, for the receiver
    #[arg(long)]
    sender: Option<CString>,
}

/// Pattern of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PairWorkload {
    /// One way
    Stream,
    /// There and back
    RoundTrip,
}

/// A child that is killed when this is dropped.
struct ReceiverProcess(Child);

impl Drop for ReceiverProcess {
    fn drop(&mut self) {
        // Fails if it is gone, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Plays the given part; the sender returns the time in ns until all messages have arrived.
pub(crate) fn run(arguments: &PairArguments) -> PairResult<Option<u64>> {
    let mut pair = Pair::new()?;
    match &arguments.sender {
        Some(address) => {
            pair.connect(address)?;
            receive(arguments, &mut pair).map(|()| None)
        }
        None => {
            // An abstract name, which is not a file and disappears with the process.
            let address = format!("ipc://@ipcperf-bench-{}", std::process::id());
            pair.bind(&CString::new(address.as_str())?)?;
            let _receiver = receiver(arguments, &address)?;
            send(arguments, &mut pair).map(Some)
        }
    }
}

fn receiver(arguments: &PairArguments, address: &str) -> PairResult<ReceiverProcess> {
    let work = arguments.work.to_possible_value().ok_or("unknown workload")?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["zmq-pair", work.get_name(), "--sender", address]);
    command.args(["--bytes", &arguments.bytes.to_string()]);
    command.args(["--messages", &arguments.messages.to_string()]);
    Ok(ReceiverProcess(command.spawn()?))
}

/// Sends once the receiver is ready; returns the time in ns until the last message has arrived.
fn send(arguments: &PairArguments, pair: &mut Pair) -> PairResult<u64> {
    let (message, mut answer) = (vec![0x5A; arguments.bytes], vec![0; arguments.bytes]);
    pair.recv(&mut [])?;
    let start = Instant::now();
    for _ in 0..arguments.messages {
        pair.send(&message)?;
        if arguments.work == PairWorkload::RoundTrip {
            pair.recv(&mut answer)?;
        }
    }
    if arguments.work == PairWorkload::Stream {
        pair.recv(&mut [])?;
    }
    Ok(u64::try_from(start.elapsed().as_nanos())?)
}

/// Reports that it is ready and, at the end of a stream, that everything has arrived.
fn receive(arguments: &PairArguments, pair: &mut Pair) -> PairResult<()> {
    let mut message = vec![0; arguments.bytes];
    pair.send(&[])?;
    for _ in 0..arguments.messages {
        pair.recv(&mut message)?;
        if arguments.work == PairWorkload::RoundTrip {
            pair.send(&message)?;
        }
    }
    if arguments.work == PairWorkload::Stream {
        pair.send(&[])?;
    }
    Ok(())
}
