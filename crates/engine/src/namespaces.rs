//! Namespaces of a process: a peer in another one may not find what has a name in this one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use ipcperf_model::{Failure, FailureKind, Role};
use serde::{Deserialize, Serialize};

/// Kinds of namespaces that hide names or change clocks, with their names in `/proc/self/ns`.
const KINDS: [(&str, &str); 6] = [
    ("net", "network"),
    ("mnt", "mount"),
    ("ipc", "IPC"),
    ("user", "user"),
    ("pid", "PID"),
    (TIME, "time"),
];
/// The kind that changes clocks.
const TIME: &str = "time";

/// Numbers of the namespaces of a process, by kind; those that cannot be read are missing, as on systems without namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespaces(BTreeMap<String, u64>);

impl Namespaces {
    /// Reads those of this process.
    #[must_use]
    pub fn own() -> Self {
        let number = |kind: &str| {
            let status = fs::metadata(format!("/proc/self/ns/{kind}")).ok()?;
            Some((kind.to_owned(), status.ino()))
        };
        Self(KINDS.iter().filter_map(|(kind, _)| number(kind)).collect())
    }

    /// Whether `self` and `other` have different namespaces of `kind`.
    fn differs(&self, other: &Self, kind: &str) -> bool {
        let pair = self.0.get(kind).zip(other.0.get(kind));
        pair.is_some_and(|(own, other)| own != other)
    }

    /// Checks that times of `role`, which runs in `self`, can be compared with those of `other`.
    ///
    /// # Errors
    /// Returns a failure if their clocks may differ.
    pub fn check_clock(&self, other: &Self, role: Role) -> Result<(), Failure> {
        if !self.differs(other, TIME) {
            return Ok(());
        }
        let place =
            format!("the {} runs in another time namespace, whose clock differs", role.name());
        let remedy = "use a prefix that keeps the time namespace";
        Err(Failure::new(FailureKind::SetUp, place).with_remedy(remedy).with_role(role))
    }

    /// Adds to a `failure` of `role`, which runs in `self`, the namespaces that may hide the other peer. The command runs in
    /// `other`.
    #[must_use]
    pub fn explain(&self, other: &Self, failure: Failure, role: Role) -> Failure {
        if failure.what != FailureKind::Unreachable {
            return failure;
        }
        let different = KINDS.iter().filter(|(kind, _)| self.differs(other, kind));
        let different: Vec<&str> = different.map(|(_, name)| *name).collect();
        if different.is_empty() {
            let remedy = "check whether the other peer has started, and whether a firewall or a security module (AppArmor, \
                SELinux) keeps the two apart";
            return if failure.remedy.is_some() { failure } else { failure.with_remedy(remedy) };
        }
        let (role, names) = (role.name(), different.join(", "));
        let namespaces = if different.len() == 1 { "namespace" } else { "namespaces" };
        failure.with_remedy(format!(
            "the {role} runs in another {namespaces} ({names}) than ipcperf: what the {role} is to find there may be hidden; \
             use a prefix that keeps it visible, or another mechanism"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespaces(net: u64, time: u64) -> Namespaces {
        Namespaces([("net".to_owned(), net), (TIME.to_owned(), time)].into())
    }

    #[test]
    fn what_hides_the_other_peer_is_named() {
        let unreachable = || Failure::new(FailureKind::Unreachable, "connecting");
        let (own, other) = (namespaces(1, 5), namespaces(2, 5));
        let explained = own.explain(&other, unreachable(), Role::Sender);
        assert!(explained.remedy.unwrap().contains("another namespace (network) than ipcperf"));
        let explained = own.explain(&own, unreachable(), Role::Sender);
        assert!(explained.remedy.unwrap().contains("firewall"));
        let another = Failure::new(FailureKind::SetUp, "bind");
        assert_eq!(own.explain(&other, another.clone(), Role::Sender), another);
    }

    #[test]
    fn clocks_of_other_namespaces_are_refused() {
        let (own, other) = (namespaces(1, 5), namespaces(1, 6));
        assert_eq!(own.check_clock(&own, Role::Receiver), Ok(()));
        assert!(own.check_clock(&other, Role::Receiver).unwrap_err().place.contains("time"));
        assert_eq!(Namespaces::default().check_clock(&own, Role::Receiver), Ok(()));
    }
}
