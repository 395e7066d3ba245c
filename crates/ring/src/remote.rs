//! One side of a ring in another program, which inherits nothing and gets what it needs as descriptors.

use std::io;
use std::os::fd::OwnedFd;

use crate::liveness::{Lifeline, lifelines};
use crate::memory::Memory;
use crate::sync::Arc;
use crate::{Consumer, Options, Producer, geometry};

/// Two descriptors with which the program of the other side opens it, to be passed over a Unix domain socket
/// (`SCM_RIGHTS`). Both programs must use the same [`Options`].
#[derive(Debug)]
pub struct RemoteSide {
    /// The memory of the ring.
    pub memory: OwnedFd,
    /// The end by which the other side notices that this side's program has ended.
    pub lifeline: OwnedFd,
}

/// Creates a ring whose producer is in another program.
///
/// # Errors
/// As [`crate::ring`].
pub fn with_remote_producer(options: &Options) -> io::Result<(Consumer, RemoteSide)> {
    let (memory, file) = Memory::create(geometry(options)?)?;
    let (producers, consumers) = lifelines()?;
    let consumer = Consumer::new(Arc::new(memory), options.waiting, consumers);
    Ok((consumer, RemoteSide { memory: file, lifeline: producers.into() }))
}

/// Creates a ring whose consumer is in another program.
///
/// # Errors
/// As [`crate::ring`].
pub fn with_remote_consumer(options: &Options) -> io::Result<(Producer, RemoteSide)> {
    let (memory, file) = Memory::create(geometry(options)?)?;
    let (producers, consumers) = lifelines()?;
    let producer = Producer::new(Arc::new(memory), options.waiting, producers);
    Ok((producer, RemoteSide { memory: file, lifeline: consumers.into() }))
}

impl RemoteSide {
    /// Opens the producer of a ring that another program created with the same `options`.
    ///
    /// # Errors
    /// Returns `EINVAL` if the memory was created with others, `EPERM` if its length could change, else the system's error
    /// for mapping it.
    pub fn into_producer(self, options: &Options) -> io::Result<Producer> {
        let memory = Arc::new(Memory::open(&self.memory, geometry(options)?)?);
        Ok(Producer::new(memory, options.waiting, Lifeline::from(self.lifeline)))
    }

    /// Opens the consumer: see [`RemoteSide::into_producer`].
    ///
    /// # Errors
    /// As [`RemoteSide::into_producer`].
    pub fn into_consumer(self, options: &Options) -> io::Result<Consumer> {
        let memory = Arc::new(Memory::open(&self.memory, geometry(options)?)?);
        Ok(Consumer::new(memory, options.waiting, Lifeline::from(self.lifeline)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::{Error, WaitStrategy};

    const OPTIONS: Options = Options {
        capacity_bytes: 1 << 16,
        chunk_bytes: 1 << 12,
        batch_bytes: 0,
        longest_in_ring_bytes: usize::MAX,
        slots: 0,
        slot_bytes: 0,
        waiting: WaitStrategy::Futex,
    };

    #[test]
    fn both_sides_exchange_messages_and_notice_the_end() {
        let (mut consumer, remote) = with_remote_producer(&OPTIONS).unwrap();
        let mut producer = remote.into_producer(&OPTIONS).unwrap();
        producer.send(b"there").unwrap();
        let mut buffer = [0; 8];
        assert_eq!((consumer.recv(&mut buffer), &buffer[..5]), (Ok(5), &b"there"[..]));
        drop(producer);
        assert_eq!(consumer.recv(&mut buffer), Err(Error::PeerGone));

        let (mut producer, remote) = with_remote_consumer(&OPTIONS).unwrap();
        let mut consumer = remote.into_consumer(&OPTIONS).unwrap();
        producer.send(b"back").unwrap();
        assert_eq!((consumer.recv(&mut buffer), &buffer[..4]), (Ok(4), &b"back"[..]));
        drop(producer);
        assert_eq!(consumer.recv(&mut buffer), Err(Error::PeerGone));
    }

    #[test]
    fn memory_that_is_not_that_of_the_ring_is_refused() {
        let larger = Options { capacity_bytes: 1 << 17, ..OPTIONS };
        let (_consumer, remote) = with_remote_producer(&OPTIONS).unwrap();
        let error = remote.into_producer(&larger).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_that_could_be_shortened_is_refused() {
        let (_consumer, remote) = with_remote_producer(&OPTIONS).unwrap();
        let length = File::from(remote.memory.try_clone().unwrap()).metadata().unwrap().len();
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let unsealed = rustix::fs::memfd_create("unsealed", flags).unwrap();
        rustix::fs::ftruncate(&unsealed, length).unwrap();
        let error = RemoteSide { memory: unsealed, ..remote }.into_producer(&OPTIONS).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
}
