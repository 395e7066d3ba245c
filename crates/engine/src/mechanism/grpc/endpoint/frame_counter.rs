//! The connection below HTTP/2, which counts what has been written.
//!
//! A peer drives its side only while it sends or receives. At the end of a phase it must know that its last
//! message has been written, which gRPC does not report. Therefore the outgoing frames are parsed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::task::{Context, Poll};

use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tonic::transport::server::Connected;

/// Length of a frame header in bytes, the type of frames that hold data, and the flag of a stream's last
/// frame (RFC 9113, sections 4.1 and 6.1).
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0;
const END_STREAM: u8 = 1;
/// Type of frames that hold headers or trailers (section 6.2).
const HEADERS: u8 = 1;

/// Length of the preface that a client sends before its first frame, bytes (section 3.4).
const PREFACE_BYTES: u64 = 24;

/// Counts of what has been written.
#[derive(Debug, Default)]
pub(super) struct WriteCounts {
    data_bytes: AtomicU64,
    streams_ended: AtomicU64,
    /// Whether the connection is closed, so that nothing more will be written.
    is_closed: AtomicBool,
    changed: Notify,
}

impl WriteCounts {
    /// Returns the number of bytes written in data frames.
    pub(super) fn data_bytes(&self) -> u64 {
        self.data_bytes.load(Relaxed)
    }

    /// Returns the number of streams whose last frame has been written.
    pub(super) fn streams_ended(&self) -> u64 {
        self.streams_ended.load(Relaxed)
    }

    /// Waits until `is_enough` holds.
    pub(super) async fn wait_until(&self, is_enough: impl Fn(&Self) -> bool) -> Result<(), Errno> {
        while !is_enough(self) {
            if self.is_closed.load(Relaxed) {
                return Err(Errno::CONNRESET);
            }
            self.changed.notified().await;
        }
        Ok(())
    }
}

/// Position of the next outgoing byte in the sequence of frames.
#[derive(Debug)]
struct FrameParser {
    header: [u8; HEADER_BYTES],
    /// Bytes of the current frame header seen so far.
    header_bytes_read: usize,
    /// Bytes left before the next frame header.
    remaining_bytes: u64,
    is_data: bool,
    is_last: bool,
}

impl FrameParser {
    /// Creates the state before the first frame, which `preface_bytes` other bytes precede.
    const fn with_preface(preface_bytes: u64) -> Self {
        Self {
            header: [0; HEADER_BYTES],
            header_bytes_read: 0,
            remaining_bytes: preface_bytes,
            is_data: false,
            is_last: false,
        }
    }

    /// Advances by `bytes` and counts in `written` what they complete.
    fn advance(&mut self, mut bytes: &[u8], written: &WriteCounts) {
        while !bytes.is_empty() {
            if self.remaining_bytes > 0 {
                let taken = usize::try_from(self.remaining_bytes)
                    .map_or(bytes.len(), |rest| rest.min(bytes.len()));
                bytes = &bytes[taken..];
                self.remaining_bytes -= taken as u64;
                if self.is_data {
                    written.data_bytes.fetch_add(taken as u64, Relaxed);
                }
            } else {
                let taken = (HEADER_BYTES - self.header_bytes_read).min(bytes.len());
                let (head, after) = bytes.split_at(taken);
                self.header[self.header_bytes_read..self.header_bytes_read + taken]
                    .copy_from_slice(head);
                self.header_bytes_read += taken;
                bytes = after;
                self.parse_header();
            }
            self.count_end(written);
        }
    }

    /// Parses the frame header once it is complete.
    fn parse_header(&mut self) {
        if self.header_bytes_read < HEADER_BYTES {
            return;
        }
        let [high, middle, low, kind, flags, ..] = self.header;
        self.header_bytes_read = 0;
        self.remaining_bytes = u32::from_be_bytes([0, high, middle, low]).into();
        self.is_data = kind == DATA;
        self.is_last = matches!(kind, DATA | HEADERS) && flags & END_STREAM != 0;
    }

    fn count_end(&mut self, written: &WriteCounts) {
        if self.remaining_bytes == 0
            && self.header_bytes_read == 0
            && std::mem::take(&mut self.is_last)
        {
            written.streams_ended.fetch_add(1, Relaxed);
        }
    }
}

/// A connection that counts what is written to it.
#[derive(Debug)]
pub(super) struct CountingStream {
    socket: UnixStream,
    frames: FrameParser,
    written: Arc<WriteCounts>,
}

impl CountingStream {
    /// Wraps `socket`, to which nothing has been written yet.
    pub(super) fn new_server(socket: UnixStream) -> Self {
        Self { socket, frames: FrameParser::with_preface(0), written: Arc::default() }
    }

    /// Wraps `socket` like [`CountingStream::new_server`], for the side that sends the preface.
    pub(super) fn new_client(socket: UnixStream) -> Self {
        Self { socket, frames: FrameParser::with_preface(PREFACE_BYTES), written: Arc::default() }
    }

    pub(super) fn written(&self) -> Arc<WriteCounts> {
        Arc::clone(&self.written)
    }
}

impl Drop for CountingStream {
    fn drop(&mut self) {
        self.written.is_closed.store(true, Relaxed);
        self.written.changed.notify_one();
    }
}

impl AsyncRead for CountingStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(context, into)
    }
}

impl AsyncWrite for CountingStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write(context, bytes);
        if let Poll::Ready(Ok(taken)) = polled {
            let Self { frames, written, .. } = &mut *self;
            frames.advance(&bytes[..taken], written);
            written.changed.notify_one();
        }
        polled
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write_vectored(context, pieces);
        if let Poll::Ready(Ok(mut taken)) = polled {
            let Self { frames, written, .. } = &mut *self;
            for piece in pieces {
                let piece_bytes = taken.min(piece.len());
                frames.advance(&piece[..piece_bytes], written);
                taken -= piece_bytes;
            }
            written.changed.notify_one();
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

impl Connected for CountingStream {
    type ConnectInfo = ();

    fn connect_info(&self) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(kind: u8, flags: u8, bytes: usize) -> Vec<u8> {
        let [_, high, middle, low] = u32::try_from(bytes).unwrap().to_be_bytes();
        [&[high, middle, low, kind, flags, 0, 0, 0, 1][..], &vec![0xFF; bytes]].concat()
    }

    proptest! {
        /// The counts do not depend on how the outgoing bytes are split.
        #[test]
        fn data_and_ends_are_counted(cut in 1_usize..200, last in 0_usize..100) {
            let sent = [
                vec![b'P'; 24],
                frame(4, 1, 18),
                frame(HEADERS, 4, 30),
                frame(DATA, 0, 100),
                frame(8, 1, 4),
                frame(DATA, END_STREAM, last),
                frame(HEADERS, END_STREAM | 4, 12),
            ].concat();
            let (mut frames, written) = (FrameParser::with_preface(PREFACE_BYTES), WriteCounts::default());
            sent.chunks(cut).for_each(|bytes| frames.advance(bytes, &written));
            prop_assert_eq!(written.data_bytes(), 100 + last as u64);
            prop_assert_eq!(written.streams_ended(), 2);
        }
    }

    #[test]
    fn a_stream_has_not_ended_before_its_last_byte() {
        let (mut frames, written) = (FrameParser::with_preface(0), WriteCounts::default());
        let sent = frame(HEADERS, END_STREAM, 12);
        frames.advance(&sent[..sent.len() - 1], &written);
        assert_eq!(written.streams_ended(), 0);
        frames.advance(&sent[sent.len() - 1..], &written);
        assert_eq!(written.streams_ended(), 1);
    }
}
