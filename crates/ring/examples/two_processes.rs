//! A parent sends, its child receives and replies: `cargo run -p ipcperf-ring --example two_processes`
//!
//! Each process calls `close_after_fork` on the sides that belong to the other process, so that a death is detected.

use std::error::Error;
use std::io;

use ipcperf_ring::{Consumer, Options, Producer, ring};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut requests, incoming_requests) = ring(&Options::default())?;
    let (outgoing_replies, mut replies) = ring(&Options::default())?;
    // SAFETY: the process has one thread.
    match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error().into()),
        0 => {
            requests.close_after_fork();
            replies.close_after_fork();
            return serve(incoming_requests, outgoing_replies);
        }
        _child => {
            incoming_requests.close_after_fork();
            outgoing_replies.close_after_fork();
        }
    }
    for number in 0..3_u32 {
        requests.send(&number.to_ne_bytes())?;
        let reply = replies.receive()?;
        println!("{number} squared is {}", u32::from_ne_bytes((*reply).try_into()?));
    }
    // This makes the child's next receive fail, and the child ends.
    drop(requests);
    // SAFETY: waits for the child; its status is not requested.
    unsafe { libc::wait(std::ptr::null_mut()) };
    Ok(())
}

fn serve(mut requests: Consumer, mut replies: Producer) -> Result<(), Box<dyn Error>> {
    while let Ok(request) = requests.receive() {
        let number = u32::from_ne_bytes((*request).try_into()?);
        let mut reply = replies.loan(4)?;
        reply.copy_from_slice(&(number * number).to_ne_bytes());
        reply.send();
    }
    Ok(())
}
