//! Identity of a case, and of one of its runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use ipcperf_model::case_id::{CaseName, NamedAmount};
use ipcperf_model::mechanism::CaseFacts;
use ipcperf_model::message_options::{
    BufferReuse, Content, FirstTouch, MessageOptions, Reply, Touch,
};
use ipcperf_model::message_sizes::{MessageSizes, SizeShare, WHOLE};
use ipcperf_model::pacing::{Arrivals, Pacer, Pacing, RATE_FLAG};
use ipcperf_model::placement::Placement;
use ipcperf_model::prefixes::Prefixes;
use ipcperf_model::workload::WorkloadKind;
use ipcperf_model::{Condition, ConditionValue, Mode, PayloadCheck, RunSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Identity of a case: one cell of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseIdentity {
    /// Name of the case, the same in every file that contains it.
    pub case_id: String,
    /// Name of the mechanism.
    pub mechanism: String,
    /// Options of the mechanism that were set.
    pub options: BTreeMap<String, String>,
    /// Traffic pattern.
    pub workload: WorkloadKind,
    /// Kind of the peers: threads or processes.
    pub mode: Mode,
    /// Placement of the peers on CPUs.
    pub placement: String,
    /// Number of peers on the side that has several, or of pairs; absent for workloads with two peers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<u32>,
    /// Commands in front of the programs of the peers, in mode 2exec; absent if there were none.
    #[serde(default, skip_serializing_if = "Prefixes::is_empty")]
    pub prefixes: Prefixes,
    /// CPUs of sender and receiver, or of the single thread; with more peers, of all of them, the senders first. Empty if the
    /// scheduler chose.
    pub cpus: Vec<u32>,
    /// Bytes passed to one call, or size of one message; of the largest one if they have different sizes.
    pub buffer_bytes: u64,
    /// Sizes of the messages with their shares, such as `200B:90%,64KiB:10%`; absent if all have one size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_sizes: Option<MessageSizes>,
    /// Setting of the kernel buffer: `default`, `match`, or bytes.
    pub kernel_buffer: String,
    /// Kernel buffer size requested, bytes; null for the kernel's default.
    pub kernel_buffer_requested_bytes: Option<u64>,
    /// Peers that accessed every payload byte.
    #[serde(default)]
    pub touch: Touch,
    /// Content of the messages: `constant`, `random`, or `compressible:R`.
    #[serde(default)]
    pub payload: Content,
    /// Buffers that successive messages used.
    #[serde(default)]
    pub buffers: BufferReuse,
    /// Time at which buffers were first touched.
    #[serde(default)]
    pub first_touch: FirstTouch,
    /// Reply to a request: `echo`, or bytes; null in other workloads.
    #[serde(default)]
    pub reply: Option<Reply>,
    /// Size of the answer to each message, bytes; null if messages are not answered.
    #[serde(default)]
    pub reply_bytes: Option<u64>,
    /// Scheduled messages, or requests, per second; absent if each is sent as soon as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u64>,
    /// Arrivals of the schedule: `even`, `poisson` or `burst:K`; absent without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Arrivals>,
    /// How the sender waits for the time of a message; absent without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer: Option<Pacer>,
    /// Number of messages in the schedule; absent without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_messages: Option<u64>,
    /// Whether order, length and content of each message were checked.
    pub verify: bool,
    /// Properties of the mechanism, from the header; absent in files of older versions and for refused cells.
    #[serde(skip)]
    pub facts: Option<CaseFacts>,
    /// Components of the name, from the header; absent in files of older versions and for refused cells.
    #[serde(skip)]
    pub name: Option<Arc<CaseName>>,
}

/// Keys of the schedule of a case, which only paced cases have.
pub const SCHEDULE_KEYS: [&str; 4] = ["rate_per_s", "arrivals", "pacer", "scheduled_messages"];

/// Keys that only samples of cases with several peers have.
pub const PEERS_KEYS: [&str; 4] = ["peers", "slowest_peer_per_s", "fastest_peer_per_s", "fairness"];

/// Maximum length of a name, bytes. No measured file has a longer one. Tables, figures and their texts repeat names
/// many times, so an untrusted file must not have huge ones.
const MAX_NAME_BYTES: usize = 4_096;

/// Checks that `name` is not too long.
///
/// # Errors
/// Returns a message with the length.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(format!("a name is {} bytes long; the maximum is {MAX_NAME_BYTES}", name.len()))
}

impl CaseIdentity {
    /// Whether nothing is transferred, so that the run measures the harness alone.
    #[must_use]
    pub fn is_harness_only(&self) -> bool {
        self.facts.as_ref().is_some_and(CaseFacts::is_harness_only)
    }

    /// Returns the message options.
    pub fn message_options(&self) -> MessageOptions {
        MessageOptions {
            sizes: self.message_sizes,
            touch: self.touch,
            content: self.payload,
            buffers: self.buffers,
            first_touch: self.first_touch,
            reply: self.reply.unwrap_or_default(),
        }
    }

    /// Names the size of the messages: `64 KiB`, or `up to 64 KiB` if they have different sizes.
    #[must_use]
    pub fn size_text(&self) -> String {
        self.message_options().size_text(self.buffer_bytes)
    }

    /// Returns the sizes of the messages, bytes, each with its share of them.
    #[must_use]
    pub fn size_shares(&self) -> Vec<(u64, f64)> {
        let share = |one: &SizeShare| (one.bytes, f64::from(one.share) / f64::from(WHOLE));
        match &self.message_sizes {
            None => vec![(self.buffer_bytes, 1.0)],
            Some(sizes) => sizes.shares().iter().map(share).collect(),
        }
    }

    /// Returns the mean size of the messages, bytes.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "bytes of a message")]
    pub fn mean_message_bytes(&self) -> f64 {
        self.size_shares().iter().map(|(bytes, share)| *bytes as f64 * share).sum()
    }

    /// Returns the schedule of the messages.
    #[must_use]
    pub fn pacing(&self) -> Option<Pacing> {
        Some(Pacing {
            rate_per_s: self.rate_per_s?,
            arrivals: self.arrivals?,
            pacer: self.pacer?,
            messages: self.scheduled_messages?,
            seed: 0,
        })
    }

    /// Returns the settings that differ from their defaults and have no column or heading of their own.
    pub fn non_defaults(&self) -> Vec<Condition> {
        let asked = &self.kernel_buffer;
        let value = asked
            .parse()
            .map_or_else(|_| ConditionValue::Word(asked.clone()), ConditionValue::Bytes);
        let kernel_buffer = Condition { flag: "kernel-buffer", value };
        let kernel_buffer = (asked != "default").then_some(kernel_buffer);
        let settings = kernel_buffer.into_iter().chain(self.message_options().non_defaults());
        settings.chain(self.prefixes.conditions()).chain(self.unusual_pacing()).collect()
    }

    /// Returns the settings of the schedule, other than the rate, that differ from their defaults.
    fn unusual_pacing(&self) -> Vec<Condition> {
        let (Some(pacing), Ok(placement)) = (self.pacing(), self.placement.parse()) else {
            return Vec::new();
        };
        let conditions = pacing.conditions(self.mode, placement);
        conditions.into_iter().filter(|condition| condition.flag != RATE_FLAG).collect()
    }

    /// Returns the amount of payload if it is part of the name, because other cases of the file move another
    /// amount.
    pub fn amount(&self) -> Option<NamedAmount> {
        self.name.as_ref()?.parts.amount
    }

    /// Returns the name that the case would have without instruments.
    #[must_use]
    pub fn cell(&self) -> &str {
        self.name.as_ref().map_or(&self.case_id, |name| &name.cell)
    }

    /// Whether instruments that disturb observe the case.
    #[must_use]
    pub fn is_instrumented(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.is_instrumented())
    }

    /// Checks that none of the names is too long.
    ///
    /// # Errors
    /// Returns a message with the length of the first one that is.
    pub(super) fn check_names(&self) -> Result<(), String> {
        let Self { case_id, mechanism, placement, kernel_buffer, .. } = self;
        let options = self.options.iter().flat_map(|(name, value)| [name, value]);
        let prefixes = [&self.prefixes.sender, &self.prefixes.receiver].into_iter().flatten();
        let all = [case_id, mechanism, placement, kernel_buffer].into_iter().chain(options);
        let all = all.chain(prefixes);
        all.map(String::as_str).try_for_each(check_name)
    }
}

impl CaseIdentity {
    /// Builds the identity of the case called `id` from `spec` and `placement`.
    pub fn new(id: &str, spec: &RunSpec, placement: Placement, facts: Option<CaseFacts>) -> Self {
        Self {
            case_id: id.to_owned(),
            mechanism: spec.mechanism.to_string(),
            options: spec.options.clone(),
            workload: spec.workload,
            mode: spec.mode,
            placement: placement.to_string(),
            peers: spec.peers.as_ref().map(|peers| peers.count),
            prefixes: spec.prefixes.clone(),
            cpus: match spec.cpus {
                Some([cpu, _]) if spec.mode == Mode::OneThread => vec![cpu],
                Some(_) => spec.peer_cpus(),
                None => Vec::new(),
            },
            buffer_bytes: spec.buffer_bytes,
            message_sizes: spec.message_options.sizes,
            kernel_buffer: spec.kernel_buffer.to_string(),
            kernel_buffer_requested_bytes: spec.kernel_buffer.requested_bytes(spec.buffer_bytes),
            touch: spec.message_options.touch,
            payload: spec.message_options.content,
            buffers: spec.message_options.buffers,
            first_touch: spec.message_options.first_touch,
            reply: spec.workload.takes_reply().then_some(spec.message_options.reply),
            reply_bytes: spec.reply_bytes(),
            rate_per_s: spec.pacing.map(|pacing| pacing.rate_per_s),
            arrivals: spec.pacing.map(|pacing| pacing.arrivals),
            pacer: spec.pacing.map(|pacing| pacing.pacer),
            scheduled_messages: spec.pacing.map(|pacing| pacing.messages),
            verify: spec.check == PayloadCheck::Verify,
            facts,
            name: None,
        }
    }

    /// Adds the components of the name.
    #[must_use]
    pub fn with_name(self, name: CaseName) -> Self {
        Self { name: Some(Arc::new(name)), ..self }
    }
}

/// Identity of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunIdentity {
    /// Name of the run, unique within its file.
    pub run_id: String,
    /// Number of the block, from 0.
    pub block: u32,
    /// Number of the attempt: 1, or more for a run that was retried in its block.
    pub attempt: u32,
    /// Number of the repetition, from 0, which is excluded.
    pub repetition: u32,
    /// Identity of the case.
    #[serde(flatten)]
    pub case: CaseIdentity,
}

/// Returns the name of a run within its file.
pub(crate) fn run_id(block: u32, position: usize, attempt: u32) -> String {
    format!("{block}.{position}.{attempt}")
}

impl RunIdentity {
    /// Builds the identity of the run of `case` at `position` of `block`, with number `attempt`.
    #[must_use]
    pub fn new(case: CaseIdentity, block: u32, position: usize, attempt: u32) -> Self {
        let run_id = run_id(block, position, attempt);
        Self { run_id, block, attempt, repetition: block, case }
    }
}
