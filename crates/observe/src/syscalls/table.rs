//! What is known of each system call: where it says how many bytes it asks for, and what it returns.

/// Where a call says how many bytes it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Length {
    Second = 2,
    Third = 3,
    Fourth = 4,
    Fifth = 5,
    /// The second argument is an array of iovec, the third their number.
    Vectors = 7,
    /// The second argument leads to a msghdr.
    Message = 8,
}

/// What a call that moves bytes returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    Bytes,
    Nothing,
}

/// The calls that move bytes.
const MOVERS: &[(libc::c_long, Length, Returns)] = &[
    (libc::SYS_read, Length::Third, Returns::Bytes),
    (libc::SYS_write, Length::Third, Returns::Bytes),
    (libc::SYS_pread64, Length::Third, Returns::Bytes),
    (libc::SYS_pwrite64, Length::Third, Returns::Bytes),
    (libc::SYS_sendto, Length::Third, Returns::Bytes),
    (libc::SYS_recvfrom, Length::Third, Returns::Bytes),
    (libc::SYS_tee, Length::Third, Returns::Bytes),
    (libc::SYS_getdents64, Length::Third, Returns::Bytes),
    (libc::SYS_getrandom, Length::Second, Returns::Bytes),
    (libc::SYS_sendfile, Length::Fourth, Returns::Bytes),
    (libc::SYS_splice, Length::Fifth, Returns::Bytes),
    (libc::SYS_copy_file_range, Length::Fifth, Returns::Bytes),
    (libc::SYS_readv, Length::Vectors, Returns::Bytes),
    (libc::SYS_writev, Length::Vectors, Returns::Bytes),
    (libc::SYS_preadv, Length::Vectors, Returns::Bytes),
    (libc::SYS_pwritev, Length::Vectors, Returns::Bytes),
    (libc::SYS_preadv2, Length::Vectors, Returns::Bytes),
    (libc::SYS_pwritev2, Length::Vectors, Returns::Bytes),
    (libc::SYS_vmsplice, Length::Vectors, Returns::Bytes),
    (libc::SYS_process_vm_readv, Length::Vectors, Returns::Bytes),
    (libc::SYS_process_vm_writev, Length::Vectors, Returns::Bytes),
    (libc::SYS_sendmsg, Length::Message, Returns::Bytes),
    (libc::SYS_recvmsg, Length::Message, Returns::Bytes),
    (libc::SYS_mq_timedsend, Length::Third, Returns::Nothing),
    (libc::SYS_mq_timedreceive, Length::Third, Returns::Bytes),
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    (libc::SYS_msgsnd, Length::Third, Returns::Nothing),
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    (libc::SYS_msgrcv, Length::Third, Returns::Bytes),
];

/// For each call by its number, where it says how many bytes it asks for, as the program reads it.
pub(super) fn lengths<const NUMBERS: usize>() -> [u8; NUMBERS] {
    let mut lengths = [0; NUMBERS];
    for (number, length, _) in MOVERS {
        if let Some(place) = usize::try_from(*number).ok().and_then(|at| lengths.get_mut(at)) {
            *place = *length as u8;
        }
    }
    lengths
}

/// Whether the call says how many bytes it asks for.
pub(super) fn asks_for_bytes(number: u32) -> bool {
    MOVERS.iter().any(|mover| mover.0 == libc::c_long::from(number))
}

/// Whether what the call returns is how many bytes it has moved.
pub(super) fn returns_bytes(number: u32) -> bool {
    let wanted = libc::c_long::from(number);
    MOVERS.iter().any(|mover| mover.0 == wanted && mover.2 == Returns::Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(number: libc::c_long) -> u32 {
        u32::try_from(number).unwrap()
    }

    #[test]
    fn every_mover_has_a_place_in_the_programs_table() {
        let lengths = lengths::<512>();
        for (call, length, _) in MOVERS {
            assert_eq!(lengths[number(*call) as usize], *length as u8);
            assert!(asks_for_bytes(number(*call)));
        }
        assert_eq!(lengths.iter().filter(|&&length| length > 0).count(), MOVERS.len());
        assert!(!returns_bytes(number(libc::SYS_mq_timedsend)));
        assert!(!asks_for_bytes(number(libc::SYS_futex)));
    }
}
