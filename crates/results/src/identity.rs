//! Which case, and which run of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ipcperf_model::case_id::{CaseName, NamedAmount};
use ipcperf_model::mechanism::CaseFacts;
use ipcperf_model::message_options::{Content, FirstTouch, Handling, Reply, Reuse, Touch};
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::Kind;
use ipcperf_model::{Mode, RunSpec, TouchCheck};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cell of the matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseIdentity {
    /// Names the case: the same in every file that has it.
    pub case_id: String,
    /// Mechanism.
    pub mechanism: String,
    /// The mechanism's options that were set.
    pub options: BTreeMap<String, String>,
    /// Workload.
    pub workload: Kind,
    /// Mode.
    pub mode: Mode,
    /// Placement.
    pub placement: String,
    /// CPUs of sender and receiver, or of the one thread; empty where the scheduler chose.
    pub cpus: Vec<u32>,
    /// Bytes handed to one call, or of one message.
    pub buffer_bytes: u64,
    /// What was said of the kernel's buffer: `default`, `match`, or bytes.
    pub kernel_buffer: String,
    /// What the kernel was asked to hold between the parties; null for its default.
    pub kernel_buffer_asked_bytes: Option<u64>,
    /// Who wrote and read every byte.
    #[serde(default)]
    pub touch: Touch,
    /// What messages held: `constant`, `random`, or `compressible:R`.
    #[serde(default)]
    pub payload: Content,
    /// Whether messages lay where the one before lay.
    #[serde(default)]
    pub buffers: Reuse,
    /// When buffers were touched first.
    #[serde(default)]
    pub first_touch: FirstTouch,
    /// What a request was answered with: `echo`, or bytes; null in other workloads.
    #[serde(default)]
    pub reply: Option<Reply>,
    /// Bytes of the answer to each message; null where there is none.
    #[serde(default)]
    pub reply_bytes: Option<u64>,
    /// Whether order, length and content of each message were checked.
    pub verify: bool,
    /// What is known of its mechanism, from the header; none in a file of old.
    #[serde(skip)]
    pub facts: Option<CaseFacts>,
    /// What its name is made of, from the header; none in a file of old, and of what was refused.
    #[serde(skip)]
    pub name: Option<Arc<CaseName>>,
}

/// Longer names than this no file has that was measured: tables, figures and their words are made of
/// them, over and over.
const LONGEST_NAME: usize = 4_096;

/// That `name` is no longer than names are.
///
/// # Errors
/// How long it is.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(format!("a name of {} bytes: longer than {LONGEST_NAME} no name is", name.len()))
}

impl CaseIdentity {
    /// Whether nothing moves: what remains is the harness.
    #[must_use]
    pub fn moves_nothing(&self) -> bool {
        self.facts.as_ref().is_some_and(CaseFacts::moves_nothing)
    }

    /// What is done with messages.
    pub fn handling(&self) -> Handling {
        Handling {
            touch: self.touch,
            content: self.payload,
            buffers: self.buffers,
            first_touch: self.first_touch,
            reply: self.reply.unwrap_or_default(),
        }
    }

    /// What was asked for that is not as usual, and no factor with a column or heading of its own: the
    /// flag without its dashes, and what it was given.
    pub fn conditions(&self) -> Vec<(&'static str, String)> {
        let kernel_buffer = Some(("kernel-buffer", self.kernel_buffer.clone()));
        let kernel_buffer = kernel_buffer.filter(|(_, asked)| asked != "default");
        kernel_buffer.into_iter().chain(self.handling().conditions()).collect()
    }

    /// How much the case moves, where its name has that: others of the file move another amount.
    pub fn amount(&self) -> Option<NamedAmount> {
        self.name.as_ref()?.parts.amount
    }

    /// The name that the case would have without instruments.
    #[must_use]
    pub fn cell(&self) -> &str {
        self.name.as_ref().map_or(&self.case_id, |name| &name.cell)
    }

    /// Whether instruments that disturb watch it.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.is_watched())
    }

    /// That its names are no longer than names are.
    ///
    /// # Errors
    /// How long one is.
    pub(super) fn check_names(&self) -> Result<(), String> {
        let Self { case_id, mechanism, placement, kernel_buffer, .. } = self;
        let options = self.options.iter().flat_map(|(name, value)| [name, value]);
        let all = [case_id, mechanism, placement, kernel_buffer].into_iter().chain(options);
        all.map(String::as_str).try_for_each(check_name)
    }
}

impl CaseIdentity {
    /// The case called `id`, as `spec` and `placement` have it.
    pub fn new(id: &str, spec: &RunSpec, placement: Placement, facts: Option<CaseFacts>) -> Self {
        Self {
            case_id: id.to_owned(),
            mechanism: spec.mechanism.clone(),
            options: spec.options.clone(),
            workload: spec.workload,
            mode: spec.mode,
            placement: placement.to_string(),
            cpus: match spec.cpus {
                Some([cpu, _]) if spec.mode == Mode::OneThread => vec![cpu],
                Some(cpus) => cpus.to_vec(),
                None => Vec::new(),
            },
            buffer_bytes: spec.buffer_bytes,
            kernel_buffer: spec.kernel_buffer.to_string(),
            kernel_buffer_asked_bytes: spec.kernel_buffer.asked_bytes(spec.buffer_bytes),
            touch: spec.handling.touch,
            payload: spec.handling.content,
            buffers: spec.handling.buffers,
            first_touch: spec.handling.first_touch,
            reply: (spec.workload == Kind::RequestReply).then_some(spec.handling.reply),
            reply_bytes: spec.reply_bytes(),
            verify: spec.check == TouchCheck::Verify,
            facts,
            name: None,
        }
    }

    /// The same case with what its name is made of.
    #[must_use]
    pub fn named(self, name: CaseName) -> Self {
        Self { name: Some(Arc::new(name)), ..self }
    }
}

/// Which run of which case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunIdentity {
    /// Names the run within its file.
    pub run_id: String,
    /// The block it lies in, from 0.
    pub block: u32,
    /// 1, and more for a run that was repeated in its block.
    pub attempt: u32,
    /// The repetition it is, from 0, which is set aside.
    pub repetition: u32,
    /// Which case.
    #[serde(flatten)]
    pub case: CaseIdentity,
}

/// The name of a run within its file.
pub(crate) fn run_id(block: u32, position: usize, attempt: u32) -> String {
    format!("{block}.{position}.{attempt}")
}

impl RunIdentity {
    /// The run of `case` at `position` of `block`, at its `attempt`.
    #[must_use]
    pub fn new(case: CaseIdentity, block: u32, position: usize, attempt: u32) -> Self {
        let run_id = run_id(block, position, attempt);
        Self { run_id, block, attempt, repetition: block, case }
    }
}
