//! Compares the results of the instrument with what the observed peers counted themselves.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use ipcperf_model::instrument::syscalls::SyscallRow;
use ipcperf_model::observation::Observation;
use rustix::pipe::pipe;

use super::INSTRUMENT;
use crate::testing::forked_pair::{ForkedPair, PairWorkload, mark, report_skip};
use crate::testing::unprivileged::{BPF_CAPABILITIES, run_with_capabilities};
use crate::{Member, Scope, Source, Targets, Watch};

fn arm_or_skip(test: &str, targets: &Targets) -> Option<Box<dyn Watch>> {
    let Source::External { arm, .. } = INSTRUMENT.source else { unreachable!() };
    arm(targets).map_err(|why| report_skip(test, &why.to_string())).ok()
}

fn row(seen: &[Observation], role: &str, syscall: &str) -> Option<SyscallRow> {
    let of_role = seen.iter().filter(|one| one.role.as_deref() == Some(role));
    of_role.filter_map(Observation::row::<SyscallRow>).find(|row| row.syscall == syscall)
}

fn calls(seen: &[Observation], role: &str) -> Vec<String> {
    let of_role = seen.iter().filter(|one| one.role.as_deref() == Some(role));
    of_role.filter_map(Observation::row::<SyscallRow>).map(|row| row.syscall).collect()
}

fn sum(pairs: &[(u64, u64)]) -> u64 {
    pairs.iter().map(|pair| pair.1).sum()
}

fn assert_consistent(row: &SyscallRow) {
    assert_eq!(sum(&row.log2_histogram_ns), row.count, "{row:?}");
    assert_eq!(sum(&row.log2_histogram_returned) + row.errors, row.count, "{row:?}");
    let times = row.percentiles_ns;
    assert!(row.min_ns > 0 && row.min_ns <= times.p50, "{row:?}");
    assert!(times.p50 <= times.p90 && times.p90 <= times.p99 && times.p99 <= times.max);
    assert!(row.min_ns * row.count <= row.total_ns && row.total_ns <= times.max * row.count);
}

#[test]
fn calls_and_bytes_are_those_of_the_last_phase_exactly() {
    for (bytes, messages, phases) in [(1, 10, 1), (32, 2_000, 3), (4096, 500, 4), (65_536, 40, 2)] {
        let mut rehearsal = ForkedPair::fork(PairWorkload { bytes, messages, phases, cpus: None });
        let Some(watch) = arm_or_skip("calls_and_bytes", &rehearsal.targets) else { return };
        let done = rehearsal.run();
        let seen = watch.finish().unwrap();
        for (role, call, done) in [("sender", "write", done[0]), ("receiver", "read", done[1])] {
            assert_eq!(calls(&seen, role), [call], "{bytes} B, {phases} phases");
            let row = row(&seen, role, call).unwrap();
            assert_eq!((row.count, row.errors), (done.calls, 0));
            assert_eq!(row.requested_bytes, Some(done.calls * bytes as u64));
            assert_eq!(row.returned_bytes, Some(done.bytes));
            assert_consistent(&row);
        }
    }
}

#[test]
fn those_who_are_not_asked_for_are_not_counted() {
    let mut rehearsal =
        ForkedPair::fork(PairWorkload { bytes: 64, messages: 1_000, phases: 2, cpus: None });
    let sender = Targets::new(vec![rehearsal.targets.members[0].clone()]);
    let Some(watch) = arm_or_skip("those_who_are_not_asked_for", &sender) else { return };
    let [sender, _] = rehearsal.run();
    let seen = watch.finish().unwrap();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(row(&seen, "sender", "write").unwrap().count, sender.calls);
}

/// A thread of this process that runs a closure once the gate opens.
struct Actor {
    tid: u32,
    gate: Sender<()>,
    thread: JoinHandle<()>,
}

impl Actor {
    fn spawn(act: impl FnOnce(&Receiver<()>) + Send + 'static) -> Self {
        let ((gate, wait), (tid_sender, tid)) = (channel(), channel());
        let thread = thread::spawn(move || {
            tid_sender
                .send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs())
                .unwrap();
            act(&wait);
        });
        Self { tid: tid.recv().unwrap(), gate, thread }
    }

    fn member(&self, role: &str, scope: Scope) -> Member {
        Member { role: role.to_owned(), pid: std::process::id(), tid: self.tid, scope }
    }

    fn run(self) {
        self.gate.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

#[test]
fn two_threads_of_a_process_are_told_apart() {
    let (inlet, outlet) = pipe().unwrap();
    let writer = Actor::spawn(move |gate| {
        let mut outlet = File::from(outlet);
        gate.recv().unwrap();
        mark();
        for _ in 0..7 {
            outlet.write_all(&[0; 300]).unwrap();
        }
        mark();
    });
    let reader = Actor::spawn(move |gate| {
        let mut inlet = File::from(inlet);
        gate.recv().unwrap();
        mark();
        inlet.read_exact(&mut [0; 2_100]).unwrap();
        mark();
    });
    let members =
        vec![writer.member("sender", Scope::Thread), reader.member("receiver", Scope::Thread)];
    let Some(watch) = arm_or_skip("two_threads", &Targets::new(members)) else { return };
    writer.run();
    reader.run();
    let seen = watch.finish().unwrap();
    assert_eq!(
        (calls(&seen, "sender"), calls(&seen, "receiver")),
        (vec!["write".to_owned()], vec!["read".to_owned()])
    );
    let written = row(&seen, "sender", "write").unwrap();
    assert_eq!((written.count, written.requested_bytes), (7, Some(2_100)));
    let read = row(&seen, "receiver", "read").unwrap();
    assert_eq!((read.count, read.returned_bytes), (1, Some(2_100)));
    assert_eq!(read.log2_histogram_returned, [(2_048, 1)]);
}

/// Makes a system call that nothing else in the test process makes.
fn call_number(number: libc::c_long, times: u64) {
    for _ in 0..times {
        // SAFETY: the calls used here take at most a number, and an unassigned number takes nothing.
        unsafe { libc::syscall(number, 0) };
    }
}

#[test]
fn errors_and_numbers_without_a_name_are_counted() {
    let actor = Actor::spawn(|gate| {
        gate.recv().unwrap();
        mark();
        call_number(511, 3);
        call_number(512, 4);
        call_number(100_000, 5);
        // SAFETY: the kernel rejects the descriptor before it reads the memory.
        unsafe { libc::write(-1, std::ptr::null(), 10) };
        mark();
    });
    let targets = Targets::new(vec![actor.member("both", Scope::Thread)]);
    let Some(watch) = arm_or_skip("errors", &targets) else { return };
    actor.run();
    let seen = watch.finish().unwrap();
    assert_eq!(seen.len(), 3, "{seen:?}");
    let unnamed = row(&seen, "both", "511").unwrap();
    assert_eq!((unnamed.number, unnamed.count, unnamed.errors), (Some(511), 3, 3));
    let beyond = row(&seen, "both", "512 and above").unwrap();
    assert_eq!((beyond.number, beyond.count, beyond.requested_bytes), (None, 9, None));
    let failed = row(&seen, "both", "write").unwrap();
    assert_eq!(
        (failed.errors, failed.requested_bytes, failed.returned_bytes),
        (1, Some(10), Some(0))
    );
    assert_eq!(failed.log2_histogram_returned, []);
    assert_consistent(&failed);
}

/// Sends one message made of `vectors` parts of 10 bytes each.
fn send_parts(fd: &OwnedFd, vectors: usize) {
    let bytes = [7_u8; 10];
    let mut parts =
        vec![
            libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
            vectors
        ];
    // SAFETY: an all-zero `msghdr` is a valid message with no data and no address.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (parts.as_mut_ptr(), vectors as _);
    // SAFETY: the message points to the parts and the parts to the bytes; both outlive the call.
    let sent = unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const message, 0) };
    assert_eq!(usize::try_from(sent), Ok(vectors * bytes.len()));
}

#[test]
fn the_parts_of_messages_are_summed_up_to_sixteen() {
    for (parts, requested) in [(1, Some(10)), (16, Some(160)), (17, None)] {
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let actor = Actor::spawn(move |gate| {
            let ours = OwnedFd::from(ours);
            gate.recv().unwrap();
            // Sent once beforehand to fault the pages in: a BPF program cannot read pages that are not resident.
            send_parts(&ours, parts);
            mark();
            send_parts(&ours, parts);
            mark();
        });
        let targets = Targets::new(vec![actor.member("both", Scope::Thread)]);
        let Some(watch) = arm_or_skip("the_parts_of_messages", &targets) else { return };
        actor.run();
        let row = row(&watch.finish().unwrap(), "both", "sendmsg").unwrap();
        assert_eq!((row.requested_bytes, row.returned_bytes), (requested, Some(parts as u64 * 10)));
    }
}

/// An actor that marks two phases. In the last one, another thread makes the call 20 times and the actor makes it 7
/// times. The other thread also calls before, between and after the phases.
fn actor_with_helper(number: libc::c_long) -> Actor {
    let ((to_helper, commands), (done, answers)) = (channel::<u64>(), channel());
    thread::spawn(move || {
        for times in commands {
            call_number(number, times);
            done.send(()).unwrap();
        }
    });
    Actor::spawn(move |gate| {
        let help = |times| {
            to_helper.send(times).unwrap();
            answers.recv().unwrap();
        };
        gate.recv().unwrap();
        for times in [500, 20] {
            help(3);
            mark();
            help(times);
            call_number(number, 7);
            mark();
            help(5);
        }
    })
}

#[test]
fn other_threads_of_a_process_belong_to_its_role() {
    let actor = actor_with_helper(libc::SYS_getsid);
    let targets = Targets::new(vec![actor.member("both", Scope::Process)]);
    let Some(watch) = arm_or_skip("other_threads", &targets) else { return };
    actor.run();
    let row = row(&watch.finish().unwrap(), "both", "getsid").unwrap();
    assert_eq!((row.count, row.errors, row.requested_bytes), (27, 0, None));
    assert_consistent(&row);
}

#[test]
fn threads_that_call_at_once_lose_nothing() {
    let actor = Actor::spawn(|gate| {
        gate.recv().unwrap();
        mark();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| call_number(libc::SYS_sched_get_priority_max, 50_000));
            }
        });
        mark();
    });
    let targets = Targets::new(vec![actor.member("both", Scope::Process)]);
    let Some(watch) = arm_or_skip("threads_that_call_at_once", &targets) else { return };
    actor.run();
    let row = row(&watch.finish().unwrap(), "both", "sched_get_priority_max").unwrap();
    assert_eq!((row.count, row.errors), (200_000, 0));
    assert_consistent(&row);
}

#[test]
fn a_daemon_is_watched_while_a_party_is_between_its_marks() {
    let actor = actor_with_helper(libc::SYS_getpgid);
    let sender = actor.member("sender", Scope::Thread);
    let broker =
        Member { role: "broker".to_owned(), tid: 0, scope: Scope::Daemon, ..sender.clone() };
    let Some(watch) = arm_or_skip("a_daemon", &Targets::new(vec![broker, sender])) else {
        return;
    };
    actor.run();
    let seen = watch.finish().unwrap();
    assert_eq!(row(&seen, "sender", "getpgid").unwrap().count, 7);
    let broker = row(&seen, "broker", "getpgid").unwrap();
    assert_eq!((broker.count, broker.errors), (20, 0));
    assert_consistent(&broker);
}

#[test]
fn more_than_there_is_room_for_are_refused() {
    let member = Member { role: "both".to_owned(), pid: 1, tid: 1, scope: Scope::Thread };
    let Source::External { arm, .. } = INSTRUMENT.source else { unreachable!() };
    let refused = arm(&Targets::new(vec![member; 5])).unwrap_err();
    assert!(refused.reason.contains("more than 4"), "{refused}");
}

#[test]
fn whether_it_is_available_is_said_in_a_line() {
    let Source::External { available, .. } = INSTRUMENT.source else { unreachable!() };
    let said = match available() {
        Ok(without) => format!("available, without {}", without.len()),
        Err(why) => format!("unavailable: {why}"),
    };
    assert_eq!(said.lines().count(), 1, "{said}");
    println!("{said}");
}

#[test]
fn without_privilege_there_is_one_line() {
    let Some(output) =
        run_with_capabilities(&[], "syscalls::tests::whether_it_is_available_is_said_in_a_line")
    else {
        return report_skip("without_privilege", "it takes root to give privileges away");
    };
    let said = String::from_utf8(output.stdout).unwrap();
    // The test harness may have printed the start of this line.
    let line = said.lines().find(|line| line.contains("unavailable: ")).unwrap_or_default();
    assert!(output.status.success(), "{said}");
    assert!(line.contains("CAP_BPF and CAP_PERFMON"), "{said}");
}

#[test]
fn two_capabilities_suffice() {
    if arm_or_skip("two_capabilities", &Targets::default()).is_none() {
        return;
    }
    let test = "syscalls::tests::calls_and_bytes_are_those_of_the_last_phase_exactly";
    let Some(output) = run_with_capabilities(BPF_CAPABILITIES, test) else {
        return report_skip("two_capabilities", "it takes root to give privileges away");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}
