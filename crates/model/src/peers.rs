//! Number of peers of a run, for workloads with more than two.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of peers on the side that has several, or of pairs.
pub const MAX_PEERS: u32 = 64;

/// Flag that sets the number of peers, without its dashes.
pub const PEERS_FLAG: &str = "peers";

/// Peers of a run. Each is connected to the only peer of the other side, or to the other peer of its pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peers {
    /// Number of connections: of peers on the side that has several, or of pairs.
    pub count: u32,
    /// CPUs of sender and receiver of each connection; empty if the scheduler chooses.
    pub cpus: Vec<[u32; 2]>,
}
