//! How a user who is not root gets what an instrument needs: for one run. A file with capabilities (`setcap`) would
//! grant them to all who may execute it.

/// For BPF programs.
pub(crate) const BPF_AND_PERFMON: &str = "run as root: sudo ipcperf ..., or as yourself: sudo setpriv \
    --reuid=$USER --regid=$(id -g) --init-groups --inh-caps=+bpf,+perfmon \
    --ambient-caps=+bpf,+perfmon ipcperf ...";

/// For counting and sampling.
pub(crate) const PERFMON: &str = "run as root: sudo ipcperf ..., or as yourself: sudo setpriv \
    --reuid=$USER --regid=$(id -g) --init-groups --inh-caps=+perfmon --ambient-caps=+perfmon \
    ipcperf ...";

/// For sampling with the names of the kernel's functions.
pub(crate) const PERFMON_AND_SYSLOG: &str = "run as root: sudo ipcperf ..., or as yourself: sudo setpriv \
    --reuid=$USER --regid=$(id -g) --init-groups --inh-caps=+perfmon,+syslog \
    --ambient-caps=+perfmon,+syslog ipcperf ...";
