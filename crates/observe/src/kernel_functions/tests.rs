//! Compares the results of the instrument with what the observed peers counted themselves. The tests are skipped on a
//! kernel that does not allow tracing its functions; `scripts/emulated-observe` runs them on one that does.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::thread;

use ipcperf_model::instrument::kernel_functions::KernelFunctionRow;
use ipcperf_model::observation::{Observation, rows_of};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, write};

use super::INSTRUMENT;
use super::table::{Candidates, DATA_PATH_FUNCTIONS};
use super::watch::FunctionWatch;
use crate::testing::forked_pair::{ForkedPair, PairWorkload, mark, report_skip};
use crate::testing::unprivileged::{BPF_CAPABILITIES, run_with_capabilities};
use crate::{Member, Scope, Source, Targets, Watch};

fn arm_or_skip(members: &[Member], carriers: &[Candidates]) -> Option<Box<FunctionWatch>> {
    let watch = FunctionWatch::new(members, carriers);
    watch.map(Box::new).map_err(|why| report_skip(INSTRUMENT.facts.name, &why.to_string())).ok()
}

fn names(seen: &[Observation], role: &str) -> Vec<String> {
    rows_of::<KernelFunctionRow>(seen, role).into_iter().map(|row| row.function).collect()
}

fn row(seen: &[Observation], role: &str, candidates: &[&str]) -> KernelFunctionRow {
    let mut rows = rows_of::<KernelFunctionRow>(seen, role).into_iter();
    let row = rows.find(|row| candidates.contains(&row.function.as_str()));
    row.unwrap_or_else(|| panic!("no {candidates:?} of the {role} in {seen:?}"))
}

fn assert_consistent(row: &KernelFunctionRow) {
    assert_eq!(row.log2_histogram_ns.iter().map(|pair| pair.1).sum::<u64>(), row.count, "{row:?}");
    let (least_ns, times) = (row.min_ns.unwrap(), row.percentiles_ns.unwrap());
    assert!(least_ns > 0 && least_ns <= times.p50, "{row:?}");
    assert!(times.p50 <= times.p90 && times.p90 <= times.p99 && times.p99 <= times.max);
    assert!(least_ns * row.count <= row.total_ns && row.total_ns <= times.max * row.count);
    assert_eq!(row.lost_calls, 0, "{row:?}");
}

const WRITE: Candidates = &["pipe_write", "anon_pipe_write"];
const READ: Candidates = &["pipe_read", "anon_pipe_read"];

#[test]
fn pipe_functions_are_called_as_often_as_the_parties_call() {
    for (bytes, messages, phases) in [(1, 10, 1), (32, 2_000, 3), (4096, 500, 4), (65_536, 40, 2)] {
        let mut rehearsal = ForkedPair::fork(PairWorkload { bytes, messages, phases, cpus: None });
        let Some(watch) = arm_or_skip(&rehearsal.targets.members, DATA_PATH_FUNCTIONS) else {
            return;
        };
        let done = rehearsal.run();
        let seen = watch.finish().unwrap();
        for (role, carrier, done) in [("sender", WRITE, done[0]), ("receiver", READ, done[1])] {
            let row = row(&seen, role, carrier);
            assert_eq!(names(&seen, role), [&*row.function]);
            assert_eq!(row.count, done.calls, "{bytes} B, {phases} phases: {row:?}");
            assert_consistent(&row);
        }
    }
}

#[test]
fn those_who_are_not_asked_for_are_not_counted() {
    let mut rehearsal =
        ForkedPair::fork(PairWorkload { bytes: 64, messages: 1_000, phases: 2, cpus: None });
    let Some(watch) = arm_or_skip(&rehearsal.targets.members[..1], DATA_PATH_FUNCTIONS) else {
        return;
    };
    rehearsal.run();
    let seen = watch.finish().unwrap();
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(row(&seen, "sender", WRITE).count, 1_000);
}

/// Describes the current thread as a member.
fn current_thread(role: &str, scope: Scope) -> Member {
    let tid = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    Member { role: role.to_owned(), pid: std::process::id(), tid, scope }
}

fn add_to(counter: &impl AsFd, times: u64) {
    for _ in 0..times {
        write(counter, &1_u64.to_ne_bytes()).unwrap();
    }
}

/// Writes to `counter` from four threads concurrently.
fn add_concurrently(counter: &OwnedFd, times: u64) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| add_to(counter, times));
        }
    });
}

const EVENTFD: &[Candidates] = &[&["eventfd_write"], &["eventfd_read"]];

#[test]
fn other_threads_of_a_process_belong_to_its_role() {
    let counter = eventfd(0, EventfdFlags::empty()).unwrap();
    let Some(watch) = arm_or_skip(&[current_thread("both", Scope::Process)], EVENTFD) else {
        return;
    };
    for times in [500, 1_000] {
        add_concurrently(&counter, 3);
        mark();
        add_concurrently(&counter, times);
        add_to(&counter, 7);
        mark();
        add_concurrently(&counter, 5);
        add_to(&counter, 2);
    }
    let seen = watch.finish().unwrap();
    assert_eq!(names(&seen, "both"), ["eventfd_write"]);
    let row = row(&seen, "both", EVENTFD[0]);
    assert_eq!(row.count, 4_007);
    assert_consistent(&row);
}

#[test]
fn a_thread_is_watched_alone() {
    let counter = eventfd(0, EventfdFlags::empty()).unwrap();
    let Some(watch) = arm_or_skip(&[current_thread("both", Scope::Thread)], EVENTFD) else {
        return;
    };
    mark();
    add_concurrently(&counter, 20);
    add_to(&counter, 7);
    read(&counter, &mut [0; 8]).unwrap();
    mark();
    add_to(&counter, 3);
    let seen = watch.finish().unwrap();
    assert_eq!(names(&seen, "both"), ["eventfd_write", "eventfd_read"]);
    assert_eq!(row(&seen, "both", EVENTFD[0]).count, 7);
    assert_eq!(row(&seen, "both", EVENTFD[1]).count, 1);
}

#[test]
fn what_a_function_calls_is_within_its_time() {
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    let Some(watch) = arm_or_skip(&[current_thread("both", Scope::Thread)], DATA_PATH_FUNCTIONS)
    else {
        return;
    };
    mark();
    for _ in 0..100 {
        ours.write_all(&[7; 1_000]).unwrap();
        theirs.read_exact(&mut [0; 1_000]).unwrap();
    }
    mark();
    let seen = watch.finish().unwrap();
    let copies = ["skb_copy_datagram_from_iter", "skb_copy_datagram_iter"];
    let [sent, received] = ["unix_stream_sendmsg", "unix_stream_recvmsg"];
    assert_eq!(names(&seen, "both"), [sent, received, copies[0], copies[1]]);
    for (outer, copy) in [sent, received].into_iter().zip(copies) {
        let [outer, copy] = [outer, copy].map(|name| row(&seen, "both", &[name]));
        assert_eq!((outer.count, copy.count), (100, 100));
        assert!(copy.total_ns < outer.total_ns, "{copy:?} within {outer:?}");
        assert_consistent(&outer);
        assert_consistent(&copy);
    }
}

#[test]
fn a_daemon_is_watched_while_a_party_is_between_its_marks() {
    let counter = eventfd(0, EventfdFlags::empty()).unwrap();
    let sender = current_thread("sender", Scope::Thread);
    let broker =
        Member { role: "broker".to_owned(), tid: 0, scope: Scope::Daemon, ..sender.clone() };
    let Some(watch) = arm_or_skip(&[broker, sender], EVENTFD) else { return };
    for times in [500, 30] {
        add_concurrently(&counter, 3);
        mark();
        add_concurrently(&counter, times);
        add_to(&counter, 7);
        mark();
        add_concurrently(&counter, 5);
    }
    let seen = watch.finish().unwrap();
    assert_eq!(row(&seen, "sender", EVENTFD[0]).count, 7);
    let broker = row(&seen, "broker", EVENTFD[0]);
    assert_eq!(broker.count, 120);
    assert_consistent(&broker);
}

/// Returns the kernel's count of sent TCP segments (`OutSegs` in `/proc/net/snmp`).
fn sent_segments() -> u64 {
    let text = std::fs::read_to_string("/proc/net/snmp").unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let names = lines.next().unwrap().split(' ');
    let mut values = names.zip(lines.next().unwrap().split(' '));
    values.find(|figure| figure.0 == "OutSegs").unwrap().1.parse().unwrap()
}

/// A segment sent over the loopback device is acknowledged within the call that sends it, so this function nests.
const SEND_SEGMENT: &[Candidates] = &[&["__tcp_transmit_skb"]];

#[test]
fn a_function_within_itself_is_counted_and_timed_as_well() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let mut receiver = listener.accept().unwrap().0;
    sender.set_nodelay(true).unwrap();
    let Some(watch) = arm_or_skip(&[current_thread("both", Scope::Thread)], SEND_SEGMENT) else {
        return;
    };
    let before = sent_segments();
    mark();
    for _ in 0..200 {
        sender.write_all(&[7; 100]).unwrap();
        receiver.read_exact(&mut [0; 100]).unwrap();
    }
    mark();
    let sent = sent_segments() - before;
    let row = row(&watch.finish().unwrap(), "both", SEND_SEGMENT[0]);
    // `sent` also counts the segments of other processes; `row` does not.
    assert!(row.count > 200 && row.count <= sent, "{row:?}, {sent} sent");
    assert_consistent(&row);
}

#[test]
fn without_its_last_mark_nothing_is_told() {
    let Some(watch) = arm_or_skip(&[current_thread("both", Scope::Thread)], EVENTFD) else {
        return;
    };
    mark();
    let refused = watch.finish().unwrap_err();
    assert_eq!(refused.reason, "the kernel lost an event that marks a phase");
}

#[test]
fn what_the_kernel_has_not_is_left_out_with_its_reason() {
    let carriers: &[Candidates] = &[&["no_such_function", "nor_this"], WRITE];
    let Some(watch) = arm_or_skip(&[], carriers) else { return };
    let [missing] = &watch.missing[..] else { panic!("{:?}", watch.missing) };
    let reason = "no_such_function or nor_this: this kernel has no such function, or it is inlined or in a module";
    assert_eq!(missing.reason, reason);
    let refused = FunctionWatch::new(&[], &carriers[..1]).unwrap_err();
    assert_eq!(refused, *missing);
}

#[test]
fn whether_it_is_available_is_said_in_a_line_each() {
    let Source::External { available, .. } = INSTRUMENT.source else { unreachable!() };
    let said = match available() {
        Ok(without) => without.iter().map(|why| format!("without {why}")).collect(),
        Err(why) => vec![why.to_string()],
    };
    for line in said {
        assert_eq!(line.lines().count(), 1, "{line}");
        println!("{line}");
    }
}

#[test]
fn more_than_there_is_room_for_are_refused() {
    let members = vec![current_thread("both", Scope::Thread); 5];
    let Source::External { arm, .. } = INSTRUMENT.source else { unreachable!() };
    let refused = arm(&Targets::new(members)).unwrap_err();
    assert!(refused.reason.contains("more than 4"), "{refused}");
}

#[test]
fn two_capabilities_suffice() {
    if arm_or_skip(&[], DATA_PATH_FUNCTIONS).is_none() {
        return;
    }
    let test = "kernel_functions::tests::those_who_are_not_asked_for_are_not_counted";
    let Some(output) = run_with_capabilities(BPF_CAPABILITIES, test) else {
        return report_skip("two_capabilities", "it takes root to give privileges away");
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}
