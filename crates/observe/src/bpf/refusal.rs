//! Reasons why the kernel does not accept a program, in one line, with a remedy.

use std::error::Error;
use std::{fs, io};

use aya::programs::ProgramError;
use aya::{BtfError, EbpfError};
use ipcperf_model::Unavailable;

use super::privilege;
use crate::grant::BPF_AND_PERFMON;

fn unavailable(reason: impl Into<String>, remedy: impl Into<String>) -> Unavailable {
    Unavailable { reason: reason.into(), remedy: remedy.into() }
}

/// Explains why the kernel's type information could not be read.
pub(super) fn no_btf(error: &BtfError) -> Unavailable {
    unavailable(
        format!("cannot read the kernel's type information (BTF): {}", root_cause(error)),
        "use Linux 5.5 or later with /sys/kernel/btf/vmlinux (built with CONFIG_DEBUG_INFO_BTF=y)",
    )
}

/// Explains why the object could not be loaded.
pub(super) fn from_error(error: &EbpfError) -> Unavailable {
    match errno(error) {
        Some(libc::EPERM | libc::EACCES) => not_permitted(error),
        Some(libc::ENOSYS) => unavailable(
            "this kernel does not support BPF",
            "use a kernel built with CONFIG_BPF_SYSCALL=y",
        ),
        Some(libc::ENOMEM) => unavailable(
            "not enough locked memory for BPF maps",
            "raise the limit: ulimit -l unlimited",
        ),
        _ if privilege::is_in_user_namespace() => not_permitted(error),
        _ => rejected(error),
    }
}

/// Explains why a program could not be loaded for, or attached to, `tracepoint`.
pub(super) fn for_tracepoint(tracepoint: &str, error: &EbpfError) -> Unavailable {
    match error {
        EbpfError::ProgramError(ProgramError::Btf(BtfError::UnknownBtfTypeName { .. })) => {
            unavailable(
                format!("this kernel has no tracepoint {tracepoint}"),
                "use a kernel built with CONFIG_BPF_EVENTS=y and CONFIG_FTRACE_SYSCALLS=y",
            )
        }
        _ => from_error(error),
    }
}

/// Explains that the kernel has no function with any of these names.
pub(super) fn no_function(candidates: &[&str]) -> Unavailable {
    unavailable(
        format!(
            "{}: this kernel has no such function, or it is inlined or in a module",
            candidates.join(" or ")
        ),
        "use a kernel in which the function is built in and not inlined",
    )
}

/// Explains why a program could not be attached to `function`.
pub(super) fn for_function(function: &str, error: &EbpfError) -> Unavailable {
    let Unavailable { reason, remedy } = match errno(error) {
        Some(libc::EPERM) if is_privileged() => not_traceable(error),
        Some(libc::ENOSYS | libc::EBUSY | libc::EOPNOTSUPP | ENOTSUPP) => not_traceable(error),
        _ => from_error(error),
    };
    unavailable(format!("{function}: {reason}"), remedy)
}

/// Kernel-internal error for unsupported operations: no user-space header defines it, and it has no message.
const ENOTSUPP: i32 = 524;

fn not_traceable(error: &EbpfError) -> Unavailable {
    let message = match errno(error) {
        Some(ENOTSUPP) => "Not supported (ENOTSUPP)".to_owned(),
        _ => root_cause(error).to_string(),
    };
    unavailable(
        format!("the kernel does not allow tracing it: {message}"),
        "use a kernel built with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y, or a later kernel; on \
         arm64, Linux 6.4 or later",
    )
}

/// Whether the privilege for BPF is sufficient: this program was loaded into the kernel before it was refused.
fn is_privileged() -> bool {
    !is_locked_down() && !privilege::is_in_user_namespace()
}

/// Explains that a map does not have the layout that this build expects.
pub(super) fn layout_mismatch(name: &str) -> Unavailable {
    unavailable(
        format!("cannot read the BPF map {name}, or its size is not the expected one"),
        "please report this defect: the BPF object and the program are from different builds",
    )
}

fn not_permitted(error: &EbpfError) -> Unavailable {
    if is_locked_down() {
        return unavailable(
            "the kernel is locked down: BPF programs may not read kernel memory",
            "boot without lockdown=confidentiality",
        );
    }
    if privilege::is_in_user_namespace() {
        return unavailable(
            "BPF requires capabilities of the initial user namespace",
            "run as root outside the user namespace",
        );
    }
    let message = root_cause(error);
    unavailable(format!("the kernel does not permit BPF: {message}"), BPF_AND_PERFMON)
}

fn rejected(error: &EbpfError) -> Unavailable {
    let verifier_message = match error {
        EbpfError::ProgramError(ProgramError::LoadError { verifier_log, .. }) => {
            find_verifier_message(&verifier_log.to_string()).map(str::to_owned)
        }
        _ => None,
    };
    let message = verifier_message.unwrap_or_else(|| root_cause(error).to_string());
    unavailable(format!("the kernel rejects the BPF program: {message}"), "use Linux 6.1 or later")
}

/// Returns the verifier's objection: the last line of its log that is not a statistic.
fn find_verifier_message(log: &str) -> Option<&str> {
    let stat_prefixes = ["verification time", "stack depth", "processed"];
    let is_message = |line: &&str| {
        !line.trim().is_empty() && !stat_prefixes.iter().any(|figure| line.starts_with(figure))
    };
    log.lines().rfind(is_message).map(str::trim)
}

/// Whether the kernel denies everyone access to its memory (lockdown).
fn is_locked_down() -> bool {
    fs::read_to_string("/sys/kernel/security/lockdown")
        .is_ok_and(|levels| levels.contains("[confidentiality]"))
}

/// Returns the root cause of an error, which is the most specific one.
fn root_cause<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut inner = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner
}

fn errno(error: &(dyn Error + 'static)) -> Option<i32> {
    root_cause(error).downcast_ref::<io::Error>().and_then(io::Error::raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifiers_objection_is_found_above_its_figures() {
        let log = "50: (27) r1 *= 1096\nR1 unbounded memory access\nverification time 6 usec\nstack depth 24\nprocessed 3 insns\n";
        assert_eq!(find_verifier_message(log), Some("R1 unbounded memory access"));
        assert_eq!(find_verifier_message(""), None);
    }
}
