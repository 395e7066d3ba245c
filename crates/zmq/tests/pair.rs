//! Two sockets in one process.

use std::ffi::{CStr, CString};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use ipcperf_zmq::Pair;

/// Time within which libzmq closes a connection; it needs a millisecond.
const HANG: Duration = Duration::from_secs(60);

#[test]
fn what_one_sends_the_other_receives_and_knows_its_length() {
    let (mut one, mut other) = (Pair::new().unwrap(), Pair::new().unwrap());
    let address = format!("ipc://@ipcperf-zmq-{}\0", std::process::id());
    let address = CStr::from_bytes_with_nul(address.as_bytes()).unwrap();
    one.bind(address).unwrap();
    other.connect(address).unwrap();
    other.send(b"there").unwrap();
    let mut into = [0; 3];
    assert_eq!((one.recv(&mut into).unwrap(), &into), (5, b"the"));
    one.send(b"").unwrap();
    assert_eq!(other.recv(&mut into).unwrap(), 0);
}

#[test]
fn what_libzmq_refuses_is_an_error() {
    assert_eq!(Pair::new().unwrap().connect(c"nonsense").unwrap_err().raw_os_error(), Some(22));
}

#[test]
fn one_that_drops_what_is_unsent_is_closed_at_once() {
    let mut alone = Pair::new().unwrap();
    alone.drop_unsent().unwrap();
    alone.connect(c"ipc://@ipcperf-zmq-nobody").unwrap();
    alone.send(b"to nobody").unwrap();
}

/// Otherwise the real peer, which comes later, would be refused.
#[test]
fn a_connection_that_speaks_another_protocol_is_not_the_peer() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let place = listener.local_addr().unwrap();
    let address = CString::new(format!("tcp://{place}")).unwrap();
    let (mut one, mut other) = (Pair::new().unwrap(), Pair::new().unwrap());
    one.refuse_old_protocols().unwrap();
    one.bind_to(listener.into(), &address).unwrap();
    let mut stranger = TcpStream::connect(place).unwrap();
    stranger.set_read_timeout(Some(HANG)).unwrap();
    stranger.write_all(&[b'?'; 256]).unwrap();
    if let Err(error) = stranger.read_to_end(&mut Vec::new()) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "still connected: {error}");
    }
    other.connect(&address).unwrap();
    other.send(b"it is me").unwrap();
    let mut into = [0; 8];
    assert_eq!((one.recv(&mut into).unwrap(), &into), (8, b"it is me"));
}
