//! Who wrote a journal: which process, of which machine, and when.

use std::fs;

use serde::{Deserialize, Serialize};

/// The command that wrote a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// Its process.
    pub(crate) pid: u32,
    /// When that process began, clock ticks after the machine.
    started_ticks: Option<u64>,
    /// The PID namespace in which it has that number.
    pid_namespace: Option<String>,
    /// The IPC namespace in which System V objects and message queues are.
    ipc_namespace: Option<String>,
    /// The machine's name, and which of its starts it was.
    host: Option<String>,
    boot: Option<String>,
    /// When the journal was begun.
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

    /// Whether the process is seen to live. Its lock says as much, but for file systems that know no locks.
    pub(super) fn is_seen_alive(&self, here: &Self) -> bool {
        self.boot == here.boot
            && self.pid_namespace == here.pid_namespace
            && self.started_ticks.is_some()
            && started_ticks(self.pid) == self.started_ticks
    }

    /// Whether its names would be seen from here: a home may be shared by machines, and by containers whose
    /// objects lie in another IPC namespace.
    pub(super) fn is_from_here(&self, here: &Self) -> bool {
        if self.boot == here.boot {
            self.ipc_namespace == here.ipc_namespace
        } else {
            self.host == here.host
        }
    }
}

/// The 22nd field of `stat`, of which the second, the program's name, may hold anything.
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
        assert!(here.is_seen_alive(&here));
        let later =
            Owner { started_ticks: here.started_ticks.map(|ticks| ticks + 1), ..here.clone() };
        assert!(!later.is_seen_alive(&here));
        let rebooted = Owner { boot: Some("another".to_owned()), ..here.clone() };
        assert!(!rebooted.is_seen_alive(&here));
    }

    #[test]
    fn what_other_machines_and_containers_wrote_is_theirs() {
        let here = Owner::this_process();
        assert!(here.is_from_here(&here));
        let contained = Owner { ipc_namespace: Some("ipc:[1]".to_owned()), ..here.clone() };
        assert!(!contained.is_from_here(&here));
        let rebooted = Owner { boot: Some("another".to_owned()), ..contained };
        assert!(rebooted.is_from_here(&here));
        let elsewhere = Owner { host: Some("another".to_owned()), ..rebooted };
        assert!(!elsewhere.is_from_here(&here));
    }
}
