//! A ring of messages in shared memory, from one producer to one consumer: two threads, two processes of which one was forked
//! from the other or both from a third, or two programs that are connected by a Unix domain socket.
//!
//! No system call is made while data flows, and one cache line carries a short message. Messages are copied in and out
//! ([`Producer::send`], [`Consumer::recv`]), or written and read in place ([`Producer::loan`], [`Consumer::receive`]),
//! and each side may choose freely. A side that waits for a peer that has died, even by `SIGKILL` and in the middle of
//! a message, gets [`Error::PeerGone`] within 50 ms.
//!
//! ```
//! use ipcperf_ring::{Options, ring};
//!
//! let (mut producer, mut consumer) = ring(&Options::default())?;
//! let sender = std::thread::spawn(move || -> Result<(), ipcperf_ring::Error> {
//!     producer.send(b"a copy")?;
//!     let mut loan = producer.loan(8)?;
//!     loan.copy_from_slice(b"in place");
//!     loan.send();
//!     Ok(())
//! });
//! let mut buffer = [0; 64];
//! let bytes = consumer.recv(&mut buffer)?;
//! assert_eq!(&buffer[..bytes], b"a copy");
//! assert_eq!(&*consumer.receive()?, b"in place");
//! sender.join().unwrap()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! For two processes (`examples/two_processes.rs`), create the ring, fork, and in each process call `disown` on the
//! side that belongs to the other: a side counts as dead only once no process has a copy of it. Two programs that were started
//! separately pass the descriptors of one side over a Unix domain socket ([`RemoteSide`]).
//!
//! # How it works
//!
//! The memory is a memfd whose size is a power of two, mapped twice back to back, so that a record that crosses the end
//! is still contiguous. A record is an 8-byte word (present flag, continuation flag, length) followed by the payload,
//! padded to 8 bytes; from 2 KiB on the payload begins at a cache line. The word at the producer's position is always 0
//! until the record is complete; the consumer polls the word at its own position. So the length travels in the cache
//! line that carries the payload, and neither side reads an index of the other while data flows. The producer reads the
//! consumer's tail only when its cached copy leaves no room; the consumer publishes its tail only every quarter of the
//! capacity or when it finds the ring empty.
//!
//! ```text
//! producer: room? -> payload -> 0 into the next word -> this word (Release) -> wake if announced
//! consumer: this word (Acquire) -> payload -> tail, at intervals (Release) -> wake if announced
//! ```
//!
//! Long loans lie in a pool of slots. The slot freed last is lent next, since caches still hold it; the record contains
//! the slot's number. With [`Options::batch_bytes`] all words of a batch but the first are stored at once, and the
//! first when the batch is full or flushed, or when the producer waits.
//!
//! Each side holds one end of a socket pair. A side that has waited for 32 ms checks whether any process still holds
//! the other end; the kernel closes it when its process dies.
//!
//! # A peer that violates the protocol
//!
//! Each side can write to all of the shared memory at any time, so no value in it is trusted. Each is loaded once and
//! checked, and only the checked copy is used; sizes, positions and free slots are kept in private memory. Whatever a
//! peer writes, this side:
//!
//! - does not read or write outside the mapping or the caller's buffer, and does not panic;
//! - returns [`Error::Corrupt`] for a value that the ring never writes;
//! - waits no longer than for a silent peer, and gets [`Error::PeerGone`] once the peer is dead.
//!
//! A malicious peer can still:
//!
//! - send any message, with any contents, and without end: a ring that it filled before it died may keep a receiver
//!   busy forever. Do not rely on [`Error::PeerGone`] to end a loop that receives from it;
//! - overwrite messages that this side sends;
//! - change a message while it is read in place ([`Consumer::taken`], [`Message`]) or written in place
//!   ([`Producer::reserved`], [`Loan`]). Its length stays, but two reads of a byte can differ. Rust's rules forbid that
//!   for a `&[u8]`, and the compiler may assume that it does not happen. If the contents from a peer are not trusted,
//!   receive a copy ([`Consumer::recv`]) and check the copy;
//! - make this side wait, or use CPU time, for as long as the peer lives.
//!
//! Header, records and pool lie between inaccessible guard pages, and the memfd is sealed: no process can shorten it,
//! which would kill the other with `SIGBUS`. `src/malicious_peer` tests all of this.
//!
//! # Tests
//!
//! The orderings are model-checked with [loom](https://docs.rs/loom) (`tests/loom.rs`), and a
//! process is killed at each of its instructions in `tests/killed_anywhere.rs`.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod consumer;
#[cfg(all(test, not(loom)))]
mod corrupt_values;
mod geometry;
mod header;
#[cfg(not(loom))]
mod liveness;
#[cfg(loom)]
mod loom_model;
#[cfg(all(test, not(loom)))]
mod malicious_peer;
#[cfg(not(loom))]
mod memory;
pub mod portable_wait;
mod producer;
mod record;
#[cfg(not(loom))]
mod remote;
#[cfg(not(loom))]
mod shared_file;
mod sync;
mod wait;

#[cfg(loom)]
use loom_model as liveness;
#[cfg(loom)]
use loom_model as memory;

pub use consumer::{Consumer, Message};
pub use geometry::Options;
pub use producer::{Loan, Producer};
#[cfg(not(loom))]
pub use remote::{RemoteSide, with_remote_consumer, with_remote_producer};
pub use wait::WaitStrategy;

use std::io;

use geometry::Geometry;
use memory::Memory;
use sync::Arc;

/// Reason why a message was not sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no message, or no room, and the ring does not wait.
    #[error("the ring is empty or full, and does not wait")]
    WouldBlock,
    /// The other side was dropped, or its process is dead, and everything it had sent was received.
    #[error("the other side has closed the ring or died")]
    PeerGone,
    /// The message fits neither into ring nor pool, or not into the buffer.
    #[error("the message is larger than the ring or the buffer")]
    TooLarge,
    /// The message was sent in pieces, and can only be received as a copy.
    #[error("the message is in several pieces: receive a copy")]
    Fragmented,
    /// The shared memory holds a value that the ring never writes.
    #[error("the shared memory contains data that this ring did not write")]
    Corrupt,
}

/// Creates a ring and its two sides.
///
/// # Errors
/// Returns `EINVAL` for more slots than a pool can have or more bytes than the address space has; else the system's
/// error for the memory: `ENOMEM`, `EMFILE`, or `ENOSYS` before Linux 3.17.
pub fn ring(options: &Options) -> io::Result<(Producer, Consumer)> {
    sides(Arc::new(Memory::map(geometry(options)?)?), options.waiting)
}

fn geometry(options: &Options) -> io::Result<Geometry> {
    let geometry = Geometry::from_options(options, memory::page_bytes());
    geometry.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Creates the two sides of a ring in `memory`.
fn sides(memory: Arc<Memory>, waiting: WaitStrategy) -> io::Result<(Producer, Consumer)> {
    let (producers, consumers) = liveness::lifelines()?;
    let producer = Producer::new(Arc::clone(&memory), waiting, producers);
    Ok((producer, Consumer::new(memory, waiting, consumers)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    const WAITS: [WaitStrategy; 3] =
        [WaitStrategy::SpinThenFutex, WaitStrategy::Futex, WaitStrategy::Yield];

    fn small(waiting: WaitStrategy) -> Options {
        Options { capacity_bytes: 4096, chunk_bytes: 1024, waiting, ..Options::default() }
    }

    fn message(bytes: usize, seed: usize) -> Vec<u8> {
        (0..bytes).map(|at| u8::try_from((at * 31 + seed * 7) % 251).unwrap()).collect()
    }

    fn received(consumer: &mut Consumer, most: usize) -> Vec<u8> {
        let mut buffer = vec![0; most];
        let bytes = consumer.recv(&mut buffer).unwrap();
        buffer.truncate(bytes);
        buffer
    }

    #[test]
    fn a_full_ring_and_an_empty_one_say_so() {
        let (mut producer, mut consumer) = ring(&small(WaitStrategy::NonBlocking)).unwrap();
        assert_eq!(consumer.recv(&mut [0; 8]), Err(Error::WouldBlock));
        let mut sent = 0;
        while producer.send(&[7; 100]).is_ok() {
            sent += 1;
        }
        assert_eq!(producer.send(&[7; 100]), Err(Error::WouldBlock));
        assert_eq!(producer.loan(100).unwrap_err(), Error::WouldBlock);
        for _ in 0..sent {
            assert_eq!(received(&mut consumer, 100), [7; 100]);
        }
        assert_eq!(consumer.receive().unwrap_err(), Error::WouldBlock);
        producer.send(&[8; 100]).unwrap();
        assert_eq!(received(&mut consumer, 100), [8; 100]);
    }

    #[test]
    fn what_fits_nowhere_is_refused() {
        let (mut producer, mut consumer) = ring(&small(WaitStrategy::NonBlocking)).unwrap();
        assert_eq!(producer.send(&[0; 4096]), Err(Error::TooLarge));
        assert_eq!(producer.loan(4096).unwrap_err(), Error::TooLarge);
        producer.send(&[1; 64]).unwrap();
        assert_eq!(consumer.recv(&mut [0; 63]), Err(Error::TooLarge));
        assert_eq!(received(&mut consumer, 64), [1; 64], "it is still there");
        let absurd = [
            Options { slots: 33, slot_bytes: 1, ..Options::default() },
            Options { slots: 2, slot_bytes: usize::MAX / 2, ..Options::default() },
            Options { capacity_bytes: usize::MAX, ..Options::default() },
        ];
        for options in absurd {
            assert_eq!(ring(&options).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn a_message_in_pieces_can_only_be_copied_out() {
        let (mut producer, mut consumer) = ring(&small(WaitStrategy::Futex)).unwrap();
        producer.send(&message(2000, 1)).unwrap();
        assert_eq!(consumer.receive().unwrap_err(), Error::Fragmented);
        assert_eq!(received(&mut consumer, 2000), message(2000, 1));
    }

    #[test]
    fn a_loan_that_is_not_sent_is_given_up() {
        let options = Options { slots: 1, slot_bytes: 8192, ..small(WaitStrategy::NonBlocking) };
        let (mut producer, mut consumer) = ring(&options).unwrap();
        for bytes in [10, 8000] {
            producer.loan(bytes).unwrap().fill(9);
            producer.loan(bytes).unwrap().fill(9);
            assert_eq!(consumer.receive().unwrap_err(), Error::WouldBlock);
            let mut loan = producer.loan(bytes).unwrap();
            loan.copy_from_slice(&message(bytes, 3));
            loan.send();
            assert_eq!(&*consumer.receive().unwrap(), message(bytes, 3));
        }
    }

    #[test]
    fn the_slot_freed_last_is_lent_next() {
        let options = Options { slots: 4, slot_bytes: 8192, ..small(WaitStrategy::NonBlocking) };
        let (mut producer, mut consumer) = ring(&options).unwrap();
        let mut places = Vec::new();
        for _ in 0..100 {
            let loan = producer.loan(5000).unwrap();
            places.push(loan.as_ptr());
            loan.send();
            consumer.receive().unwrap();
        }
        places.dedup();
        assert_eq!(places.len(), 1);
        for _ in 0..4 {
            producer.loan(5000).unwrap().send();
        }
        assert_eq!(producer.loan(5000).unwrap_err(), Error::WouldBlock, "all four are lent");
    }

    #[test]
    fn a_batch_is_shown_when_it_is_full_or_flushed() {
        let options = Options { batch_bytes: 48, ..small(WaitStrategy::NonBlocking) };
        let (mut producer, mut consumer) = ring(&options).unwrap();
        for seed in 0..3 {
            assert_eq!(consumer.recv(&mut [0; 8]), Err(Error::WouldBlock));
            producer.send(&[seed; 8]).unwrap();
        }
        for seed in 0..3 {
            assert_eq!(received(&mut consumer, 8), [seed; 8]);
        }
        producer.send(&[9; 8]).unwrap();
        assert_eq!(consumer.recv(&mut [0; 8]), Err(Error::WouldBlock));
        producer.flush();
        assert_eq!(received(&mut consumer, 8), [9; 8]);
        producer.send(&[10; 8]).unwrap();
        drop(producer);
        assert_eq!(received(&mut consumer, 8), [10; 8], "what was sent before it went");
    }

    #[test]
    fn a_dropped_side_ends_the_wait_of_the_other() {
        for waiting in WAITS {
            let (producer, mut consumer) = ring(&small(waiting)).unwrap();
            let waiter = thread::spawn(move || consumer.recv(&mut [0; 8]).unwrap_err());
            thread::sleep(Duration::from_millis(5));
            drop(producer);
            assert_eq!(waiter.join().unwrap(), Error::PeerGone);
        }
    }

    #[test]
    fn a_side_that_nobody_holds_any_more_ends_the_wait_of_the_other() {
        for waiting in WAITS {
            let (mut producer, consumer) = ring(&small(waiting)).unwrap();
            // Like a killed process: the other side is not notified.
            consumer.close_after_fork();
            while producer.send(&[0; 100]).is_ok() {}
            assert_eq!(producer.loan(100).unwrap_err(), Error::PeerGone);
        }
    }

    /// Sends a copy or a loan, depending on `seed`.
    fn send(producer: &mut Producer, bytes: usize, seed: usize) {
        let sent = message(bytes, seed);
        match producer.reserve(bytes) {
            Ok(()) if seed.is_multiple_of(3) => {
                producer.reserved().copy_from_slice(&sent);
                producer.commit();
            }
            _ => producer.send(&sent).unwrap(),
        }
    }

    /// Receives in place or a copy, depending on `seed`.
    fn receive(consumer: &mut Consumer, bytes: usize, seed: usize) -> Vec<u8> {
        if seed.is_multiple_of(2) {
            return received(consumer, bytes);
        }
        match consumer.take() {
            Ok(length) => {
                assert_eq!(length, bytes);
                // The next call releases this message.
                consumer.taken().to_vec()
            }
            Err(error) => {
                assert_eq!(error, Error::Fragmented);
                received(consumer, bytes)
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn messages_arrive_whole_and_in_order(
            sizes in prop::collection::vec(0_usize..20_000, 1..60),
            capacity_bytes in prop::sample::select(vec![4096_usize, 16_384, 65_536]),
            batch_bytes in prop::sample::select(vec![0_usize, 64, 4096]),
            longest_in_ring_bytes in prop::sample::select(vec![1000_usize, usize::MAX]),
            slots in 0..4_u32,
            waiting in prop::sample::select(WAITS.to_vec()),
        ) {
            let options = Options {
                capacity_bytes,
                chunk_bytes: capacity_bytes / 4,
                batch_bytes,
                longest_in_ring_bytes,
                slots,
                slot_bytes: 12_000,
                waiting,
            };
            let (mut producer, mut consumer) = ring(&options).unwrap();
            let sent = sizes.clone();
            let sender = thread::spawn(move || {
                for (seed, &bytes) in sent.iter().enumerate() {
                    send(&mut producer, bytes, seed);
                }
            });
            for (seed, &bytes) in sizes.iter().enumerate() {
                prop_assert_eq!(receive(&mut consumer, bytes, seed), message(bytes, seed));
            }
            sender.join().unwrap();
        }
    }
}
