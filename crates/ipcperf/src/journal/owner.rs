//! The writer of a journal: its process, machine and time.

use std::fs;

use serde::{Deserialize, Serialize};

/// Command that wrote a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// Process ID.
    pub(crate) pid: u32,
    /// Start of that process, in clock ticks since boot.
    started_ticks: Option<u64>,
    /// PID namespace that the process ID belongs to.
    pid_namespace: Option<String>,
    /// IPC namespace of its System V objects and message queues.
    ipc_namespace: Option<String>,
    /// Host name; `boot` identifies the boot of that host.
    host: Option<String>,
    boot: Option<String>,
    /// Time when the journal was started.
    pub(crate) began: String,
}

impl Owner {
    pub(super) fn this_process() -> Self {
        let pid = std::process::id();
        let namespace = |kind: &str| {
            let link = fs::read_link(format!("/proc/self/ns/{kind}")).ok()?;
            Some(link.to_string_lossy().into_owned())
        };
        let line = |path: &str| Some(fs::read_to_string(path).ok()?.trim().to_owned());
        Self {
            pid,
            started_ticks: started_ticks(pid),
            pid_namespace: namespace("pid"),
            ipc_namespace: namespace("ipc"),
            host: line("/proc/sys/kernel/hostname"),
            boot: line("/proc/sys/kernel/random/boot_id"),
            began: jiff::Timestamp::now().to_string(),
        }
    }

    /// Whether the process is known to be alive. The lock shows this too, except on file systems without locks.
    pub(super) fn is_alive(&self, here: &Self) -> bool {
        self.boot == here.boot
            && self.pid_namespace == here.pid_namespace
            && self.started_ticks.is_some()
            && started_ticks(self.pid) == self.started_ticks
    }

    /// Whether its names are visible from here: a home folder may be shared by several machines, and by containers with
    /// other IPC namespaces.
    pub(super) fn is_from_this_machine(&self, here: &Self) -> bool {
        if self.boot == here.boot {
            self.ipc_namespace == here.ipc_namespace
        } else {
            self.host == here.host
        }
    }
}

/// Returns the 22nd field of `stat`. The second field, the program's name, may contain any character.
fn started_ticks(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_seen_alive_by_its_number_and_its_start() {
        let here = Owner::this_process();
        assert!(here.is_alive(&here));
        let later =
            Owner { started_ticks: here.started_ticks.map(|ticks| ticks + 1), ..here.clone() };
        assert!(!later.is_alive(&here));
        let rebooted = Owner { boot: Some("another".to_owned()), ..here.clone() };
        assert!(!rebooted.is_alive(&here));
    }

    #[test]
    fn what_other_machines_and_containers_wrote_is_theirs() {
        let here = Owner::this_process();
        assert!(here.is_from_this_machine(&here));
        let contained = Owner { ipc_namespace: Some("ipc:[1]".to_owned()), ..here.clone() };
        assert!(!contained.is_from_this_machine(&here));
        let rebooted = Owner { boot: Some("another".to_owned()), ..contained };
        assert!(rebooted.is_from_this_machine(&here));
        let elsewhere = Owner { host: Some("another".to_owned()), ..rebooted };
        assert!(!elsewhere.is_from_this_machine(&here));
    }
}
