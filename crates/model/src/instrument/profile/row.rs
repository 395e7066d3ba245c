//! What is told of one role.

use serde::{Deserialize, Serialize};

/// One row. Each role has one `summary`, and as many of the others as there is to tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "row", rename_all = "kebab-case")]
pub enum Row {
    /// How it was sampled.
    Summary(Summary),
    /// What it was at, by groups of symbols.
    Group(GroupShare),
    /// Where it was.
    Symbol(SymbolShare),
    /// Where it was, and who had called.
    Stack(Stack),
}

/// How one role was sampled in the phase that counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// By which event.
    pub event: String,
    /// Samples asked for in each second of a thread on a CPU.
    pub frequency_hz: u64,
    /// Whom it interrupted.
    pub reach: Reach,
    /// Samples taken.
    pub samples: u64,
    /// Of how many events they are samples; for a clock, ns.
    pub events: u64,
    /// How many were taken in the kernel; null where the kernel's side is not told.
    pub kernel_samples: Option<u64>,
    /// The part of the phase, from its beginning, of which samples were overwritten by later ones, ns. Zero
    /// as a rule.
    pub overwritten_ns: u64,
    /// How the kernel's symbols were had; null where its side is not told.
    pub kernel_symbols: Option<KernelSymbols>,
    /// The share of samples at functions in which the kernel lets interrupts in again. Where the event is a
    /// timer's interrupt, such a sample was due earlier, while they were off, in this function or before it.
    /// Null where there are no symbols to tell by, or no samples.
    pub skid_share: Option<f64>,
    /// For how much of the role's CPU time the samples stand, where the event is a clock: less than all where
    /// interrupts came late or not at all. Null where the CPU time is not known.
    #[serde(default)]
    pub covered_share: Option<f64>,
}

/// Whom the event interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Whoever was on one of the CPUs that the parties may use; what others did was left out.
    Cpus,
    /// The threads of the parties. The timer of a clock is then set at every switch, and many of its
    /// interrupts are due before the switch ends: switching is told too large.
    Threads,
}

/// How the kernel's symbols were had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelSymbols {
    /// The kernel tells them.
    Read,
    /// It tells zeroes to whoever may not know; where it copies was learned beforehand.
    Hidden,
}

/// What a role was at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupShare {
    /// Of symbols.
    pub group: Group,
    /// Samples at functions of this group.
    pub samples: u64,
    /// How many of them were taken in the kernel; null where the kernel's side is not told.
    pub kernel_samples: Option<u64>,
    /// Their share of all samples of the role, each weighed by the events that it stands for.
    pub share: f64,
    /// A 95 % interval of the share (Wilson's), as if samples were independent: where an interrupt is held
    /// off, they are not, and what a share is off by for that reason is not in the interval.
    pub share_low: f64,
    /// Its upper end.
    pub share_high: f64,
    /// Whether the kernel's part is known from where it was seen to copy, not from names.
    pub learned: bool,
}

/// Where a role was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SymbolShare {
    /// The function; in brackets what is known of the place where it has no name.
    pub symbol: String,
    /// The kernel or outside.
    pub space: Space,
    /// `vmlinux`, a module of the kernel, or the name of a file.
    pub object: String,
    /// To which it belongs.
    pub group: Group,
    /// Samples there.
    pub samples: u64,
    /// Their share of all samples of the role, each weighed by the events that it stands for.
    pub share: f64,
}

/// Where a role was, and who had called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// `role;outermost;...;innermost`, a function of the kernel marked by `_[k]`: what programs that draw
    /// flame graphs read.
    pub stack: String,
    /// Samples there.
    pub samples: u64,
}

/// On which side of a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// In the kernel.
    Kernel,
    /// In the program and its libraries.
    User,
}

/// What functions do. The word used in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// They move bytes from one place to another.
    Copying,
    /// They decide who runs, and switch.
    Scheduling,
    /// They wait for, take and give back locks.
    Locking,
    /// They get and give back memory.
    Allocation,
    /// They lead into the kernel and out of it.
    EntryExit,
    /// Anything else.
    TheRest,
    /// What they do is not known: the kernel keeps its symbols to itself.
    Unresolved,
}

impl Group {
    /// All, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Copying,
        Self::Scheduling,
        Self::Locking,
        Self::Allocation,
        Self::EntryExit,
        Self::TheRest,
        Self::Unresolved,
    ];

    /// In which it is drawn, as SVG has colours: told apart on light and on dark.
    #[must_use]
    pub const fn colour(self) -> &'static str {
        match self {
            Self::Copying => "#e4572e",
            Self::Scheduling => "#2e86ab",
            Self::Locking => "#a23b72",
            Self::Allocation => "#f3a712",
            Self::EntryExit => "#5b8c5a",
            Self::TheRest => "#8d99ae",
            Self::Unresolved => "#c9ced6",
        }
    }

    /// Its word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Copying => "copying",
            Self::Scheduling => "scheduling",
            Self::Locking => "locking",
            Self::Allocation => "allocation",
            Self::EntryExit => "entry-exit",
            Self::TheRest => "the-rest",
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
            assert_eq!(serde_json::to_value(group).unwrap(), group.word());
        }
    }

    #[test]
    fn rows_are_told_apart() {
        let stack = Row::Stack(Stack { stack: "sender;main".to_owned(), samples: 3 });
        let told = Observation::of(Some("sender"), &stack);
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(text, r#"{"role":"sender","row":"stack","samples":3,"stack":"sender;main"}"#);
        assert_eq!(told.row::<Row>(), Some(stack));
    }
}
