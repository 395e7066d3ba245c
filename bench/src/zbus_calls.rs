//! A program as one would write it with zbus: a caller, a callee, and method calls with an array of bytes.
//!
//! It knows nothing of ipcperf except the numbers in its arguments. Caller and callee are two processes; the callee is
//! this program again. The caller starts the dbus-daemon between them, if one is used, with the package's own
//! `session.conf`. All stay on the CPU that the caller was started on.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use clap::{Args, ValueEnum};
use futures_lite::StreamExt;
use serde::{Serialize, Serializer};
use zbus::connection::Builder;
use zbus::message::Type;
use zbus::zvariant::{self, Signature};
use zbus::{Connection, Guid, Message, MessageStream};

type CallResult<T> = Result<T, Box<dyn std::error::Error>>;

const SERVICE: &str = "org.example.Service";

/// Arguments of the program.
#[derive(Args, Clone, Debug)]
pub(crate) struct CallsArguments {
    part: CallRole,
    /// The bus's address; none where caller and callee speak to each other
    #[arg(long)]
    bus: Option<String>,
    #[arg(long)]
    bytes: usize,
    /// Bytes of each reply
    #[arg(long)]
    reply: usize,
    #[arg(long)]
    calls: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CallRole {
    /// Starts a dbus-daemon for the two, then calls
    Daemon,
    /// Calls
    Peer,
    /// Is called
    Callee,
}

/// An array of bytes that is written in one piece; a slice would be written byte by byte.
struct Bytes<'a>(&'a [u8]);

impl zvariant::Type for Bytes<'_> {
    const SIGNATURE: &'static Signature = <&[u8]>::SIGNATURE;
}

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

/// A child that is killed when this is dropped.
struct ChildProcess(Child);

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // Fails if it is gone, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Plays the given part; the caller returns the duration of all calls in ns.
pub(crate) fn run(arguments: &CallsArguments) -> CallResult<Option<u64>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    match arguments.part {
        CallRole::Callee => {
            let socket = UnixStream::from(rustix::io::dup(std::io::stdin())?);
            runtime.block_on(serve(arguments, socket)).map(|()| None)
        }
        CallRole::Peer => {
            let (socket, its) = UnixStream::pair()?;
            let _callee = callee(arguments, its)?;
            runtime
                .block_on(async { call(arguments, peer(socket)?.build().await?).await })
                .map(Some)
        }
        CallRole::Daemon => {
            let (_daemon, address) = daemon()?;
            let arguments = CallsArguments { bus: Some(address.clone()), ..arguments.clone() };
            let (ready, its) = UnixStream::pair()?;
            let _callee = callee(&arguments, its)?;
            // The callee reports when it is ready.
            BufReader::new(ready).read_line(&mut String::new())?;
            let bus = Builder::address(address.as_str())?;
            runtime.block_on(async { call(&arguments, bus.build().await?).await }).map(Some)
        }
    }
}

fn callee(arguments: &CallsArguments, socket: UnixStream) -> CallResult<ChildProcess> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["zbus-calls", "callee"]);
    command.args(["--bytes", &arguments.bytes.to_string()]);
    command.args(["--reply", &arguments.reply.to_string()]);
    command.args(["--calls", &arguments.calls.to_string()]);
    if let Some(address) = &arguments.bus {
        command.args(["--bus", address]);
    }
    Ok(ChildProcess(command.stdin(OwnedFd::from(socket)).spawn()?))
}

fn daemon() -> CallResult<(ChildProcess, String)> {
    let mut command = Command::new("dbus-daemon");
    command.args(["--session", "--nofork", "--nopidfile", "--print-address"]);
    let mut daemon = ChildProcess(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?);
    let output = daemon.0.stdout.take().ok_or("no output")?;
    let mut address = String::new();
    BufReader::new(output).read_line(&mut address)?;
    Ok((daemon, address.trim().to_owned()))
}

fn peer(socket: UnixStream) -> CallResult<Builder<'static>> {
    socket.set_nonblocking(true)?;
    Ok(Builder::unix_stream(tokio::net::UnixStream::from_std(socket)?).p2p())
}

/// Makes calls and waits for each reply.
async fn call(arguments: &CallsArguments, connection: Connection) -> CallResult<u64> {
    let mut messages = MessageStream::from(&connection);
    let (payload, mut answer) = (vec![0x5A; arguments.bytes], vec![0; arguments.reply]);
    let start = Instant::now();
    for _ in 0..arguments.calls {
        let mut call = Message::method_call("/org/example", "Take")?;
        if arguments.bus.is_some() {
            call = call.destination(SERVICE)?;
        }
        connection.send(&call.build(&Bytes(&payload))?).await?;
        let reply = next(&mut messages, Type::MethodReturn).await?;
        answer.copy_from_slice(reply.body().deserialize()?);
    }
    Ok(u64::try_from(start.elapsed().as_nanos())?)
}

/// Replies to each call.
async fn serve(arguments: &CallsArguments, socket: UnixStream) -> CallResult<()> {
    let connection = match &arguments.bus {
        Some(address) => Builder::address(address.as_str())?.name(SERVICE)?.build().await?,
        None => peer(socket.try_clone()?)?.server(Guid::generate())?.build().await?,
    };
    let mut messages = MessageStream::from(&connection);
    if arguments.bus.is_some() {
        rustix::io::write(&socket, b"ready\n")?;
    }
    let (mut request, payload) = (vec![0; arguments.bytes], vec![0xA5; arguments.reply]);
    for _ in 0..arguments.calls {
        let call = next(&mut messages, Type::MethodCall).await?;
        request.copy_from_slice(call.body().deserialize()?);
        let reply = Message::method_return(&call.header())?.build(&Bytes(&payload))?;
        connection.send(&reply).await?;
    }
    Ok(())
}

async fn next(messages: &mut MessageStream, wanted: Type) -> CallResult<Message> {
    loop {
        let message = messages.next().await.ok_or("the connection was closed")??;
        if message.message_type() == wanted {
            return Ok(message);
        }
    }
}
