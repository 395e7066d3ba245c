//! The side that follows the protocol, whatever it reads.

use std::hint::black_box;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::sync::Arc;
use crate::{Consumer, Error, Producer};

use super::area::{Buffer, SharedHints};
use super::random::Random;
use super::round::Counts;

/// Maximum working time; longer than the adversary's, so that the honest side observes its end.
const TIME: Duration = Duration::from_millis(8);

#[derive(Debug)]
pub(super) enum Side {
    Producer(Producer),
    Consumer(Consumer),
}

#[derive(Debug)]
pub(super) struct Honest {
    pub(super) side: Side,
    pub(super) shared: Arc<SharedHints>,
    pub(super) random: Random,
    pub(super) buffer: Buffer,
    pub(super) longest: usize,
}

impl Honest {
    /// Sends or receives in all ways, until the adversary is gone or the time limit passes.
    pub(super) fn work(&mut self, counts: &mut Counts) {
        let start = Instant::now();
        while start.elapsed() < TIME {
            let position = match &self.side {
                Side::Producer(producer) => producer.position(),
                Side::Consumer(consumer) => consumer.position(),
            };
            self.shared.hints().position.store(position, Relaxed);
            let result = self.act();
            counts.count(&result);
            if result == Err(Error::PeerGone) {
                break;
            }
        }
        self.shared.hints().is_done.store(true, Relaxed);
    }

    /// Chooses the length of a message or buffer: usually short, sometimes too long to fit anywhere.
    fn length(&mut self) -> usize {
        let max = self.random.one_of(&[8, 64, 1024, 4096, 5000, 20_000, self.longest]);
        self.random.length(max)
    }

    fn act(&mut self) -> Result<(), Error> {
        let bytes = self.length();
        let choice = self.random.below(8);
        match &mut self.side {
            Side::Producer(producer) => send(producer, self.buffer.last(bytes), choice),
            Side::Consumer(consumer) => receive(consumer, self.buffer.last(bytes), choice),
        }
    }
}

fn send(producer: &mut Producer, message: &[u8], choice: u64) -> Result<(), Error> {
    match choice {
        0..=3 => producer.send(message)?,
        4 => {
            let mut loan = producer.loan(message.len())?;
            loan.copy_from_slice(message);
            loan.send();
        }
        5 => producer.loan(message.len())?.fill(7),
        6 => {
            producer.reserve(message.len())?;
            assert_eq!(producer.reserved().len(), message.len());
            producer.reserved().copy_from_slice(message);
            producer.commit();
        }
        _ => producer.flush(),
    }
    Ok(())
}

fn receive(consumer: &mut Consumer, buffer: &mut [u8], choice: u64) -> Result<(), Error> {
    match choice {
        0..=3 => {
            let bytes = consumer.recv(buffer)?;
            assert!(bytes <= buffer.len());
        }
        4 => {
            let message = consumer.receive()?;
            read_all(&message);
        }
        5 => {
            let bytes = consumer.take()?;
            assert_eq!(consumer.taken().len(), bytes);
            read_all(consumer.taken());
            consumer.release();
        }
        // The next call releases this message.
        _ => {
            consumer.take()?;
            read_all(consumer.taken());
        }
    }
    Ok(())
}

fn read_all(message: &[u8]) {
    black_box(message.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
}
