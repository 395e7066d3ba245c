//! Namespaces of a process: a peer in another one may not find what has a name in this one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

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

    /// Lets the other peer read these namespaces of `role` in `folder`, if that is possible.
    pub fn publish(&self, folder: &Path, role: Role) {
        // Only explanations are poorer without it.
        let _ = serde_json::to_vec(self).map(|text| fs::write(published(folder, role), text));
    }

    /// Reads what the other peer of `role` has published in `folder`; `None` if it has not, or if the folder is hidden.
    #[must_use]
    pub fn of_other_peer(folder: &Path, role: Role) -> Option<Self> {
        let other = if role == Role::Sender { Role::Receiver } else { Role::Sender };
        serde_json::from_slice(&fs::read(published(folder, other)).ok()?).ok()
    }

    /// Adds to a `failure` of `role`, which runs in `self`, the namespaces that may hide the other peer. That one runs in
    /// `peer`, if this is known, and the command in `command`.
    #[must_use]
    pub fn explain(
        &self,
        peer: Option<&Self>,
        command: &Self,
        failure: Failure,
        role: Role,
    ) -> Failure {
        if failure.what != FailureKind::Unreachable {
            return failure;
        }
        let other = peer.unwrap_or(command);
        let different = KINDS.iter().filter(|(kind, _)| self.differs(other, kind));
        let different: Vec<&str> = different.map(|(_, name)| *name).collect();
        let (role, names) = (role.name(), different.join(", "));
        let remedy = match (peer, different.len()) {
            (_, 0) if failure.remedy.is_some() => return failure,
            (_, 0) => "check whether the other peer has started, whether the network interface is up, and whether a firewall \
                or a security module (AppArmor, SELinux) keeps the two apart"
                .to_owned(),
            (Some(_), _) => format!(
                "the peers run in different namespaces ({names}): what one of them creates may be hidden from the other; \
                 use prefixes that keep it visible, or another mechanism"
            ),
            (None, _) => format!(
                "the {role} and ipcperf run in different namespaces ({names}): what the {role} is to find may be hidden; \
                 use a prefix that keeps it visible, or another mechanism"
            ),
        };
        failure.with_remedy(remedy)
    }
}

fn published(folder: &Path, role: Role) -> PathBuf {
    folder.join(format!("namespaces-{}", role.name()))
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
        let remedy = |peer: Option<&Namespaces>, command: &Namespaces| {
            own.explain(peer, command, unreachable(), Role::Sender).remedy.unwrap()
        };
        let said = remedy(None, &other);
        assert!(said.contains("the sender and ipcperf run in different namespaces (network)"));
        let said = remedy(Some(&other), &own);
        assert!(said.contains("the peers run in different namespaces (network)"), "{said}");
        for command in [&own, &other] {
            assert!(remedy(Some(&own), command).contains("firewall"));
        }
        let another = Failure::new(FailureKind::SetUp, "bind");
        assert_eq!(own.explain(None, &other, another.clone(), Role::Sender), another);
    }

    #[test]
    fn what_a_peer_publishes_the_other_one_reads() {
        let folder = std::env::temp_dir().join(format!("ipcperf-test-ns-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let own = namespaces(7, 8);
        own.publish(&folder, Role::Receiver);
        let read =
            [Role::Sender, Role::Receiver].map(|role| Namespaces::of_other_peer(&folder, role));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(read, [Some(own), None]);
    }

    #[test]
    fn clocks_of_other_namespaces_are_refused() {
        let (own, other) = (namespaces(1, 5), namespaces(1, 6));
        assert_eq!(own.check_clock(&own, Role::Receiver), Ok(()));
        assert!(own.check_clock(&other, Role::Receiver).unwrap_err().place.contains("time"));
        assert_eq!(Namespaces::default().check_clock(&own, Role::Receiver), Ok(()));
    }
}
