//! Commands that give a non-root user the capabilities of an instrument for a single run. Setting them on the file
//! (`setcap`) instead would grant them to everyone who may execute it.

/// Command for BPF programs.
pub(crate) const BPF_AND_PERFMON: &str = "run as root: sudo ipcperf ..., or as yourself: sudo setpriv \
    --reuid=$USER --regid=$(id -g) --init-groups --inh-caps=+bpf,+perfmon \
    --ambient-caps=+bpf,+perfmon ipcperf ...";

/// Command for counting and sampling.
pub(crate) const PERFMON: &str = "run as root: sudo ipcperf ..., or as yourself: sudo setpriv \
    --reuid=$USER --regid=$(id -g) --init-groups --inh-caps=+perfmon --ambient-caps=+perfmon \
    ipcperf ...";

/// Command for sampling with the names of kernel functions.
pub(crate) const PERFMON_AND_SYSLOG: &str = "run as root: sudo ipcperf ..., or as yourself: sudo setpriv \
    --reuid=$USER --regid=$(id -g) --init-groups --inh-caps=+perfmon,+syslog \
    --ambient-caps=+perfmon,+syslog ipcperf ...";
