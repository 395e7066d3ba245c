//! What only the CPU and the C library can tell of where a worker runs: no file has it.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// Longest entry of the password database that is read.
const LONGEST_ENTRY: usize = 64 * 1024;

/// How the hypervisor signs itself, such as `KVMKVMKVM`; `None` on bare metal and where the CPU
/// cannot be asked.
///
/// References: Intel SDM volume 2, `CPUID`; Linux, `Documentation/virt/kvm/x86/cpuid.rst`.
#[cfg(target_arch = "x86_64")]
#[must_use]
#[allow(unused_unsafe, reason = "newer compilers know that CPUID is safe on x86-64")]
pub fn hypervisor_signature() -> Option<String> {
    use core::arch::x86_64::__cpuid;
    const FEATURES: u32 = 1;
    const UNDER_A_HYPERVISOR: u32 = 1 << 31;
    const SIGNATURE: u32 = 0x4000_0000;
    // SAFETY: every x86-64 CPU has CPUID and leaf 1; it reads no memory.
    let features = unsafe { __cpuid(FEATURES) };
    if features.ecx & UNDER_A_HYPERVISOR == 0 {
        return None;
    }
    // SAFETY: as above; a hypervisor that says it is there answers this leaf.
    let answer = unsafe { __cpuid(SIGNATURE) };
    let bytes = [answer.ebx, answer.ecx, answer.edx].map(u32::to_le_bytes).concat();
    let text: String = bytes.into_iter().map(char::from).filter(char::is_ascii_graphic).collect();
    (!text.is_empty()).then_some(text)
}

/// How the hypervisor signs itself: this architecture has no way to ask.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn hypervisor_signature() -> Option<String> {
    None
}

/// The C library in use with its version, such as `glibc 2.36`: memcpy is its.
#[must_use]
pub fn c_library() -> Option<String> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the function has no precondition and returns a static string with a NUL.
        let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
        version.to_str().ok().map(|version| format!("glibc {version}"))
    }
    #[cfg(all(target_os = "linux", target_env = "musl"))]
    {
        Some("musl".to_owned())
    }
    #[cfg(not(all(target_os = "linux", any(target_env = "gnu", target_env = "musl"))))]
    {
        None
    }
}

/// The folder that the password database has for the effective user; `None` where it has none, or no whole path.
#[must_use]
pub fn home_folder() -> Option<PathBuf> {
    let mut texts = vec![0; LONGEST_ENTRY];
    let mut found = null_mut();
    // SAFETY: a zeroed `passwd` is a valid one, of null pointers; the call fills it with pointers into `texts`,
    // whose length it is told, and points `found` at it, or at nothing.
    let home = unsafe {
        let mut entry: libc::passwd = std::mem::zeroed();
        let (user, room) = (libc::geteuid(), texts.len());
        libc::getpwuid_r(user, &raw mut entry, texts.as_mut_ptr(), room, &raw mut found);
        if found.is_null() || entry.pw_dir.is_null() {
            return None;
        }
        CStr::from_ptr(entry.pw_dir)
    };
    let home = Path::new(OsStr::from_bytes(home.to_bytes()));
    home.is_absolute().then(|| home.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_database_has_a_whole_path_or_none() {
        let entries = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let user = rustix::process::geteuid().as_raw().to_string();
        let of_user = entries.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            (*fields.get(2)? == user).then(|| PathBuf::from(fields[5]))
        });
        if let Some(home) = of_user.filter(|home| home.is_absolute()) {
            assert_eq!(home_folder(), Some(home));
        }
    }

    #[test]
    fn the_hypervisor_signs_where_the_kernel_sees_one() {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        if cfg!(target_arch = "x86_64") {
            assert_eq!(hypervisor_signature().is_some(), cpu.contains(" hypervisor"));
        }
    }

    #[test]
    fn the_c_library_has_a_name() {
        assert!(c_library().is_some_and(|name| name.contains("libc") || name == "musl"));
    }
}
