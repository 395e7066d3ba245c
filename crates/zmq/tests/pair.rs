//! Two sockets in one process.

use std::ffi::CStr;

use ipcperf_zmq::Pair;

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
