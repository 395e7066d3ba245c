//! Implementation of `dgram-compressed`.

use std::os::fd::{AsFd, OwnedFd};

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use ipcperf_model::{Failure, RunSpec, WorkerReport};
use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into};
use rustix::io::Errno;
use rustix::net::SocketType;

use super::CODEC;
use crate::buffer::Buffer;
use crate::channel::{Channel, Descriptors, Endpoint, Granted, Limit, Mechanism, Opened, Setup};
use crate::mechanism::scm_rights::datagram_pair;
use crate::mechanism::socket::{set_buffers, unix_limit};
use crate::mechanism::waiting::{self, NonblockingWait};
use crate::platform::read_write;

/// The part of `dgram-compressed` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism =
    Mechanism { limit, in_flight_messages: |_| 2, execute, ..Mechanism::BASE };

/// Selects the codec, once for the run.
fn execute(spec: &RunSpec, mechanism: &Mechanism<'_>) -> WorkerReport {
    match CODEC.chosen(&spec.options) {
        "lz4" => waiting::execute::<DgramCompressed<Lz4>, NonblockingWait>(spec, mechanism),
        #[cfg(feature = "zstd")]
        "zstd" => {
            waiting::execute::<DgramCompressed<zstd_codec::Zstd>, NonblockingWait>(spec, mechanism)
        }
        #[cfg(not(feature = "zstd"))]
        "zstd" => super::FEATURE.refuse(),
        _ => waiting::execute::<DgramCompressed<Deflate>, NonblockingWait>(spec, mechanism),
    }
}

fn limit(setup: &Setup<'_>) -> Option<Limit> {
    let bound = match setup.option(&CODEC) {
        "lz4" => Lz4::max_compressed_bytes,
        #[cfg(feature = "zstd")]
        "zstd" => zstd_codec::Zstd::max_compressed_bytes,
        _ => Deflate::max_compressed_bytes,
    };
    let max_compressed = |bytes| u64::try_from(bound(usize::try_from(bytes).ok()?)).ok();
    let packed = max_compressed(setup.buffer_bytes).unwrap_or(u64::MAX);
    let datagram = unix_limit(SocketType::DGRAM, &Setup { buffer_bytes: packed, ..*setup })?;
    // Bisection finds the largest message that fits whatever its content.
    let (mut fits, mut fails) = (0, datagram.bytes + 1);
    while fails - fits > 1 {
        let middle = fits + (fails - fits) / 2;
        let goes = max_compressed(middle).is_some_and(|bytes| bytes <= datagram.bytes);
        *(if goes { &mut fits } else { &mut fails }) = middle;
    }
    let reason = format!(
        "compressed data must fit into {} bytes, because {}",
        datagram.bytes, datagram.reason
    );
    Some(Limit { bytes: fits, reason })
}

/// A compression method.
trait Codec: Send + Sized + 'static {
    fn new() -> Self;

    /// Returns the maximum compressed size of `bytes` bytes.
    fn max_compressed_bytes(bytes: usize) -> usize;

    /// Compresses `from` into `into` and returns the compressed length; `None` if `into` is too small.
    fn compress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize>;

    /// Expands `from` into `into` and returns the expanded length; `None` if `into` is too small or `from` is
    /// damaged.
    fn decompress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize>;
}

struct Deflate {
    compress: Compress,
    decompress: Decompress,
}

impl Codec for Deflate {
    fn new() -> Self {
        Self {
            compress: Compress::new(Compression::new(6), false),
            decompress: Decompress::new(false),
        }
    }

    /// The bound of miniz (`mz_deflateBound`), of which `miniz_oxide` is a port.
    fn max_compressed_bytes(bytes: usize) -> usize {
        (128 + bytes + bytes / 10).max(128 + bytes + (bytes / (31 * 1024) + 1) * 5)
    }

    fn compress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize> {
        self.compress.reset();
        let done = self.compress.compress(from, into, FlushCompress::Finish).ok()?;
        let packed = usize::try_from(self.compress.total_out()).ok()?;
        (done == Status::StreamEnd).then_some(packed)
    }

    fn decompress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize> {
        self.decompress.reset(false);
        let done = self.decompress.decompress(from, into, FlushDecompress::Finish).ok()?;
        let unpacked = usize::try_from(self.decompress.total_out()).ok()?;
        (done == Status::StreamEnd).then_some(unpacked)
    }
}

struct Lz4(CompressTable);

impl Codec for Lz4 {
    fn new() -> Self {
        Self(CompressTable::large())
    }

    fn max_compressed_bytes(bytes: usize) -> usize {
        lz4_flex::block::get_maximum_output_size(bytes)
    }

    fn compress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize> {
        compress_into_with_table(from, into, &mut self.0).ok()
    }

    fn decompress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize> {
        decompress_into(from, into).ok()
    }
}

#[cfg(feature = "zstd")]
mod zstd_codec {
    use zstd::zstd_safe::{self, CCtx, CLEVEL_DEFAULT, DCtx};

    use super::Codec;

    pub(super) struct Zstd {
        compress: CCtx<'static>,
        decompress: DCtx<'static>,
    }

    impl Codec for Zstd {
        fn new() -> Self {
            Self { compress: CCtx::create(), decompress: DCtx::create() }
        }

        fn max_compressed_bytes(bytes: usize) -> usize {
            zstd_safe::compress_bound(bytes)
        }

        fn compress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize> {
            self.compress.compress(into, from, CLEVEL_DEFAULT).ok()
        }

        fn decompress(&mut self, from: &[u8], into: &mut [u8]) -> Option<usize> {
            self.decompress.decompress(into, from).ok()
        }
    }
}

struct DgramCompressed<C>(std::marker::PhantomData<C>);

impl<C: Codec> Channel for DgramCompressed<C> {
    type End = CompressedEnd<C>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let (sender, receiver) = datagram_pair(setup)?;
        let granted_bytes = set_buffers(&sender, setup)?.send_bytes;
        set_buffers(&receiver, setup)?;
        let bytes = usize::try_from(setup.buffer_bytes).unwrap_or(usize::MAX / 2);
        let end = |socket| CompressedEnd {
            socket,
            codec: C::new(),
            message_bytes: bytes,
            buffers: None,
            pending: None,
        };
        Ok(Opened {
            sender: end(sender),
            receiver: end(receiver),
            granted: Granted { kernel_buffer_bytes: Some(granted_bytes) },
        })
    }
}

struct CompressedEnd<C> {
    socket: OwnedFd,
    codec: C,
    message_bytes: usize,
    /// Buffers for two compressed messages: the one being sent and the one being received.
    buffers: Option<[Buffer; 2]>,
    /// Length of a compressed message for which the socket had no room.
    pending: Option<usize>,
}

impl<C: Codec> Endpoint for CompressedEnd<C> {
    const KEEPS_BOUNDARIES: bool = true;

    fn prepare(&mut self) -> Result<(), Errno> {
        let new_buffer = || Buffer::new_touched(C::max_compressed_bytes(self.message_bytes), 0);
        let [mut outgoing, incoming] = [new_buffer()?, new_buffer()?];
        // Compress and expand one message now: the codec then has allocated what it allocates at first use,
        // and memory that it allocated before the fork is this peer's own copy.
        let mut message = Buffer::new_touched(self.message_bytes, 0x5A)?;
        let length = self.codec.compress(&message, &mut outgoing).ok_or(Errno::MSGSIZE)?;
        self.codec.decompress(&outgoing[..length], &mut message).ok_or(Errno::BADMSG)?;
        self.buffers = Some([outgoing, incoming]);
        Ok(())
    }

    #[inline]
    fn send(&mut self, bytes: &[u8]) -> Result<usize, Errno> {
        let [outgoing, _] = self.buffers.as_mut().ok_or(Errno::NOMEM)?;
        let length = match self.pending.take() {
            Some(length) => length,
            None => self.codec.compress(bytes, outgoing).ok_or(Errno::MSGSIZE)?,
        };
        match read_write::write(&self.socket, &outgoing[..length]) {
            Ok(_) => Ok(bytes.len()),
            Err(errno) => {
                self.pending = Some(length);
                Err(errno)
            }
        }
    }

    #[inline]
    fn recv(&mut self, bytes: &mut [u8]) -> Result<usize, Errno> {
        let [_, incoming] = self.buffers.as_mut().ok_or(Errno::NOMEM)?;
        match read_write::read(&self.socket, &mut incoming[..])? {
            0 => Ok(0),
            length => self.codec.decompress(&incoming[..length], bytes).ok_or(Errno::BADMSG),
        }
    }

    fn descriptors(&self) -> Option<Descriptors<'_>> {
        Some(Descriptors { read: self.socket.as_fd(), write: self.socket.as_fd() })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_carries<C: Codec>(message: &[u8]) {
        let (mut codec, mut packed) = (C::new(), vec![0; C::max_compressed_bytes(message.len())]);
        for _ in 0..2 {
            let length = codec.compress(message, &mut packed).unwrap();
            let mut unpacked = vec![0; message.len()];
            assert_eq!(codec.decompress(&packed[..length], &mut unpacked), Some(message.len()));
            assert_eq!(unpacked, message);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn any_message_fits_and_comes_back(
            message in prop::collection::vec(any::<u8>(), 1..100_000),
            repeated in 1_usize..100_000,
        ) {
            assert_carries::<Deflate>(&message);
            assert_carries::<Lz4>(&message);
            assert_carries::<Deflate>(&vec![0x5A; repeated]);
            assert_carries::<Lz4>(&vec![0x5A; repeated]);
            #[cfg(feature = "zstd")]
            for message in [message, vec![0x5A; repeated]] {
                assert_carries::<zstd_codec::Zstd>(&message);
            }
        }
    }
}
