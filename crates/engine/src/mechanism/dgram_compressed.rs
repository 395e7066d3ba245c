//! `dgram-compressed`: Unix domain datagrams that the sender compresses.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, Unrelated,
};

use super::feature::Feature;
use super::waiting::{WAIT_NONBLOCKING, WAITS};
use crate::channel::{
    Choice, Documentation, MULTIPLEX, ManyPeers, Mechanism, OptionSpec, OptionValues,
};

#[cfg(not(target_os = "linux"))]
use super::needs_linux as endpoint;

/// Option that selects the compression method.
const CODEC: OptionSpec = OptionSpec {
    name: "codec",
    about: "deflate at level 6 (gzip's default), lz4, or zstd at level 3",
    values: OptionValues::Choices(&[
        Choice { value: "deflate", availability: || Ok(()) },
        Choice { value: "lz4", availability: || Ok(()) },
        Choice { value: "zstd", availability: || FEATURE.availability() },
    ]),
    default: "deflate",
};

/// The C library of zstd takes longer to compile than most mechanisms together.
const FEATURE: Feature = Feature { name: "zstd", is_built_in: cfg!(feature = "zstd"), needs: "" };

/// Facts about `dgram-compressed`.
pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "dgram-compressed",
    about: "Unix datagram with the compressed message",
    boundaries: Boundaries::Preserved,
    delivery: Delivery::Reliable,
    path: PayloadPath::Kernel,
    waits: WAITS,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    many_peers: ManyPeers::Multiplexed,
    options: &[CODEC, WAIT_NONBLOCKING, MULTIPLEX],
    modes: &Mode::INHERITED,
    documentation: Documentation {
        how_it_works: "The sender compresses each message as a whole, and the receiver \
            decompresses it. The compressed message is sent as with unix-dgram: one call for each \
            send and one for each receive. The output of deflate is raw: it has neither the header \
            nor the checksum of gzip. The implementations of deflate (miniz_oxide through flate2) \
            and lz4 (lz4_flex) are written in Rust and are a little slower than those in C. For \
            zstd, ipcperf uses the C library, with one thread and no checksum. The codec zstd is \
            included only in builds with the feature zstd: cargo build --release --features zstd. \
            Each peer creates the state of its codec once, and compresses and decompresses one \
            message before the clock starts.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "The result depends on the content of the messages, which --payload selects. By \
            default, all bytes of a message are the same. Deflate compresses a large message of this kind to about \
            1/1000 of its size, and lz4 to about 1/250 of its size. With zstd, about 20 bytes remain. With --payload \
            compressible:R, 1/R of each KiB is random and the rest is constant, so the messages can be compressed to \
            about 1/R of their size. With --verify or --payload random, all bytes are random, so compression does \
            not make the messages smaller. It can even make a message larger. ipcperf therefore limits the size of \
            messages, so that the compressed message fits into a datagram in any case. The limit allows for a \
            large message to grow by up to 10 % with deflate and lz4, and by up to 1 % with zstd.",
        references: &["man:unix(7)", "RFC 1951", "the LZ4 block format", "RFC 8878"],
    },
    ..endpoint::IMPLEMENTATION
};
