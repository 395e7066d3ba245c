//! Table of the system calls that move bytes, and the names of all calls. Every instrument that reports system calls
//! uses it, whether its tracer knows them by number or by name.

use syscalls::Sysno;

/// Argument of a call that holds the number of bytes to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum LengthArgument {
    Second = 2,
    Third = 3,
    Fourth = 4,
    Fifth = 5,
    /// The second argument is an array of `iovec`, the third its length.
    Vectors = 7,
    /// The second argument points to a `msghdr`.
    Message = 8,
}

/// Meaning of the return value of a call that moves bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReturnValue {
    Bytes,
    Nothing,
}

/// Calls that move bytes.
const DATA_CALLS: &[(Sysno, LengthArgument, ReturnValue)] = &[
    (Sysno::read, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::write, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::pread64, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::pwrite64, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::sendto, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::recvfrom, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::tee, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::getdents64, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::getrandom, LengthArgument::Second, ReturnValue::Bytes),
    (Sysno::sendfile, LengthArgument::Fourth, ReturnValue::Bytes),
    (Sysno::splice, LengthArgument::Fifth, ReturnValue::Bytes),
    (Sysno::copy_file_range, LengthArgument::Fifth, ReturnValue::Bytes),
    (Sysno::readv, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::writev, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::preadv, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::pwritev, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::preadv2, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::pwritev2, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::vmsplice, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::process_vm_readv, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::process_vm_writev, LengthArgument::Vectors, ReturnValue::Bytes),
    (Sysno::sendmsg, LengthArgument::Message, ReturnValue::Bytes),
    (Sysno::recvmsg, LengthArgument::Message, ReturnValue::Bytes),
    (Sysno::mq_timedsend, LengthArgument::Third, ReturnValue::Nothing),
    (Sysno::mq_timedreceive, LengthArgument::Third, ReturnValue::Bytes),
    (Sysno::msgsnd, LengthArgument::Third, ReturnValue::Nothing),
    (Sysno::msgrcv, LengthArgument::Third, ReturnValue::Bytes),
];

/// Returns the call with this number on this architecture; `None` if there is none.
pub(crate) fn by_number(number: i64) -> Option<Sysno> {
    usize::try_from(number).ok().and_then(Sysno::new)
}

/// Returns the name of the call with this number, as strace prints it, or the number if it has no name.
pub(crate) fn syscall_name(number: i64) -> String {
    match by_number(number).map(|call| call.name()) {
        // On aarch64 the crate's list has the kernel's internal name.
        Some("fstatat") => "newfstatat".to_owned(),
        Some(name) => name.to_owned(),
        None => number.to_string(),
    }
}

/// Returns, for each call number, the argument that holds the length, in the encoding of the BPF program.
pub(crate) fn length_arguments<const NUMBERS: usize>() -> [u8; NUMBERS] {
    let mut lengths = [0; NUMBERS];
    for (call, length, _) in DATA_CALLS {
        if let Some(entry) = usize::try_from(call.id()).ok().and_then(|at| lengths.get_mut(at)) {
            *entry = *length as u8;
        }
    }
    lengths
}

/// Whether an argument of `call` is the number of bytes to move.
pub(crate) fn requests_bytes(call: Sysno) -> bool {
    DATA_CALLS.iter().any(|mover| mover.0 == call)
}

/// Whether `call` returns the number of bytes that it moved.
pub(crate) fn returns_bytes(call: Sysno) -> bool {
    DATA_CALLS.iter().any(|mover| mover.0 == call && mover.2 == ReturnValue::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mover_has_its_entry_in_the_table_of_the_bpf_program() {
        let lengths = length_arguments::<512>();
        for (call, length, _) in DATA_CALLS {
            assert_eq!(lengths[usize::try_from(call.id()).unwrap()], *length as u8);
            assert!(requests_bytes(*call));
        }
        assert_eq!(lengths.iter().filter(|&&length| length > 0).count(), DATA_CALLS.len());
        assert!(!requests_bytes(Sysno::futex));
    }

    #[test]
    fn calls_that_return_bytes_are_known() {
        for call in [Sysno::read, Sysno::preadv2, Sysno::splice, Sysno::getrandom] {
            assert!(returns_bytes(call), "{call}");
        }
        // `sendmmsg` and `recvmmsg` return a number of messages.
        for call in [Sysno::sendmmsg, Sysno::recvmmsg, Sysno::mmap, Sysno::mq_timedsend] {
            assert!(!returns_bytes(call), "{call}");
        }
    }

    #[test]
    fn calls_have_the_names_that_strace_prints() {
        assert_eq!(syscall_name(libc::SYS_getrusage), crate::MARK);
        assert_eq!(syscall_name(libc::SYS_write), "write");
        assert_eq!(syscall_name(libc::SYS_newfstatat), "newfstatat");
        assert_eq!(syscall_name(1_000_000), "1000000");
        assert_eq!(syscall_name(-1), "-1");
    }
}
