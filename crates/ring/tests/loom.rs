//! Model tests with loom, which tries every interleaving of two short programs and every value that a load may return.
//! It reports a payload accessed by both sides at once, a message lost or torn, and a sleep that never ends.
//! `RUSTFLAGS="--cfg loom" cargo test --release -p ipcperf-ring --test loom`
#![cfg(loom)]

use ipcperf_ring::{Consumer, Options, Producer, WaitStrategy, ring};
use loom::model::Builder;
use loom::thread;

/// Room for one message at a time: the next one overwrites the place of the last, which was read just before it was
/// freed.
const TIGHT: Options = Options {
    capacity_bytes: 32,
    chunk_bytes: 16,
    batch_bytes: 0,
    longest_in_ring_bytes: 16,
    slots: 0,
    slot_bytes: 0,
    waiting: WaitStrategy::Futex,
};

/// Runs `send` and `receive` in all interleavings of two threads.
fn check(
    options: Options,
    send: impl Fn(&mut Producer) + Clone + Send + Sync + 'static,
    receive: impl Fn(&mut Consumer) + Sync + Send + 'static,
) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let (mut producer, mut consumer) = ring(&options).unwrap();
        let send = send.clone();
        let sender = thread::spawn(move || send(&mut producer));
        receive(&mut consumer);
        sender.join().unwrap();
    });
}

fn message(number: u8) -> [u8; 16] {
    [number; 16]
}

const MESSAGES: u8 = 3;

fn receive_all(consumer: &mut Consumer) {
    for number in 1..=MESSAGES {
        let mut got = [0; 16];
        assert_eq!(consumer.recv(&mut got), Ok(16));
        assert_eq!(got, message(number));
    }
}

#[test]
fn copies_arrive_whole_in_order_and_nobody_sleeps_on() {
    let send = |producer: &mut Producer| {
        for number in 1..=MESSAGES {
            producer.send(&message(number)).unwrap();
        }
    };
    check(TIGHT, send, receive_all);
}

#[test]
fn so_do_batches() {
    let send = |producer: &mut Producer| {
        for number in 1..=MESSAGES {
            producer.send(&message(number)).unwrap();
        }
        producer.flush();
    };
    // Larger than the ring: the producer must publish the records it holds back before it waits for room.
    let options = Options { batch_bytes: 64, ..TIGHT };
    check(options, send, receive_all);
}

#[test]
fn so_do_messages_in_pieces() {
    let send = |producer: &mut Producer| producer.send(&[7; 24]).unwrap();
    check(TIGHT, send, |consumer| {
        let mut got = [0; 24];
        assert_eq!(consumer.recv(&mut got), Ok(24));
        assert_eq!(got, [7; 24]);
    });
}

#[test]
fn a_loan_is_touched_by_one_side_at_a_time() {
    let send = |producer: &mut Producer| {
        for number in 1..=MESSAGES {
            let mut loan = producer.loan(16).unwrap();
            loan.copy_from_slice(&message(number));
            loan.send();
        }
    };
    check(TIGHT, send, |consumer| {
        for number in 1..=MESSAGES {
            assert_eq!(&*consumer.receive().unwrap(), message(number));
        }
    });
}

#[test]
fn so_is_a_slot_of_the_pool_which_is_waited_for() {
    let options = Options { slots: 1, slot_bytes: 32, ..TIGHT };
    let send = |producer: &mut Producer| {
        for number in 1..=2 {
            let mut loan = producer.loan(24).unwrap();
            loan.fill(number);
            loan.send();
        }
    };
    check(options, send, |consumer| {
        for number in 1..=2 {
            assert_eq!(&*consumer.receive().unwrap(), [number; 24]);
        }
    });
}

#[test]
fn a_side_that_goes_while_the_other_waits_is_noticed() {
    check(
        TIGHT,
        |producer| producer.send(&message(1)).unwrap(),
        |consumer| {
            assert_eq!(consumer.recv(&mut [0; 16]), Ok(16));
        },
    );
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let (producer, mut consumer) = ring(&TIGHT).unwrap();
        let sender = thread::spawn(move || drop(producer));
        assert_eq!(consumer.recv(&mut [0; 8]), Err(ipcperf_ring::Error::PeerGone));
        sender.join().unwrap();
    });
}
