//! Single invalid values in shared memory, each of which must be an error. The tests in `malicious_peer` use a peer
//! that changes values while they are read.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use crate::geometry::Geometry;
use crate::memory::{Memory, page_bytes};
use crate::record::{Continuation, PayloadLocation, Word};
use crate::sync::Arc;
use crate::{Consumer, Error, Options, Producer, WaitStrategy, sides};

const CAPACITY: u64 = 4096;

/// A ring of 4096 bytes with two slots, and its memory, to which the other side can write.
fn open_ring(waiting: WaitStrategy) -> (Producer, Consumer, Arc<Memory>) {
    let options = Options {
        capacity_bytes: 4096,
        chunk_bytes: 1024,
        longest_in_ring_bytes: 1000,
        slots: 2,
        slot_bytes: 8192,
        waiting,
        ..Options::default()
    };
    let memory =
        Arc::new(Memory::map(Geometry::from_options(&options, page_bytes()).unwrap()).unwrap());
    let (producer, consumer) = sides(Arc::clone(&memory), waiting).unwrap();
    (producer, consumer, memory)
}

/// Sends short messages until there is no room, and returns the number of bytes that they take.
fn fill(producer: &mut Producer) -> u64 {
    let mut bytes = 0;
    while producer.send(&[7; 24]).is_ok() {
        bytes += 32;
    }
    bytes
}

#[test]
fn a_tail_that_the_consumer_cannot_have_come_to_is_corrupt() {
    let (mut producer, _consumer, memory) = open_ring(WaitStrategy::NonBlocking);
    let head = fill(&mut producer);
    // A tail beyond the head must not make the long message appear to fit.
    for tail in [head + 8, head + (1 << 20), head + CAPACITY, 1 << 63, u64::MAX, 4] {
        memory.header().tail.0.store(tail, Relaxed);
        assert_eq!(producer.send(&[7; 24]), Err(Error::Corrupt), "{tail}");
        assert_eq!(producer.loan(24).unwrap_err(), Error::Corrupt, "{tail}");
        assert_eq!(producer.send(&[7; 1 << 18]), Err(Error::TooLarge), "{tail}");
    }
    memory.header().tail.0.store(64, Relaxed);
    producer.send(&[7; 24]).unwrap();
    producer.send(&[7; 24]).unwrap();
    memory.header().tail.0.store(32, Relaxed);
    assert_eq!(producer.send(&[7; 24]), Err(Error::Corrupt), "a tail never goes back");
}

#[test]
fn a_word_that_no_producer_writes_is_corrupt() {
    let (present, more, pooled) = (1 << 63, 1 << 62, 1 << 61);
    let words = [
        5,
        more | 8,
        pooled | 8,
        more | pooled,
        present | more | pooled | 8,
        present | CAPACITY,
        present | (1 << 60),
        present | pooled | 8193,
        // A piece that is not the last always has the length of a chunk.
        present | more,
        present | more | 1016,
        present | more | CAPACITY,
    ];
    for word in words {
        let (producer, mut consumer, memory) = open_ring(WaitStrategy::Futex);
        memory.word(0).store(word, Relaxed);
        // Disown, so that accepting the word as a piece does not lead to an endless wait.
        producer.close_after_fork();
        assert_eq!(consumer.recv(&mut [0; 8]), Err(Error::Corrupt), "{word:x}");
        assert_eq!(consumer.take(), Err(Error::Corrupt), "{word:x}");
        assert_eq!(consumer.receive().unwrap_err(), Error::Corrupt, "{word:x}");
    }
}

#[test]
fn a_ring_full_of_pieces_has_an_end() {
    for bytes in [0, 1024] {
        let (producer, mut consumer, memory) = open_ring(WaitStrategy::Futex);
        let word = Word::encode(bytes, Continuation::More, PayloadLocation::Inline);
        for position in (0..CAPACITY).step_by(8) {
            memory.word(position).store(word, Relaxed);
        }
        producer.close_after_fork();
        // On another thread, so that an endless message fails the test instead of hanging it.
        let (sender, results) = channel();
        thread::spawn(move || sender.send(consumer.recv(&mut [0; 1 << 16])));
        let received = results.recv_timeout(Duration::from_secs(60));
        let error = received.expect("a message without end").unwrap_err();
        assert!(matches!(error, Error::Corrupt | Error::TooLarge), "{bytes}: {error}");
    }
}

#[test]
fn a_ring_that_never_splits_a_message_takes_no_pieces() {
    let (_producer, mut consumer, memory) = open_ring(WaitStrategy::NonBlocking);
    memory.word(0).store(Word::encode(1024, Continuation::More, PayloadLocation::Inline), Relaxed);
    assert_eq!(consumer.recv(&mut [0; 4096]), Err(Error::Corrupt));
}

#[test]
fn a_slot_that_there_is_not_is_corrupt() {
    let (_producer, mut consumer, memory) = open_ring(WaitStrategy::NonBlocking);
    memory.word(0).store(Word::encode(8, Continuation::Last, PayloadLocation::Pool), Relaxed);
    for number in [2, 32, 1 << 32, u64::MAX] {
        memory.word(8).store(number, Relaxed);
        assert_eq!(consumer.take(), Err(Error::Corrupt), "{number}");
        assert_eq!(consumer.recv(&mut [0; 8]), Err(Error::Corrupt), "{number}");
    }
}

#[test]
fn a_note_of_a_slot_that_was_not_lent_is_corrupt() {
    // Two slots have the notes 1 and 2. Slot 0 is lent, slot 1 is not.
    for note in [2, 3, 33, u32::MAX] {
        let (mut producer, _consumer, memory) = open_ring(WaitStrategy::NonBlocking);
        producer.loan(5000).unwrap().send();
        memory.header().freed.0[0].store(note, Relaxed);
        assert_eq!(producer.loan(5000).unwrap_err(), Error::Corrupt, "{note}");
        memory.header().freed.0[0].store(1, Relaxed);
        producer.loan(5000).unwrap();
    }
}

#[test]
fn so_is_one_that_is_waited_for() {
    for note in [3, u32::MAX] {
        let (mut producer, _consumer, memory) = open_ring(WaitStrategy::Futex);
        producer.loan(5000).unwrap().send();
        producer.loan(5000).unwrap().send();
        // Written either before the wait begins or during it.
        let writer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            memory.header().freed.0[0].store(note, Relaxed);
        });
        assert_eq!(producer.loan(5000).unwrap_err(), Error::Corrupt, "{note}");
        writer.join().unwrap();
    }
}
