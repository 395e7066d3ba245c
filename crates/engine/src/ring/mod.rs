//! A ring of records in shared memory, for one producer and one consumer.
//!
//! The memory is a memfd of a power of two, mapped twice back to back, so that a record that
//! crosses the end is contiguous all the same. A record is an 8-byte word (top bit set, a bit for
//! "the message goes on", the length) followed by the payload, padded to 8 bytes. The word at the
//! producer's position is always 0 until the record is complete; the consumer polls the word at
//! its own position. So the length travels in the cache line that carries the payload, and neither
//! side reads an index of the other while data flows: the producer looks at the consumer's tail
//! only when its cached copy leaves no room, the consumer publishes its tail only every quarter
//! of the capacity or when it finds the ring empty.
//!
//! ```text
//! producer: room? -> payload -> 0 into the next word -> this word (Release) -> wake if announced
//! consumer: this word (Acquire) -> payload -> tail, now and then (Release) -> wake if announced
//! ```

mod consumer;
mod memory;
mod producer;
mod wait;

pub use consumer::{Consumer, Piece};
pub use memory::Memory;
pub use producer::Producer;
pub use wait::Waiting;

use std::sync::Arc;

use rustix::io::Errno;

/// Bytes of the word before each record.
const WORD: usize = 8;
/// Set in the word of a record that is there.
const PRESENT: u64 = 1 << 63;
/// Set where the message goes on in the next record.
const MORE: u64 = 1 << 62;

/// Whether the message goes on after this record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// This record ends the message.
    Last,
    /// The next record belongs to it too.
    More,
}

/// Bytes a record takes in the ring, its word included.
const fn record_bytes(payload_bytes: usize) -> usize {
    WORD + payload_bytes.next_multiple_of(WORD)
}

/// The smallest ring that carries a record of `payload_bytes`.
#[must_use]
pub const fn capacity_for(payload_bytes: usize) -> usize {
    (record_bytes(payload_bytes) + WORD).next_power_of_two()
}

/// Makes a ring of at least `capacity_bytes` and its two sides, both of which wait as `waiting`
/// says. A fork inherits them.
///
/// # Errors
/// The system's refusal of the memory: `ENOMEM`, `EMFILE`, or `ENOSYS` before Linux 3.17.
pub fn ring(capacity_bytes: usize, waiting: Waiting) -> Result<(Producer, Consumer), Errno> {
    let memory = Arc::new(Memory::map(capacity_bytes)?);
    Ok((Producer::new(Arc::clone(&memory), waiting), Consumer::new(memory, waiting)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(bytes: usize, seed: usize) -> Vec<u8> {
        (0..bytes).map(|at| u8::try_from((at * 31 + seed * 7) % 251).unwrap()).collect()
    }

    fn receive(consumer: &mut Consumer, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        let mut filled = 0;
        loop {
            let piece = consumer.pop(&mut buffer[filled..]).unwrap();
            filled += piece.bytes;
            if piece.continuation == Continuation::Last {
                assert_eq!(filled, bytes);
                return buffer;
            }
        }
    }

    fn send(producer: &mut Producer, message: &[u8], chunk: usize) {
        let mut rest = message;
        while rest.len() > chunk {
            producer.push(&rest[..chunk], Continuation::More).unwrap();
            rest = &rest[chunk..];
        }
        producer.push(rest, Continuation::Last).unwrap();
    }

    #[test]
    fn a_full_ring_and_an_empty_one_say_so() {
        let (mut producer, mut consumer) = ring(4096, Waiting::Never).unwrap();
        assert_eq!(consumer.pop(&mut [0; 8]).unwrap_err(), Errno::AGAIN);
        let mut pushed = 0;
        while producer.push(&[7; 100], Continuation::Last).is_ok() {
            pushed += 1;
        }
        assert_eq!(producer.push(&[7; 100], Continuation::Last).unwrap_err(), Errno::AGAIN);
        for _ in 0..pushed {
            assert_eq!(receive(&mut consumer, 100), [7; 100]);
        }
        assert_eq!(consumer.pop(&mut [0; 8]).unwrap_err(), Errno::AGAIN);
        producer.push(&[8; 100], Continuation::Last).unwrap();
        assert_eq!(receive(&mut consumer, 100), [8; 100]);
    }

    #[test]
    fn a_record_larger_than_the_ring_or_the_buffer_is_refused() {
        let (mut producer, mut consumer) = ring(4096, Waiting::Never).unwrap();
        assert_eq!(producer.push(&[0; 4096], Continuation::Last).unwrap_err(), Errno::MSGSIZE);
        producer.push(&[1; 64], Continuation::Last).unwrap();
        assert_eq!(consumer.pop(&mut [0; 63]).unwrap_err(), Errno::MSGSIZE);
    }

    #[test]
    fn a_closed_side_ends_the_wait_of_the_other() {
        for waiting in [Waiting::SpinThenFutex, Waiting::Futex, Waiting::Yield] {
            let (producer, mut consumer) = ring(4096, waiting).unwrap();
            let waiter = std::thread::spawn(move || consumer.pop(&mut [0; 8]).unwrap_err());
            std::thread::sleep(std::time::Duration::from_millis(5));
            drop(producer);
            assert_eq!(waiter.join().unwrap(), Errno::PIPE);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn messages_arrive_whole_and_in_order(
            sizes in prop::collection::vec(0_usize..20_000, 1..60),
            capacity in prop::sample::select(vec![4096_usize, 16_384, 65_536]),
            waiting in prop::sample::select(vec![Waiting::SpinThenFutex, Waiting::Futex, Waiting::Yield]),
        ) {
            let (mut producer, mut consumer) = ring(capacity, waiting).unwrap();
            let sent = sizes.clone();
            let sender = std::thread::spawn(move || {
                for (seed, &bytes) in sent.iter().enumerate() {
                    send(&mut producer, &message(bytes, seed), capacity / 4);
                }
            });
            for (seed, &bytes) in sizes.iter().enumerate() {
                prop_assert_eq!(receive(&mut consumer, bytes), message(bytes, seed));
            }
            sender.join().unwrap();
        }
    }
}
