//! A program as one would write it with iceoryx2: two processes that publish slices of bytes to each other and poll for
//! incoming ones.
//!
//! It knows nothing of ipcperf except the numbers in its arguments. The leader starts the follower, which is this
//! program again; each stays on one CPU. No message may be lost: full queues make the publisher wait. Names lie below a
//! folder and behind a prefix that are specific to the run, and the leader removes them.

use std::fs::{read_dir, remove_dir_all, remove_file};
use std::hint::spin_loop;
use std::io::{Read, Write, stdin, stdout};
use std::process::{Child, Command, Stdio};

use clap::{Args, ValueEnum};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::port::update_connections::UpdateConnections;
use iceoryx2::prelude::{
    BackpressureStrategy, Config, FileName, Node, NodeBuilder, Path, SemanticString, ipc,
};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

type SampleResult<T> = Result<T, Box<dyn std::error::Error>>;

/// Arguments of the program.
#[derive(Args, Clone, Debug)]
pub(crate) struct SamplesArguments {
    part: SampleRole,
    workload: Workload,
    #[arg(long)]
    bytes: usize,
    #[arg(long)]
    messages: u64,
    #[arg(long)]
    cpu: usize,
    /// CPU of the follower
    #[arg(long)]
    other_cpu: usize,
    /// Number that makes names unique; the follower gets the same
    #[arg(long, default_value_t = std::process::id())]
    run: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SampleRole {
    /// Starts the follower; sends, or starts each round trip
    Leader,
    /// Receives, or answers
    Follower,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workload {
    RoundTrip,
    Stream,
}

/// Maximum number of samples in flight, in a stream.
const QUEUE_LENGTH: usize = 8;
/// Messages sent before the clock starts.
const WARM_UP: u64 = 64;
/// Tells the other peer that it is its turn to connect.
const TURN: &[u8] = b"\n";
/// Size of a time, in bytes.
const TIME_BYTES: usize = 8;

/// A follower that is killed when this is dropped.
struct FollowerProcess(Child);

impl Drop for FollowerProcess {
    fn drop(&mut self) {
        // Fails if it is gone, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// State of a peer.
struct SamplePeer {
    publisher: Publisher<ipc::Service, [u8], ()>,
    subscriber: Subscriber<ipc::Service, [u8], ()>,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    _node: Node<ipc::Service>,
}

/// Plays the given part; the leader returns the duration in ns.
pub(crate) fn run(arguments: &SamplesArguments) -> SampleResult<Option<u64>> {
    let mut cpus = CpuSet::new();
    cpus.set(arguments.cpu);
    sched_setaffinity(None, &cpus)?;
    match arguments.part {
        SampleRole::Follower => {
            let mut peer = SamplePeer::join(arguments, ["back", "there"])?;
            // If both peers connect at the same moment, one may be left without a connection.
            stdout().write_all(TURN)?;
            stdout().flush()?;
            stdin().read_exact(&mut [0])?;
            peer.subscriber.update_connections()?;
            // Tells the leader to start: messages sent before this peer is connected may be lost.
            peer.publish(&now_ns()?.to_le_bytes())?;
            follow(&mut peer, arguments.workload, WARM_UP)?;
            follow(&mut peer, arguments.workload, arguments.messages)?;
            Ok(None)
        }
        SampleRole::Leader => {
            let mut follower = follower(arguments)?;
            pipe_end(follower.0.stdout.as_mut())?.read_exact(&mut [0])?;
            let mut peer = SamplePeer::join(arguments, ["there", "back"])?;
            pipe_end(follower.0.stdin.as_mut())?.write_all(TURN)?;
            peer.receive_time()?;
            lead(&mut peer, arguments.workload, WARM_UP)?;
            let elapsed_ns = lead(&mut peer, arguments.workload, arguments.messages)?;
            follower.0.wait()?;
            drop(peer);
            remove_names(arguments.run)?;
            Ok(Some(elapsed_ns))
        }
    }
}

fn follower(arguments: &SamplesArguments) -> SampleResult<FollowerProcess> {
    let mut command = Command::new(std::env::current_exe()?);
    let workload = match arguments.workload {
        Workload::RoundTrip => "round-trip",
        Workload::Stream => "stream",
    };
    command.args(["iceoryx2-samples", "follower", workload]);
    command.args(["--bytes", &arguments.bytes.to_string()]);
    command.args(["--messages", &arguments.messages.to_string()]);
    command.args(["--cpu", &arguments.other_cpu.to_string()]);
    command.args(["--other-cpu", &arguments.cpu.to_string()]);
    command.args(["--run", &arguments.run.to_string()]);
    Ok(FollowerProcess(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?))
}

fn pipe_end<T>(end: Option<T>) -> SampleResult<T> {
    end.ok_or_else(|| "the follower has no pipe".into())
}

fn name(run: u32) -> String {
    format!("ipcperf-bench-{run}-")
}

fn folder(run: u32) -> std::path::PathBuf {
    std::env::temp_dir().join(name(run))
}

fn config(run: u32) -> SampleResult<Config> {
    let mut config = Config::default();
    config.global.prefix = FileName::new(name(run).as_bytes())?;
    config.global.set_root_path(&Path::new(folder(run).as_os_str().as_encoded_bytes())?);
    Ok(config)
}

/// Removes what the library leaves behind, which the next program with the same names would find.
fn remove_names(run: u32) -> SampleResult<()> {
    remove_dir_all(folder(run))?;
    for entry in read_dir("/dev/shm")?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&name(run)) {
            remove_file(entry.path())?;
        }
    }
    Ok(())
}

impl SamplePeer {
    /// Creates a service to publish to and one to subscribe to, connected if the other peer exists.
    fn join(arguments: &SamplesArguments, [to, from]: [&str; 2]) -> SampleResult<Self> {
        let config = config(arguments.run)?;
        let node = NodeBuilder::new().config(&config).create::<ipc::Service>()?;
        let service = |name: &str| {
            let queue = if arguments.workload == Workload::Stream { QUEUE_LENGTH } else { 1 };
            node.service_builder(&name.try_into()?)
                .publish_subscribe::<[u8]>()
                .enable_safe_overflow(false)
                .subscriber_max_buffer_size(queue)
                .subscriber_max_borrowed_samples(1)
                .max_publishers(1)
                .max_subscribers(1)
                .max_nodes(2)
                .open_or_create()
                .map_err(Box::<dyn std::error::Error>::from)
        };
        let (outlet, inlet) = (service(to)?, service(from)?);
        let subscriber = inlet.subscriber_builder().create()?;
        let publisher = outlet
            .publisher_builder()
            .initial_max_slice_len(arguments.bytes.max(TIME_BYTES))
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create()?;
        publisher.update_connections()?;
        subscriber.update_connections()?;
        let (outgoing, incoming) = (vec![0x5A; arguments.bytes], vec![0; arguments.bytes]);
        Ok(Self { publisher, subscriber, outgoing, incoming, _node: node })
    }

    fn publish(&self, message: &[u8]) -> SampleResult<()> {
        let sample = self.publisher.loan_slice_uninit(message.len())?;
        match sample.write_from_slice(message).send()? {
            0 => Err("no subscriber is connected".into()),
            _ => Ok(()),
        }
    }

    fn receive(&mut self) -> SampleResult<()> {
        loop {
            if let Some(sample) = self.subscriber.receive()? {
                self.incoming[..sample.payload().len()].copy_from_slice(sample.payload());
                return Ok(());
            }
            spin_loop();
        }
    }

    /// Returns the time that the other peer sends.
    fn receive_time(&self) -> SampleResult<u64> {
        loop {
            if let Some(sample) = self.subscriber.receive()? {
                return Ok(u64::from_le_bytes(sample.payload().try_into()?));
            }
            spin_loop();
        }
    }
}

/// Sends `messages`; returns the time in ns from before the first until the last has arrived or was answered.
fn lead(peer: &mut SamplePeer, workload: Workload, messages: u64) -> SampleResult<u64> {
    let start_ns = now_ns()?;
    for _ in 0..messages {
        peer.publish(&peer.outgoing)?;
        if workload == Workload::RoundTrip {
            peer.receive()?;
        }
    }
    let end_ns = match workload {
        Workload::RoundTrip => now_ns()?,
        Workload::Stream => peer.receive_time()?,
    };
    Ok(end_ns - start_ns)
}

/// Receives `messages` and answers each, or reports when the last has arrived.
fn follow(peer: &mut SamplePeer, workload: Workload, messages: u64) -> SampleResult<()> {
    for _ in 0..messages {
        peer.receive()?;
        if workload == Workload::RoundTrip {
            // Echoes what arrived. A prepared reply could be sent before the message has been copied.
            peer.publish(&peer.incoming)?;
        }
    }
    if workload == Workload::Stream {
        peer.publish(&now_ns()?.to_le_bytes())?;
    }
    Ok(())
}

/// Returns the time of a clock that both processes share.
fn now_ns() -> SampleResult<u64> {
    let now = clock_gettime(ClockId::Monotonic);
    Ok(u64::try_from(now.tv_sec)? * 1_000_000_000 + u64::try_from(now.tv_nsec)?)
}
