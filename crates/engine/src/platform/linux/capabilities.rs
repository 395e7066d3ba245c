//! Capabilities that the program's file grants: see [`crate::privilege`].

use rustix::io::Errno;
use rustix::process::{DumpableBehavior, geteuid, set_dumpable_behavior};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_ambient_set, set_capabilities,
};

/// Whether the file granted this process a capability that its user does not have.
pub(crate) fn are_granted() -> bool {
    !geteuid().is_root() && capabilities(None).is_ok_and(|held| !ambient().contains(held.permitted))
}

/// Drops the capabilities that the file granted.
///
/// # Errors
/// Returns `EPERM` if the system keeps them, or another error of the system.
pub(crate) fn drop_granted() -> Result<(), Errno> {
    if geteuid().is_root() {
        return Ok(());
    }
    let ambient = ambient();
    let reduced = |held: CapabilitySets| CapabilitySets {
        effective: held.effective & ambient,
        permitted: held.permitted & ambient,
        inheritable: held.inheritable & ambient,
    };
    let held = capabilities(None)?;
    if held == reduced(held) {
        return Ok(());
    }
    set_capabilities(None, reduced(held))?;
    let left = capabilities(None)?;
    if left != reduced(left) {
        return Err(Errno::PERM);
    }
    // Only root can inspect (ptrace) a process that was granted capabilities; make this one accessible to its user
    // again.
    set_dumpable_behavior(DumpableBehavior::Dumpable)
}

/// Ambient set; empty if the kernel has none.
fn ambient() -> CapabilitySet {
    let bits = (0..u64::BITS).map(|number| CapabilitySet::from_bits_retain(1 << number));
    bits.filter(|&one| capability_is_in_ambient_set(one).unwrap_or(false)).collect()
}
