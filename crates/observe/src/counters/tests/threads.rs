//! Tests of threads of one process, counted separately and together, and of a daemon.

use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, spawn};

use super::*;
use crate::testing::process_and_daemon::{MESSAGES, ProcessAndDaemon};
use crate::{CounterFd, Member, Scope};

/// Touches this many pages for the first time.
fn touch(pages: usize) {
    const PAGE: usize = 4096;
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let bytes = pages * PAGE;
    // SAFETY: the kernel chooses the address of the new mapping, so it aliases nothing, and this thread owns it until
    // unmapped.
    unsafe {
        let start = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
        assert_ne!(start, libc::MAP_FAILED);
        libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
        for page in 0..pages {
            start.cast::<u8>().add(page * PAGE).write_volatile(1);
        }
        libc::munmap(start, bytes);
    }
}

/// Reads the words of a counter's descriptor, as a peer does.
fn read(counter_fd: &CounterFd<'_>) -> Vec<u64> {
    let mut bytes = [0; 512];
    let length = rustix::io::read(counter_fd.fd, &mut bytes).unwrap();
    let words = bytes[..length].chunks_exact(8);
    words.map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
}

pub(super) fn readings(watch: &dyn Watch) -> Vec<Vec<u64>> {
    watch.counter_fds().iter().map(read).collect()
}

pub(super) fn finish_with(
    mut watch: Box<dyn Watch>,
    before: Vec<Vec<u64>>,
    after: Vec<Vec<u64>>,
) -> Vec<Observation> {
    let pairs = before.into_iter().zip(after);
    let readings = pairs.map(|(before, after)| Reading { before, after }).collect();
    watch.set_run_result(&RunResult { readings, ..RunResult::default() });
    watch.finish().unwrap()
}

fn of_role(observed: &[Observation], role: &str) -> Vec<Observation> {
    observed.iter().filter(|one| one.role.as_deref() == Some(role)).cloned().collect()
}

/// A thread that touches pages once it receives its counter's descriptor, and returns its readings.
struct Thread {
    member: Member,
    gate: std::sync::mpsc::Sender<std::os::fd::OwnedFd>,
    thread: JoinHandle<Reading>,
}

impl Thread {
    fn spawn(role: &str, work: impl FnOnce() + Send + 'static) -> Self {
        let (gate, gates_other_end) = channel::<std::os::fd::OwnedFd>();
        let (tid_sender, tid_receiver) = channel();
        let thread = spawn(move || {
            tid_sender
                .send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs())
                .unwrap();
            let counter_fd = gates_other_end.recv().unwrap();
            let counter_fd = CounterFd { role: "", fd: std::os::fd::AsFd::as_fd(&counter_fd) };
            let before = read(&counter_fd);
            work();
            Reading { before, after: read(&counter_fd) }
        });
        let (pid, tid) = (std::process::id(), tid_receiver.recv().unwrap());
        let member = Member { role: role.to_owned(), pid, tid, scope: Scope::Thread };
        Self { member, gate, thread }
    }

    fn run(self, counter_fd: &CounterFd<'_>) -> Reading {
        // SAFETY: `dup` takes a number and returns a new descriptor that nothing else owns.
        let copy =
            unsafe { std::os::fd::OwnedFd::from_raw_fd(libc::dup(counter_fd.fd.as_raw_fd())) };
        self.gate.send(copy).unwrap();
        self.thread.join().unwrap()
    }
}

#[test]
fn two_threads_of_one_process_are_counted_apart() {
    if !can_count(&["page-faults"]) {
        return;
    }
    let sender = Thread::spawn("sender", || touch(1_000));
    let receiver = Thread::spawn("receiver", || touch(3_000));
    let members = vec![sender.member.clone(), receiver.member.clone()];
    let mut watch = arm(&Targets::new(members), &to_strings(&["page-faults"])).unwrap();
    let readings = {
        let counter_fds = watch.counter_fds();
        assert_eq!([counter_fds[0].role, counter_fds[1].role], ["sender", "receiver"]);
        vec![sender.run(&counter_fds[0]), receiver.run(&counter_fds[1])]
    };
    watch.set_run_result(&RunResult { readings, ..RunResult::default() });
    let observed = watch.finish().unwrap();
    // A new thread also touches a page of its stack.
    for (role, pages) in [("sender", 1_000), ("receiver", 3_000)] {
        let faults = count(&of_role(&observed, role), "page-faults", PrivilegeLevel::User).unwrap();
        assert!((pages..pages + 20).contains(&faults), "{role} {faults}");
    }
}

#[test]
fn a_thread_that_a_library_starts_later_is_its_partys() {
    if !can_count(&["page-faults"]) {
        return;
    }
    for scope in [Scope::Process, Scope::Thread] {
        let peer = Thread::spawn("both", || spawn(|| touch(50_000)).join().unwrap());
        let member = Member { scope, ..peer.member.clone() };
        let (tid, members) = (member.tid, vec![member]);
        let watch = arm(&Targets::new(members), &to_strings(&["page-faults"])).unwrap();
        let before = readings(&*watch);
        peer.run(&watch.counter_fds()[0]);
        let after = readings(&*watch);
        let faults =
            count(&finish_with(watch, before, after), "page-faults", PrivilegeLevel::User).unwrap();
        assert_eq!(faults >= 50_000, scope == Scope::Process, "{tid} {scope:?} {faults}");
    }
}

#[test]
fn a_process_with_a_helper_and_a_daemon_are_counted_whole() {
    if !can_count(&["context-switches", "task-clock"]) {
        return;
    }
    let mut processes = ProcessAndDaemon::start();
    let watch = arm(&processes.targets, &to_strings(&["context-switches", "task-clock"])).unwrap();
    let senders =
        watch.counter_fds().iter().filter(|counter_fd| counter_fd.role == "sender").count();
    // The test harness's thread, the peer's thread and its helper.
    assert!(senders >= 2, "{senders}");
    let before = readings(&*watch);
    processes.run();
    let after = readings(&*watch);
    let observed = finish_with(watch, before, after);
    for role in ["sender", "broker"] {
        let observed = of_role(&observed, role);
        let switches = count(&observed, "context-switches", PrivilegeLevel::Both).unwrap();
        assert!(switches >= MESSAGES, "{role} {switches}");
        assert!(count(&observed, "task-clock", PrivilegeLevel::Both).unwrap() > 0, "{role}");
    }
}
