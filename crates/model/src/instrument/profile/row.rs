//! Rows that describe the profile of one role.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

/// One row. Each role has one `summary`, and any number of the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "kebab-case")]
pub enum ProfileRow {
    /// Description of the sampling.
    Summary(ProfileSummary),
    /// Time by group of symbols.
    Group(GroupShare),
    /// Time by symbol.
    Symbol(SymbolShare),
    /// Samples by call stack.
    Stack(Stack),
}

/// Description of the sampling of one role in the measured phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileSummary {
    /// Event that triggers samples.
    pub event: String,
    /// Requested sampling frequency: samples per second of CPU time of a thread.
    pub frequency_hz: u64,
    /// Threads that were sampled.
    pub sampled: SampledThreads,
    /// Number of samples.
    pub samples: u64,
    /// Number of events that the samples stand for; for a clock, ns.
    pub events: u64,
    /// Number of samples taken in the kernel; null if the kernel was not sampled.
    pub kernel_samples: Option<u64>,
    /// Time at the start of the phase whose samples were overwritten by later samples, ns. Usually zero.
    pub overwritten_ns: u64,
    /// Source of the kernel symbols; null if the kernel was not sampled.
    pub kernel_symbols: Option<KernelSymbols>,
    /// Share of samples at functions in which the kernel enables interrupts again. If the event is a timer interrupt,
    /// the interrupt of such a sample was due earlier, while interrupts were off: in this function or in a function
    /// before it. Null if there are no symbols or no samples.
    pub skid_share: Option<f64>,
    /// Share of the role's CPU time that the samples stand for, if the event is a clock. It is below 1 if interrupts
    /// came late or not at all. Null if the CPU time is unknown.
    #[serde(default)]
    pub cpu_time_coverage: Option<f64>,
}

/// Threads that the event samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SampledThreads {
    /// Any thread on the CPUs that the peers may use; samples of other processes are discarded.
    Cpus,
    /// Only the threads of the peers. The timer of a clock event is then set at every context switch, and many of
    /// its interrupts are due before the switch ends, so the share of scheduling is too large.
    Threads,
}

/// Source of the kernel symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelSymbols {
    /// Read from the kernel.
    Read,
    /// Hidden: the kernel reports zeroes to unprivileged readers. ipcperf found the places where the kernel copies
    /// beforehand, by sampling a known copy.
    Hidden,
}

/// Share of one group of functions in the samples of a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupShare {
    /// Group of the functions.
    pub group: Group,
    /// Number of samples at functions of this group.
    pub samples: u64,
    /// Number of these samples taken in the kernel; null if the kernel was not sampled.
    pub kernel_samples: Option<u64>,
    /// Share of all samples of the role, each weighted by the number of events that it stands for.
    pub share: f64,
    /// Lower bound of the 95 % interval of the share (Wilson score interval). The interval assumes independent
    /// samples. Samples that are delayed while interrupts are off are not independent, and the resulting bias is
    /// not covered by the interval.
    pub share_low: f64,
    /// Upper bound of the interval.
    pub share_high: f64,
    /// Whether the kernel's part was inferred from places where copying was detected, not from symbol names.
    pub inferred: bool,
}

/// Share of one function in the samples of a role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SymbolShare {
    /// Name of the function; if it has none, a description of the location in brackets.
    pub symbol: String,
    /// Kernel or user space.
    pub space: Space,
    /// Object file: `vmlinux`, a kernel module, or the name of a file.
    pub object: String,
    /// Group of the function.
    pub group: Group,
    /// Number of samples at the function.
    pub samples: u64,
    /// Share of all samples of the role, each weighted by the number of events that it stands for.
    pub share: f64,
}

/// Samples with one call stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Call stack in the format of flame graph tools: `role;outermost;...;innermost`, with kernel functions marked
    /// by `_[k]`.
    pub stack: String,
    /// Number of samples with this stack.
    pub samples: u64,
}

/// Separator of the functions of a stack.
const SEPARATOR: char = ';';
/// Suffix of a kernel function, as in other tools.
const IN_KERNEL: &str = "_[k]";

/// Function in a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame<'a> {
    /// Kernel or user space.
    pub space: Space,
    /// Name of the function.
    pub symbol: &'a str,
}

impl Stack {
    /// Formats the stack of `role` with `frames`, outermost first. Separators within a name are replaced.
    pub fn text<'a>(role: &str, frames: impl IntoIterator<Item = StackFrame<'a>>) -> String {
        let mut text = role.to_owned();
        for StackFrame { space, symbol } in frames {
            let symbol = symbol.replace(SEPARATOR, ":").replace('\n', " ");
            let _ = write!(text, "{SEPARATOR}{}", StackFrame { space, symbol: &symbol });
        }
        text
    }

    /// Returns the role, as if it were a function, and the functions, outermost first.
    pub fn frames(&self) -> impl Iterator<Item = StackFrame<'_>> {
        self.stack.split(SEPARATOR).map(|frame| match frame.strip_suffix(IN_KERNEL) {
            Some(symbol) => StackFrame { space: Space::Kernel, symbol },
            None => StackFrame { space: Space::User, symbol: frame },
        })
    }
}

impl fmt::Display for StackFrame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.space {
            Space::Kernel => IN_KERNEL,
            Space::User => "",
        };
        write!(f, "{}{mark}", self.symbol)
    }
}

/// Kernel or user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// In the kernel.
    Kernel,
    /// In the program and its libraries.
    User,
}

/// Group of functions by what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Copies bytes from one place to another.
    Copying,
    /// Decides which thread runs, and switches to it.
    Scheduling,
    /// Waits for, takes and releases locks.
    Locking,
    /// Allocates and frees memory.
    Allocation,
    /// Enters and leaves the kernel.
    EntryExit,
    /// Does anything else.
    Other,
    /// Unknown, because the kernel hides its symbols.
    Unresolved,
}

impl Group {
    /// All groups, in display order.
    pub const ALL: [Self; 7] = [
        Self::Copying,
        Self::Scheduling,
        Self::Locking,
        Self::Allocation,
        Self::EntryExit,
        Self::Other,
        Self::Unresolved,
    ];

    /// Returns the colour of the group as an SVG colour. The colours can be distinguished on light and dark
    /// backgrounds.
    #[must_use]
    pub const fn color(self) -> &'static str {
        match self {
            Self::Copying => "#e4572e",
            Self::Scheduling => "#2e86ab",
            Self::Locking => "#a23b72",
            Self::Allocation => "#f3a712",
            Self::EntryExit => "#5b8c5a",
            Self::Other => "#8d99ae",
            Self::Unresolved => "#c9ced6",
        }
    }

    /// Returns the word used in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copying => "copying",
            Self::Scheduling => "scheduling",
            Self::Locking => "locking",
            Self::Allocation => "allocation",
            Self::EntryExit => "entry-exit",
            Self::Other => "other",
            Self::Unresolved => "unresolved",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Observation;

    #[test]
    fn a_group_has_the_word_that_results_use() {
        for group in Group::ALL {
            assert_eq!(serde_json::to_value(group).unwrap(), group.name());
        }
    }

    #[test]
    fn a_stack_has_the_frames_that_it_was_formatted_from() {
        let frames = [
            StackFrame { space: Space::User, symbol: "take::<[u8; 4]>" },
            StackFrame { space: Space::Kernel, symbol: "pipe_write" },
        ];
        let stack = Stack { stack: Stack::text("both", frames), samples: 3 };
        assert_eq!(stack.stack, "both;take::<[u8: 4]>;pipe_write_[k]");
        let symbols: Vec<&str> = stack.frames().map(|frame| frame.symbol).collect();
        assert_eq!(symbols, ["both", "take::<[u8: 4]>", "pipe_write"]);
        assert_eq!(stack.frames().last(), Some(frames[1]));
    }

    #[test]
    fn rows_are_told_apart() {
        let stack = ProfileRow::Stack(Stack { stack: "sender;main".to_owned(), samples: 3 });
        let told = Observation::from_row(Some("sender"), &stack);
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(text, r#"{"role":"sender","row":"stack","samples":3,"stack":"sender;main"}"#);
        assert_eq!(told.row::<ProfileRow>(), Some(stack));
    }
}
