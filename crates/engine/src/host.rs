//! Facts about the host that are in no file: only the CPU and the C library have them.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// Maximum size of an entry of the password database, bytes.
const MAX_ENTRY_BYTES: usize = 64 * 1024;

/// Signature of the hypervisor, such as `KVMKVMKVM`; `None` on bare metal and if the CPU cannot be queried.
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
    // SAFETY: every x86-64 CPU has CPUID and leaf 1; it accesses no memory.
    let features = unsafe { __cpuid(FEATURES) };
    if features.ecx & UNDER_A_HYPERVISOR == 0 {
        return None;
    }
    // SAFETY: as above; a hypervisor that announces itself answers this leaf.
    let answer = unsafe { __cpuid(SIGNATURE) };
    let bytes = [answer.ebx, answer.ecx, answer.edx].map(u32::to_le_bytes).concat();
    let text: String = bytes.into_iter().map(char::from).filter(char::is_ascii_graphic).collect();
    (!text.is_empty()).then_some(text)
}

/// Signature of the hypervisor: this architecture has no way to query it.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn hypervisor_signature() -> Option<String> {
    None
}

/// Name and version of the C library in use, such as `glibc 2.36`; it provides memcpy.
#[must_use]
pub fn c_library() -> Option<String> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: the function has no precondition and returns a static NUL-terminated string.
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

/// Home folder of the effective user in the password database; `None` if it has none, or no absolute path.
#[must_use]
pub fn home_folder() -> Option<PathBuf> {
    let mut texts = vec![0; MAX_ENTRY_BYTES];
    let mut found = null_mut();
    // SAFETY: a zeroed `passwd` is valid, with null pointers. The call gets the length of `texts`, fills the entry with
    // pointers into it, and sets `found` to the entry or to null.
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
