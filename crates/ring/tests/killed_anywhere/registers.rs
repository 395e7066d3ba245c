//! Architecture-dependent parts of stopping a process: its program counter, and the trap instruction.

use std::mem::size_of;

use libc::{iovec, user_regs_struct};

/// Number of the general register set, as in core files: `NT_PRSTATUS`.
const GENERAL: usize = 1;

#[cfg(target_arch = "x86_64")]
mod own {
    /// `int3`, which is one byte long.
    pub(super) const TRAP: u64 = 0xCC;
    pub(super) const TRAP_BITS: u64 = 0xFF;

    pub(super) fn place(registers: &mut libc::user_regs_struct) -> &mut u64 {
        &mut registers.rip
    }
}

#[cfg(target_arch = "aarch64")]
mod own {
    /// `brk #0`, four bytes long like all instructions.
    pub(super) const TRAP: u64 = 0xD420_0000;
    pub(super) const TRAP_BITS: u64 = 0xFFFF_FFFF;

    pub(super) fn place(registers: &mut libc::user_regs_struct) -> &mut u64 {
        &mut registers.pc
    }
}

/// Replaces the start of `word`, the code at an address, with an instruction that stops a traced process.
pub(crate) fn with_trap(word: u64) -> u64 {
    word & !own::TRAP_BITS | own::TRAP
}

/// Address of the next instruction of `process`, which is stopped.
pub(crate) fn instruction_pointer(process: libc::pid_t) -> u64 {
    *own::place(&mut read(process))
}

/// Makes `process`, which is stopped, continue at `address`.
pub(crate) fn set_instruction_pointer(process: libc::pid_t, address: u64) {
    let mut registers = read(process);
    *own::place(&mut registers) = address;
    exchange(libc::PTRACE_SETREGSET, process, &mut registers);
}

fn read(process: libc::pid_t) -> user_regs_struct {
    // SAFETY: the registers are integers, for which zeroes are valid.
    let mut registers = unsafe { std::mem::zeroed() };
    exchange(libc::PTRACE_GETREGSET, process, &mut registers);
    registers
}

fn exchange(request: libc::c_uint, process: libc::pid_t, registers: &mut user_regs_struct) {
    let mut place = iovec {
        iov_base: std::ptr::from_mut(registers).cast(),
        iov_len: size_of::<user_regs_struct>(),
    };
    // SAFETY: the kernel reads or writes no more bytes than the registers have.
    let done = unsafe { libc::ptrace(request, process, GENERAL, &raw mut place) };
    assert_eq!((done, place.iov_len), (0, size_of::<user_regs_struct>()), "ptrace");
}
