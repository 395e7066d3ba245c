//! Kernel functions that the instrument traces.

/// Maximum number of functions that the BPF program can trace.
pub(super) const MAX_FUNCTIONS: usize = 40;

/// Alternative names of one function: it depends on the kernel version and the architecture.
pub(super) type Candidates = &'static [&'static str];

/// Entry function of the system call that is used as the mark ([`crate::MARK`]), and of no other call.
pub(super) const MARK_FUNCTION: Candidates = &["__x64_sys_getrusage", "__arm64_sys_getrusage"];

/// Functions that carry data, or wake a peer that waits for data. Each is called from a system call of its mechanism,
/// and is the outermost function that all variants of that system call share: `writev` reaches it like `write`,
/// `sendmsg` like `send`. The copy functions of sockets come last. The copy functions of pipes are not listed because
/// they live in the kernel's `lib` directory, which is not traceable.
pub(super) const DATA_PATH_FUNCTIONS: &[Candidates] = &[
    // Newer kernels use the second name: FIFOs have separate functions there, which call these.
    &["pipe_write", "anon_pipe_write"],
    &["pipe_read", "anon_pipe_read"],
    &["unix_stream_sendmsg"],
    &["unix_stream_recvmsg", "unix_stream_read_generic"],
    // Used by unix-seqpacket as well.
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
    // The function shared by both calls has more arguments than some kernels can trace.
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

const _: () = assert!(DATA_PATH_FUNCTIONS.len() <= MAX_FUNCTIONS);
