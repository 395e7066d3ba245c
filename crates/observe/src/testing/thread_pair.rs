//! Peers for tests: two threads of the test's own process, among any other threads that it has. They wait at a gate,
//! mark their phases, and move messages through a pipe.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::forked_pair::mark;
use crate::{Member, Scope, Targets};

/// Size of each message, bytes.
pub(crate) const BYTES: usize = 64;

/// Two threads at their gate. They exit when dropped.
#[derive(Debug)]
pub(crate) struct ThreadPair {
    pub(crate) targets: Targets,
    gates: Vec<Sender<()>>,
    threads: Vec<JoinHandle<u64>>,
}

impl ThreadPair {
    /// Starts a sender of `messages` in each of two phases, and a receiver.
    pub(crate) fn new(messages: u64) -> Self {
        let (reader, writer) = pipe().unwrap();
        let mut pair = Self { targets: Targets::default(), gates: Vec::new(), threads: Vec::new() };
        pair.start("sender", move || send(&writer, messages));
        pair.start("receiver", move || receive(&reader, messages));
        pair
    }

    fn start(&mut self, role: &str, phase: impl Fn() -> u64 + Send + 'static) {
        let (gate, gate_receiver) = channel();
        let (tid_sender, tid_receiver) = channel();
        self.threads
            .push(std::thread::spawn(move || run_thread(&gate_receiver, &tid_sender, phase)));
        self.gates.push(gate);
        let (pid, tid) = (std::process::id(), tid_receiver.recv().unwrap());
        self.targets.members.push(Member { role: role.to_owned(), pid, tid, scope: Scope::Thread });
    }

    /// Opens the gate, and returns the number of calls of each thread in its last phase.
    pub(crate) fn run(self) -> Vec<u64> {
        for gate in &self.gates {
            gate.send(()).unwrap();
        }
        self.threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }
}

fn run_thread(gate: &Receiver<()>, tid_sender: &Sender<u32>, phase: impl Fn() -> u64) -> u64 {
    let tid = rustix::thread::gettid().as_raw_nonzero().get();
    tid_sender.send(tid.unsigned_abs()).unwrap();
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
