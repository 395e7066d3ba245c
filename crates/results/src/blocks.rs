//! Splits a file into blocks that end with a line, so that several threads can parse it while it is read, and it is
//! never in memory as a whole.

use std::io::{self, Read};
use std::sync::{Mutex, PoisonError};

use memchr::memrchr;

use crate::parse_error::ParseError;

/// Size of a block, bytes: about a hundred samples with histograms.
const BLOCK_BYTES: usize = 256 * 1024;
/// Maximum length of a line, bytes. A longer one is endless input such as `/dev/zero`.
const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;

/// Iterator over the blocks of `input`.
pub(super) struct Blocks<'a, R> {
    input: R,
    pool: &'a BufferPool,
    /// Bytes after the last newline.
    remainder: Vec<u8>,
    whole_bytes: u64,
    is_over: bool,
}

/// Blocks for reuse: fresh memory costs more than reading.
#[derive(Default)]
pub(super) struct BufferPool(Mutex<Vec<Vec<u8>>>);

/// Position after the last complete line, and the length of what follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct InputEnd {
    pub(super) whole_bytes: u64,
    pub(super) torn_bytes: usize,
}

impl BufferPool {
    pub(super) fn put(&self, block: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    }

    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }
}

impl<'a, R: Read> Blocks<'a, R> {
    pub(super) fn new(input: R, spare: &'a BufferPool) -> Self {
        Self { input, pool: spare, remainder: Vec::new(), whole_bytes: 0, is_over: false }
    }

    /// Returns how the input ended; valid after the last block.
    pub(super) fn input_end(&self) -> InputEnd {
        InputEnd { whole_bytes: self.whole_bytes, torn_bytes: self.remainder.len() }
    }

    /// Returns the next block; `None` if there is no further complete line.
    fn read(&mut self) -> Result<Option<Vec<u8>>, ParseError> {
        let mut block = self.pool.take();
        block.clear();
        block.append(&mut self.remainder);
        while !self.is_over {
            let known = block.len();
            self.is_over = self.fill(&mut block)? < BLOCK_BYTES;
            if let Some(newline) = memrchr(b'\n', &block[known..]) {
                let end = known + newline + 1;
                self.remainder.extend_from_slice(&block[end..]);
                block.truncate(end);
                self.whole_bytes += end as u64;
                return Ok(Some(block));
            }
            if block.len() > MAX_LINE_BYTES {
                return Err("a line without an end".to_owned().into());
            }
        }
        self.remainder = block;
        Ok(None)
    }

    /// Appends the next part of the input to `block`: the size of a block, or less at the end.
    fn fill(&mut self, block: &mut Vec<u8>) -> io::Result<usize> {
        block.reserve(BLOCK_BYTES);
        (&mut self.input).take(BLOCK_BYTES as u64).read_to_end(block)
    }
}

impl<R: Read> Iterator for Blocks<'_, R> {
    type Item = Result<Vec<u8>, ParseError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let block = self.read();
        // An error persists, so the iterator ends after it.
        self.is_over |= block.is_err();
        block.transpose()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.is_over.then_some(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(text: &[u8]) -> (Vec<Vec<u8>>, InputEnd) {
        let spare = BufferPool::default();
        let mut blocks = Blocks::new(text, &spare);
        let all = (&mut blocks).map(Result::unwrap).collect();
        (all, blocks.input_end())
    }

    #[test]
    fn blocks_end_with_lines_and_lose_nothing() {
        let line = |length: usize| [vec![b'x'; length], b"\n".to_vec()].concat();
        let text: Vec<u8> = (0..500).flat_map(|k| line(k * 7919 % 3_000)).collect();
        let long = [text.clone(), line(3 * BLOCK_BYTES), text, b"torn".to_vec()].concat();
        let (all, ending) = blocks(&long);
        assert!(all.len() > 5 && all.iter().all(|block| block.ends_with(b"\n")));
        assert_eq!([all.concat(), b"torn".to_vec()].concat(), long);
        assert_eq!((ending.whole_bytes, ending.torn_bytes), (long.len() as u64 - 4, 4));
    }

    #[test]
    fn what_never_ends_a_line_is_given_up() {
        let spare = BufferPool::default();
        let mut blocks = Blocks::new(io::repeat(0), &spare);
        assert!(matches!(blocks.next(), Some(Err(ParseError::Contents(_)))));
        assert!(blocks.next().is_none());
    }
}
