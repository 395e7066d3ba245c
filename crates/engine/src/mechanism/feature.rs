//! Mechanisms, and values of their options, that belong to an optional feature, because their library takes long to
//! compile or needs another tool.

use ipcperf_model::Unavailable;

use crate::platform::needs;

/// An optional feature of the build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feature {
    /// Name of the feature, which is also that of its mechanism or of the value of an option.
    pub(super) name: &'static str,
    /// Whether this build has it.
    pub(super) is_built_in: bool,
    /// Tool that its build needs in addition to Rust and a C and C++ compiler; empty if none.
    pub(super) needs: &'static str,
}

impl Feature {
    /// Whether the mechanism or the value can be used: only in builds with the feature, and only on Linux.
    pub(super) fn availability(&self) -> Result<(), Unavailable> {
        if self.is_built_in && cfg!(target_os = "linux") { Ok(()) } else { Err(self.missing()) }
    }

    /// The report of a run in a build without the feature.
    #[cfg(not(all(
        target_os = "linux",
        feature = "grpc",
        feature = "nng",
        feature = "zeromq",
        feature = "zstd"
    )))]
    pub(super) fn refuse(&self) -> ipcperf_model::WorkerReport {
        use ipcperf_model::{Failure, FailureKind, WorkerReport};

        let Unavailable { reason, remedy } = self.missing();
        WorkerReport::Failed(Failure::new(FailureKind::SetUp, reason).with_remedy(remedy))
    }

    /// Message of a build without the feature, with the command that adds the feature. Other systems than Linux cannot
    /// have it.
    fn missing(&self) -> Unavailable {
        if !cfg!(target_os = "linux") {
            return needs("Linux");
        }
        let needs = match self.needs {
            "" => String::new(),
            tool => format!(", which needs {tool}"),
        };
        Unavailable {
            reason: format!("ipcperf was built without {}", self.name),
            remedy: format!("cargo build --release --features {}{needs}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_feature_gets_the_command_that_adds_it() {
        let feature = Feature { name: "nng", is_built_in: false, needs: "cmake" };
        let remedy = feature.availability().unwrap_err().remedy;
        assert_eq!(remedy, "cargo build --release --features nng, which needs cmake");
        let feature = Feature { name: "grpc", is_built_in: true, needs: "" };
        assert!(feature.availability().is_ok());
    }
}
