//! `dgram-compressed`: Unix domain datagrams that the sender compresses.

#[cfg(target_os = "linux")]
mod endpoint;

use ipcperf_model::Mode;
use ipcperf_model::mechanism::{
    Boundaries, Delivery, Helper, PayloadPath, PayloadTransfer, PeerDeath, PeerWait, Unrelated,
};

use super::feature::Feature;
use crate::channel::{Choice, Documentation, Mechanism, OptionSpec, OptionValues};

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
    waits: PeerWait::Sleeps,
    payload: PayloadTransfer::Copied,
    peer_death: PeerDeath::ErrorOnSend,
    unrelated: Unrelated::No("descriptors must be inherited or passed"),
    helper: Helper::None,
    options: &[CODEC],
    modes: &Mode::ALL,
    documentation: Documentation {
        how_it_works: "The sender compresses each message as a whole, and the receiver \
            decompresses it. In between, the message travels as with unix-dgram: one call for each \
            send and one for each receive. Deflate is raw, without gzip's header and checksum. The \
            implementations of deflate (miniz_oxide through flate2) and lz4 (lz4_flex) are written \
            in Rust and are a little slower than those in C. For zstd, ipcperf uses the C library, \
            with one thread and no checksum. It is included only in builds with the feature zstd: \
            cargo build --release --features zstd. Each peer creates the state of its codec once. \
            It compresses and decompresses one message before the clock starts.",
        message_boundaries: "Kept: each receive returns one message.",
        minimum_kernel: "Any.",
        defaults_that_matter: "The result depends on the content of the messages, which --payload selects. By \
            default, all bytes of a message are the same. Deflate compresses such a message to 1/1000 of its size, \
            lz4 to 1/250, and zstd to some 20 bytes. With --payload compressible:R, one R-th of each KiB is random \
            and the rest is constant, so the messages can be compressed to about one R-th of their size. With \
            --verify or --payload random, the messages do not become smaller. A codec can make a message longer. \
            The largest message is therefore so small that even the longest possible result fits into a datagram. \
            A large message grows by at most a tenth with deflate and lz4, and by less than a hundredth with zstd.",
        references: &["man:unix(7)", "RFC 1951", "the LZ4 block format", "RFC 8878"],
    },
    ..endpoint::IMPLEMENTATION
};
