//! Implementation of `vsock`.

use std::os::fd::{AsRawFd, OwnedFd};

use ipcperf_model::{Failure, Unavailable};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrAny, SocketFlags, SocketType, bind, getpeername, getsockname,
    socket_with,
};

use crate::channel::{Channel, Granted, Mechanism, Opened, Setup};
use crate::mechanism::self_connect::connect_pair;
use crate::mechanism::setup_failure::setup_failure;
use crate::mechanism::socket::SocketEnd;
use crate::mechanism::waiting::{self, AnyWait};
use crate::platform::errno_result;

/// The part of `vsock` that needs Linux.
pub(super) const IMPLEMENTATION: Mechanism = Mechanism {
    availability: || bind_loopback().map(drop).map_err(unavailable),
    execute: waiting::execute::<Vsock, AnyWait>,
    ..Mechanism::BASE
};

fn unavailable(errno: Errno) -> Unavailable {
    let reason = match errno {
        Errno::AFNOSUPPORT => "the kernel has no AF_VSOCK",
        Errno::ADDRNOTAVAIL => "AF_VSOCK has no loopback transport",
        _ => "cannot open a socket of AF_VSOCK",
    };
    let remedy = "run modprobe vsock_loopback, for a container on its host; vsock needs Linux 5.6 with \
        CONFIG_VSOCKETS_LOOPBACK, and a seccomp filter that allows AF_VSOCK";
    Unavailable { reason: format!("{reason}: {errno}"), remedy: remedy.to_owned() }
}

struct Vsock;

impl Channel for Vsock {
    type End = SocketEnd<false>;

    fn open(setup: &Setup<'_>) -> Result<Opened<Self::End>, Failure> {
        let failed = |e| setup_failure("connecting on CID 1 of AF_VSOCK", e);
        // When a connection is made, each end reports its buffer size to the other, so buffers are requested
        // before. The accepted socket inherits the listener's.
        let with_buffer = |made: Result<OwnedFd, Errno>| {
            let socket = made?;
            setup
                .kernel_buffer_requested_bytes
                .map_or(Ok(()), |bytes| request_buffer(&socket, bytes))?;
            Ok(socket)
        };
        let listener = with_buffer(bind_loopback()).map_err(failed)?;
        let address = getsockname(&listener).map_err(failed)?;
        let make = || with_buffer(new_socket()).map_err(failed);
        let [sender, receiver] = connect_pair(&listener, &address, make, has_peer_port, setup)?;
        let granted =
            Granted { kernel_buffer_bytes: Some(granted_buffer(&receiver).map_err(failed)?) };
        let [sender, receiver] = [sender, receiver].map(|socket| SocketEnd { socket });
        Ok(Opened { sender, receiver, granted })
    }
}

/// Compares ports, each of which belongs to one socket of the machine: a socket that was not bound does not
/// know its CID.
fn has_peer_port(accepted: &OwnedFd, sender: &OwnedFd) -> Result<bool, Errno> {
    let peer = getpeername(accepted)?.as_ref().map(port);
    Ok(peer.is_some() && peer == Some(port(&getsockname(sender)?)))
}

fn port(address: &SocketAddrAny) -> Option<u32> {
    let at = std::mem::offset_of!(libc::sockaddr_vm, svm_port);
    // SAFETY: the kernel wrote the bytes below the address's length.
    let bytes = unsafe {
        std::slice::from_raw_parts(address.as_ptr().cast::<u8>(), address.addr_len() as usize)
    };
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn new_socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::VSOCK, SocketType::STREAM, SocketFlags::CLOEXEC, None)
}

/// Creates a socket on the loopback transport, bound to a port that the kernel chooses.
fn bind_loopback() -> Result<OwnedFd, Errno> {
    let address = libc::sockaddr_vm {
        svm_family: AddressFamily::VSOCK.as_raw(),
        svm_reserved1: 0,
        svm_port: libc::VMADDR_PORT_ANY,
        svm_cid: libc::VMADDR_CID_LOCAL,
        svm_zero: [0; 4],
    };
    const { assert!(size_of::<libc::sockaddr_vm>() == 16) };
    // SAFETY: it copies 16 bytes, which are the whole of `address`.
    let address = unsafe { SocketAddrAny::read((&raw const address).cast(), 16) };
    let socket = new_socket()?;
    bind(&socket, &address)?;
    Ok(socket)
}

/// `SO_VM_SOCKETS_BUFFER_SIZE` and `SO_VM_SOCKETS_BUFFER_MAX_SIZE` of `linux/vm_sockets.h`.
const BUFFER_SIZE: libc::c_int = 0;

const BUFFER_MAX_SIZE: libc::c_int = 2;

/// Minimum buffer size that is requested, which is also the kernel's minimum: with 1 byte a receive fails
/// with `ENOMEM`.
const MIN_BUFFER_BYTES: u64 = 128;

/// Requests a buffer of `bytes` bytes, after raising the maximum to allow it.
fn request_buffer(socket: &OwnedFd, bytes: u64) -> Result<(), Errno> {
    let bytes = bytes.max(MIN_BUFFER_BYTES);
    let (socket, value) = (socket.as_raw_fd(), (&raw const bytes).cast());
    for option in [BUFFER_MAX_SIZE, BUFFER_SIZE] {
        // SAFETY: the kernel reads 8 bytes, which are the whole of `bytes`.
        errno_result(unsafe { libc::setsockopt(socket, libc::AF_VSOCK, option, value, 8) })?;
    }
    Ok(())
}

fn granted_buffer(socket: &OwnedFd) -> Result<u64, Errno> {
    let (mut bytes, mut length) = (0_u64, 8);
    let (socket, value) = (socket.as_raw_fd(), (&raw mut bytes).cast());
    let length = &raw mut length;
    // SAFETY: the kernel writes at most 8 bytes, the whole of `bytes`, and their number to `length`.
    errno_result(unsafe { libc::getsockopt(socket, libc::AF_VSOCK, BUFFER_SIZE, value, length) })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Setting buffers needs no transport. Without `AF_VSOCK` in the kernel the test passes without a check.
    #[test]
    fn a_buffer_is_granted_beyond_its_usual_maximum_but_not_below_its_minimum() {
        let Ok(socket) = new_socket() else { return };
        for (asked, given) in [(4096, 4096), (1 << 20, 1 << 20), (1, MIN_BUFFER_BYTES)] {
            request_buffer(&socket, asked).unwrap();
            assert_eq!(granted_buffer(&socket), Ok(given));
        }
    }

    #[test]
    fn the_port_of_an_address_is_read_where_the_kernel_put_it() {
        let Ok(socket) = new_socket() else { return };
        let address = |port| libc::sockaddr_vm {
            svm_family: AddressFamily::VSOCK.as_raw(),
            svm_reserved1: 0,
            svm_port: port,
            svm_cid: libc::VMADDR_CID_ANY,
            svm_zero: [0; 4],
        };
        // SAFETY: it copies 16 bytes, which are the whole of the address.
        let any = |wanted: &libc::sockaddr_vm| unsafe {
            SocketAddrAny::read(std::ptr::from_ref(wanted).cast(), 16)
        };
        assert_eq!(port(&any(&address(0x1234_5678))), Some(0x1234_5678));
        bind(&socket, &any(&address(libc::VMADDR_PORT_ANY))).unwrap();
        let bound = port(&getsockname(&socket).unwrap());
        assert!(bound.is_some_and(|port| port != libc::VMADDR_PORT_ANY), "{bound:?}");
    }
}
