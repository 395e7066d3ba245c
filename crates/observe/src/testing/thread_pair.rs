//! Peers for tests: two threads of the test's own process, among any other threads that it has. They wait at a gate,
//! mark their phases, and move messages through a pipe.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::forked_pair::mark;
use crate::{Member, Parties, Scope};

/// Size of each message, bytes.
pub(crate) const BYTES: usize = 64;

/// Two threads at their gate. They exit when dropped.
#[derive(Debug)]
pub(crate) struct Duet {
    pub(crate) parties: Parties,
    gates: Vec<Sender<()>>,
    threads: Vec<JoinHandle<u64>>,
}

impl Duet {
    /// Starts a sender of `messages` in each of two phases, and a receiver.
    pub(crate) fn of(messages: u64) -> Self {
        let (reader, writer) = pipe().unwrap();
        let mut duet = Self { parties: Parties::default(), gates: Vec::new(), threads: Vec::new() };
        duet.start("sender", move || send(&writer, messages));
        duet.start("receiver", move || receive(&reader, messages));
        duet
    }

    fn start(&mut self, role: &str, phase: impl Fn() -> u64 + Send + 'static) {
        let (gate, gates_other_end) = channel();
        let (tell, told) = channel();
        self.threads.push(std::thread::spawn(move || play(&gates_other_end, &tell, phase)));
        self.gates.push(gate);
        let (pid, tid) = (std::process::id(), told.recv().unwrap());
        self.parties.members.push(Member { role: role.to_owned(), pid, tid, scope: Scope::Thread });
    }

    /// Opens the gate, and returns the number of calls of each thread in its last phase.
    pub(crate) fn play(self) -> Vec<u64> {
        for gate in &self.gates {
            gate.send(()).unwrap();
        }
        self.threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }
}

fn play(gate: &Receiver<()>, tell: &Sender<u32>, phase: impl Fn() -> u64) -> u64 {
    let tid = rustix::thread::gettid().as_raw_nonzero().get();
    tell.send(tid.unsigned_abs()).unwrap();
    if gate.recv().is_err() {
        return 0;
    }
    let phases = [(); 2].map(|()| {
        mark();
        let calls = phase();
        mark();
        calls
    });
    phases[1]
}

fn send(mut writer: &PipeWriter, messages: u64) -> u64 {
    for _ in 0..messages {
        writer.write_all(&[1; BYTES]).unwrap();
    }
    messages
}

fn receive(mut reader: &PipeReader, messages: u64) -> u64 {
    let (mut calls, mut bytes, mut buffer) = (0, 0, [0; BYTES]);
    while bytes < messages * BYTES as u64 {
        bytes += reader.read(&mut buffer).unwrap() as u64;
        calls += 1;
    }
    calls
}
