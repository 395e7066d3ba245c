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
pub(super) fn no_types(error: &BtfError) -> Unavailable {
    unavailable(
        format!("the kernel does not tell its types: {}", innermost(error)),
        "use a kernel with /sys/kernel/btf/vmlinux (built with CONFIG_DEBUG_INFO_BTF=y), 5.5 or later",
    )
}

/// Explains why the object could not be loaded.
pub(super) fn of(error: &EbpfError) -> Unavailable {
    match errno(error) {
        Some(libc::EPERM | libc::EACCES) => not_permitted(error),
        Some(libc::ENOSYS) => {
            unavailable("this kernel has no BPF", "use a kernel built with CONFIG_BPF_SYSCALL=y")
        }
        Some(libc::ENOMEM) => {
            unavailable("no memory for BPF maps", "raise it: ulimit -l unlimited")
        }
        _ if privilege::in_user_namespace() => not_permitted(error),
        _ => not_taken(error),
    }
}

/// Explains why a program could not be loaded for, or attached to, `tracepoint`.
pub(super) fn of_tracepoint(tracepoint: &str, error: &EbpfError) -> Unavailable {
    match error {
        EbpfError::ProgramError(ProgramError::Btf(BtfError::UnknownBtfTypeName { .. })) => {
            unavailable(
                format!("this kernel has no tracepoint {tracepoint}"),
                "use a kernel built with CONFIG_BPF_EVENTS=y and CONFIG_FTRACE_SYSCALLS=y",
            )
        }
        _ => of(error),
    }
}

/// Explains that the kernel has no function with any of these names.
pub(super) fn no_function(candidates: &[&str]) -> Unavailable {
    unavailable(
        format!("{}: this kernel has no such function of its own", candidates.join(" or ")),
        "use a kernel that has it built in, and no part of another function",
    )
}

/// Explains why a program could not be attached to `function`.
pub(super) fn of_function(function: &str, error: &EbpfError) -> Unavailable {
    let Unavailable { reason, remedy } = match errno(error) {
        Some(libc::EPERM) if has_what_it_takes() => untraced(error),
        Some(libc::ENOSYS | libc::EBUSY | libc::EOPNOTSUPP | ENOTSUPP) => untraced(error),
        _ => of(error),
    };
    unavailable(format!("{function}: {reason}"), remedy)
}

/// Kernel-internal error for unsupported operations: no user-space header defines it, and it has no message.
const ENOTSUPP: i32 = 524;

fn untraced(error: &EbpfError) -> Unavailable {
    let said = match errno(error) {
        Some(ENOTSUPP) => "Not supported (ENOTSUPP)".to_owned(),
        _ => innermost(error).to_string(),
    };
    unavailable(
        format!("the kernel lets nobody trace it: {said}"),
        "use a kernel built with CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y, or a later one; on arm64, Linux 6.4",
    )
}

/// Whether the privilege for BPF is sufficient: this program was loaded into the kernel before it was refused.
fn has_what_it_takes() -> bool {
    !locked_down() && !privilege::in_user_namespace()
}

/// Explains that a map does not have the layout that this build expects.
pub(super) fn unlike(name: &str) -> Unavailable {
    unavailable(
        format!("the kernel does not hand out what was kept in {name}"),
        "report it: the BPF object and the program around it are of different builds",
    )
}

fn not_permitted(error: &EbpfError) -> Unavailable {
    if locked_down() {
        return unavailable(
            "the kernel is locked down: no program may read its memory",
            "boot without lockdown=confidentiality",
        );
    }
    if privilege::in_user_namespace() {
        return unavailable(
            "the capabilities of a user namespace are not enough for BPF",
            "run outside the namespace, as root",
        );
    }
    let said = innermost(error);
    unavailable(format!("the kernel does not permit BPF: {said}"), BPF_AND_PERFMON)
}

fn not_taken(error: &EbpfError) -> Unavailable {
    let said = match error {
        EbpfError::ProgramError(ProgramError::LoadError { verifier_log, .. }) => {
            verdict(&verifier_log.to_string()).map(str::to_owned)
        }
        _ => None,
    };
    let said = said.unwrap_or_else(|| innermost(error).to_string());
    unavailable(format!("the kernel does not take the program: {said}"), "use Linux 6.1 or later")
}

/// Returns the verifier's objection: the last line of its log that is not a statistic.
fn verdict(log: &str) -> Option<&str> {
    let figures = ["verification time", "stack depth", "processed"];
    let is_said = |line: &&str| {
        !line.trim().is_empty() && !figures.iter().any(|figure| line.starts_with(figure))
    };
    log.lines().rfind(is_said).map(str::trim)
}

/// Whether the kernel denies everyone access to its memory (lockdown).
fn locked_down() -> bool {
    fs::read_to_string("/sys/kernel/security/lockdown")
        .is_ok_and(|levels| levels.contains("[confidentiality]"))
}

/// Returns the root cause of an error, which is the most specific one.
fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut inner = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner
}

fn errno(error: &(dyn Error + 'static)) -> Option<i32> {
    innermost(error).downcast_ref::<io::Error>().and_then(io::Error::raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifiers_objection_is_found_above_its_figures() {
        let log = "50: (27) r1 *= 1096\nR1 unbounded memory access\nverification time 6 usec\nstack depth 24\nprocessed 3 insns\n";
        assert_eq!(verdict(log), Some("R1 unbounded memory access"));
        assert_eq!(verdict(""), None);
    }
}
