//! Which functions are watched.

/// How many the program has room for.
pub(super) const FUNCTIONS: usize = 40;

/// What a function is called: in one kernel or processor this, in another that.
pub(super) type Candidates = &'static [&'static str];

/// The function of the system call that is the mark, and of no other.
pub(super) const MARK: Candidates = &["__x64_sys_getrusage", "__arm64_sys_getrusage"];

/// Functions that carry data or wake whoever waits for it, each called from a system call of its mechanism.
/// The nearest to the call that all of its kinds go through: `write` as `writev`, `send` as `sendmsg`. Last,
/// what sockets copy with; what pipes copy with lies in the kernel's `lib`, where it traces nothing.
pub(super) const CARRIERS: &[Candidates] = &[
    // Named otherwise since a FIFO has functions of its own, which call these.
    &["pipe_write", "anon_pipe_write"],
    &["pipe_read", "anon_pipe_read"],
    &["unix_stream_sendmsg"],
    &["unix_stream_recvmsg", "unix_stream_read_generic"],
    // Of unix-seqpacket too.
    &["unix_dgram_sendmsg"],
    &["unix_dgram_recvmsg"],
    &["tcp_sendmsg"],
    &["tcp_recvmsg"],
    &["udp_sendmsg"],
    &["udp_recvmsg"],
    &["mptcp_sendmsg"],
    &["mptcp_recvmsg"],
    &["vsock_connectible_sendmsg"],
    &["vsock_connectible_recvmsg"],
    &["eventfd_write"],
    &["eventfd_read"],
    &["do_mq_timedsend"],
    &["do_mq_timedreceive"],
    &["do_msgsnd", "ksys_msgsnd"],
    &["do_msgrcv", "ksys_msgrcv"],
    &["__do_semtimedop", "do_semtimedop"],
    // What they share has more arguments than every kernel can trace.
    &["__x64_sys_process_vm_readv", "__arm64_sys_process_vm_readv"],
    &["__x64_sys_process_vm_writev", "__arm64_sys_process_vm_writev"],
    &["n_tty_write"],
    &["n_tty_read"],
    &["do_splice"],
    &["__x64_sys_vmsplice", "__arm64_sys_vmsplice"],
    &["do_send_sig_info"],
    &["do_sigtimedwait", "__x64_sys_rt_sigtimedwait", "__arm64_sys_rt_sigtimedwait"],
    &["futex_wait"],
    &["futex_wake"],
    &["skb_copy_datagram_from_iter"],
    &["skb_copy_datagram_iter"],
];

const _: () = assert!(CARRIERS.len() <= FUNCTIONS);
