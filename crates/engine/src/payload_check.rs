//! Stamps and checks of messages: what a sender writes into each message, and what a receiver reads or checks.
//!
//! `message_content.rs` fills the buffers before the first message.

use std::hint::black_box;

use ipcperf_model::message_options::{Content, Touch};
use ipcperf_model::{Failure, FailureKind};

use crate::message_order::MessageOrder;

/// Direction of a message. A reply carries other bytes than its request, so that an echo of stale memory is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDirection {
    /// From sender to receiver.
    Forward,
    /// From receiver to sender, in a round trip.
    Reverse,
}

/// Processing of each message before sending and after receiving.
pub trait Payload: Copy {
    /// Whether [`Payload::check`] reads messages.
    const READS: bool = true;

    /// Prepares message `number` (from 0) for sending.
    fn stamp(self, message: &mut [u8], number: u64, direction: MessageDirection);

    /// Checks that `message` is message `number`, complete and unchanged.
    ///
    /// # Errors
    /// Returns [`FailureKind::Corrupt`] with the first offset that differs.
    fn check(self, message: &[u8], number: u64, direction: MessageDirection)
    -> Result<(), Failure>;

    /// Number of a message that may follow lost ones: `next` or a later one.
    fn message_number(self, message: &[u8], next: u64) -> u64;

    /// Order of the messages if they have different sizes.
    #[inline(always)]
    fn order(&self) -> Option<&MessageOrder> {
        None
    }

    /// Whether [`Payload::message_number`] reads the number in the message.
    fn reads_number(&self) -> bool;
}

/// A payload that sends messages as they are in the buffer and does not read them on arrival.
#[derive(Clone, Copy, Debug)]
pub struct Unchecked;

impl Payload for Unchecked {
    const READS: bool = false;

    #[inline(always)]
    fn stamp(self, _: &mut [u8], _: u64, _: MessageDirection) {}

    #[inline(always)]
    fn check(self, _: &[u8], _: u64, _: MessageDirection) -> Result<(), Failure> {
        Ok(())
    }

    #[inline(always)]
    fn message_number(self, _: &[u8], next: u64) -> u64 {
        next
    }

    #[inline(always)]
    fn reads_number(&self) -> bool {
        false
    }
}

/// A payload that accesses each message. The loops of each mechanism are compiled once for all of its variants: in each
/// of them, they call a function for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processed {
    /// Each message starts with its number, and the rest is filled with words derived from number and offset, so that a
    /// lost, repeated, reordered, shifted or torn message cannot pass for the right one.
    Stamped,
    /// Each message is written before sending, read after arrival, or both, without a check. It measures the cost of
    /// using messages.
    Touched {
        /// Side that accesses the messages.
        touch: Touch,
        /// Content of messages; rewriting preserves its kind.
        content: Content,
    },
}

impl Payload for Processed {
    // Not inlined: each of several hundred loops would have a copy, and compiling them takes far longer than the one
    // call for a message costs.
    #[inline(never)]
    fn stamp(self, message: &mut [u8], number: u64, direction: MessageDirection) {
        match self {
            Self::Stamped => stamp(message, first_word(number, direction)),
            Self::Touched { touch, content } if touch.has_write() => {
                write(message, number, content);
            }
            Self::Touched { .. } => {}
        }
    }

    #[inline(never)]
    fn check(
        self,
        message: &[u8],
        number: u64,
        direction: MessageDirection,
    ) -> Result<(), Failure> {
        match self {
            Self::Stamped => verify(message, number, direction),
            Self::Touched { touch, .. } => {
                if touch.has_read() {
                    black_box(sum(message));
                }
                Ok(())
            }
        }
    }

    #[inline(never)]
    fn message_number(self, message: &[u8], next: u64) -> u64 {
        match self {
            Self::Stamped => stamped_number(message, next),
            Self::Touched { .. } => next,
        }
    }

    fn reads_number(&self) -> bool {
        *self == Self::Stamped
    }
}

/// Messages that may or may not be processed and have one size or several, as is decided at run time: for loops that are
/// compiled once for all of these cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyPayload<'a> {
    /// Processing of each message.
    pub processed: Option<Processed>,
    /// Order of the messages if they have different sizes.
    pub order: Option<&'a MessageOrder>,
}

impl Payload for AnyPayload<'_> {
    fn stamp(self, message: &mut [u8], number: u64, direction: MessageDirection) {
        if let Some(processed) = self.processed {
            processed.stamp(message, number, direction);
        }
    }

    fn check(
        self,
        message: &[u8],
        number: u64,
        direction: MessageDirection,
    ) -> Result<(), Failure> {
        self.processed.map_or(Ok(()), |processed| processed.check(message, number, direction))
    }

    fn message_number(self, message: &[u8], next: u64) -> u64 {
        self.processed.map_or(next, |processed| processed.message_number(message, next))
    }

    #[inline]
    fn order(&self) -> Option<&MessageOrder> {
        self.order
    }

    fn reads_number(&self) -> bool {
        self.processed.is_some_and(|processed| processed.reads_number())
    }
}

/// Writes every byte of `message`. Constant content gets a value that changes from message to message. Other content is
/// XORed with the same mask in each word, so that it stays as compressible as before.
fn write(message: &mut [u8], number: u64, content: Content) {
    if content == Content::Constant {
        message.fill(number.to_le_bytes()[0]);
        return;
    }
    // The byte is odd, so every byte of the message changes.
    let mask = u64::from(number.to_le_bytes()[0] | 1) * 0x0101_0101_0101_0101;
    let (words, rest) = message.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ mask).to_ne_bytes();
    }
    rest.iter_mut().for_each(|byte| *byte ^= mask.to_ne_bytes()[0]);
}

/// Reads every byte of `message`.
fn sum(message: &[u8]) -> u64 {
    let (words, rest) = message.as_chunks::<8>();
    let whole = words.iter().fold(0_u64, |sum, word| sum.wrapping_add(u64::from_ne_bytes(*word)));
    rest.iter().fold(whole, |sum, &byte| sum.wrapping_add(u64::from(byte)))
}

/// Fills `message` with `first` and the words that follow it.
fn stamp(message: &mut [u8], first: u64) {
    for (index, bytes) in (0_u64..).zip(message.chunks_mut(8)) {
        bytes.copy_from_slice(&word(first, index).to_le_bytes()[..bytes.len()]);
    }
}

fn verify(message: &[u8], number: u64, direction: MessageDirection) -> Result<(), Failure> {
    let first = first_word(number, direction);
    for (index, bytes) in (0_u64..).zip(message.chunks(8)) {
        if *bytes != word(first, index).to_le_bytes()[..bytes.len()] {
            return Err(corrupt(message, number, index * 8));
        }
    }
    Ok(())
}

/// Number of a stamped message that may follow lost ones, from `next` on.
fn stamped_number(message: &[u8], next: u64) -> u64 {
    let held = message.len().min(8);
    let mut low = [0; 8];
    low[..held].copy_from_slice(&message[..held]);
    let low = u64::from_le_bytes(low);
    if held == 8 {
        return low;
    }
    // Shorter messages hold only the low bytes of the number: take the first match from `next` on.
    let period = 1_u64 << (held * 8);
    next + low.wrapping_sub(next) % period
}

fn first_word(number: u64, direction: MessageDirection) -> u64 {
    match direction {
        MessageDirection::Forward => number,
        MessageDirection::Reverse => !number,
    }
}

/// Word `index` of the message that starts with `first`.
fn word(first: u64, index: u64) -> u64 {
    if index == 0 {
        return first;
    }
    // Two rounds of multiply and shift with the odd constants of SplitMix64 (Steele et al. 2014): neighboring
    // numbers and offsets give unrelated words.
    let mixed =
        (first ^ index.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

#[cold]
fn corrupt(message: &[u8], number: u64, offset: u64) -> Failure {
    let bytes = message.len();
    let place = format!("message {number} of {bytes} bytes differs from offset {offset} on");
    Failure::new(FailureKind::Corrupt, place)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stamped(bytes: usize, number: u64, direction: MessageDirection) -> Vec<u8> {
        let mut message = vec![0; bytes];
        Processed::Stamped.stamp(&mut message, number, direction);
        message
    }

    #[test]
    fn every_byte_is_written_and_read() {
        for (content, bytes) in [(Content::Constant, 29), (Content::Random, 29)] {
            let mut message = vec![7; bytes];
            write(&mut message, 3, content);
            assert!(message.iter().all(|&byte| byte != 7), "{content}: {message:?}");
        }
        for at in 0..29 {
            let mut message = vec![0; 29];
            message[at] = 1;
            assert_ne!(sum(&message), 0, "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn a_stamped_message_passes_and_any_changed_byte_is_seen(
            bytes in 1_usize..300, number: u64, at: prop::sample::Index, flip in 1_u8..,
        ) {
            let mut message = stamped(bytes, number, MessageDirection::Forward);
            prop_assert!(Processed::Stamped.check(&message, number, MessageDirection::Forward).is_ok());
            message[at.index(bytes)] ^= flip;
            prop_assert!(Processed::Stamped.check(&message, number, MessageDirection::Forward).is_err());
        }

        #[test]
        fn neighbours_and_replies_are_told_apart(bytes in 1_usize..300, number in 0..u64::MAX) {
            let message = stamped(bytes, number, MessageDirection::Forward);
            prop_assert!(Processed::Stamped.check(&message, number + 1, MessageDirection::Forward).is_err());
            prop_assert!(Processed::Stamped.check(&message, number, MessageDirection::Reverse).is_err());
        }

        #[test]
        fn a_message_after_losses_is_identified(bytes in 1_usize..20, next in 0..1_u64 << 40, lost in 0_u64..200) {
            let message = stamped(bytes, next + lost, MessageDirection::Forward);
            prop_assert_eq!(Processed::Stamped.message_number(&message, next), next + lost);
        }
    }
}
