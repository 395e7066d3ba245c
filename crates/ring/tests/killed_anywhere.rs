//! Stops a process at each of its instructions in turn, from before its first message to after its last, and kills it
//! there. The process with the other side must get an error soon, and must never sleep on.
#![cfg(all(not(loom), any(target_arch = "x86_64", target_arch = "aarch64")))]

#[path = "killed_anywhere/registers.rs"]
mod registers;

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use ipcperf_ring::{Consumer, Error, Options, Producer, WaitStrategy, ring};

/// Time after which a survivor without an error counts as asleep. Many times what the ring needs, since the machine may
/// have other work; the ring's own waiting time is asserted where it is defined.
const LIMIT: Duration = Duration::from_secs(60);

/// Time for which a survivor lets its victim wait, so that the victim goes to sleep.
const PAUSE: Duration = Duration::from_millis(1);

/// Round trips of each victim: the first does not wait, the last waits for room.
const ROUNDS: usize = 2;

/// How the victim sends and receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Copy,
    Loan,
}

/// Both directions, as seen by one side.
struct Side {
    outgoing: Producer,
    incoming: Consumer,
}

impl Side {
    fn pair(options: &Options) -> [Self; 2] {
        let (there, arrives_there) = ring(options).unwrap();
        let (back, arrives_back) = ring(options).unwrap();
        let one = Self { outgoing: there, incoming: arrives_back };
        [one, Self { outgoing: back, incoming: arrives_there }]
    }

    fn close_after_fork(self) {
        self.outgoing.close_after_fork();
        self.incoming.close_after_fork();
    }

    /// Sends and receives as the victim does. Allocates no memory.
    fn exchange(&mut self, api: Api, buffer: &mut [u8]) -> Result<(), Error> {
        for _ in 0..ROUNDS {
            match api {
                Api::Copy => {
                    self.outgoing.send(buffer)?;
                    self.outgoing.flush();
                    self.incoming.recv(buffer)?;
                }
                Api::Loan => {
                    self.outgoing.loan(buffer.len())?.send();
                    self.incoming.receive()?;
                }
            }
        }
        Ok(())
    }

    /// Replies until the victim is gone, then sends until that fails too.
    fn survive(&mut self, bytes: usize) {
        let mut buffer = vec![0; bytes];
        while self.incoming.recv(&mut buffer).is_ok() {
            thread::sleep(PAUSE);
            if self.outgoing.send(&buffer).is_err() {
                break;
            }
            self.outgoing.flush();
        }
        while self.outgoing.send(&buffer).is_ok() {}
    }
}

/// A forked process under ptrace, stopped before its first message.
struct Victim(libc::pid_t);

impl Victim {
    fn fork(mut side: Side, other: Side, api: Api, buffer: &mut [u8]) -> (Self, Side) {
        // SAFETY: the child calls only the ring, which takes no lock and allocates no memory, and the kernel; it ends
        // by _exit.
        let process = unsafe { libc::fork() };
        assert!(process >= 0, "fork");
        if process > 0 {
            side.close_after_fork();
            let victim = Self(process);
            victim.wait();
            return (victim, other);
        }
        other.close_after_fork();
        // SAFETY: the calls involve no memory; the parent expects to trace this process.
        unsafe {
            libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
            libc::raise(libc::SIGSTOP);
            let result = side.exchange(api, buffer);
            libc::_exit(i32::from(result.is_err()));
        }
    }

    /// Returns the status in which it stopped or ended.
    fn wait(&self) -> i32 {
        let mut status = 0;
        // SAFETY: waits for a child of this thread.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, libc::__WALL) };
        assert_eq!(waited, self.0);
        status
    }

    fn request(&self, request: libc::c_uint, address: u64, data: u64) -> i64 {
        // SAFETY: the child is stopped and traced by this thread; no request made here makes the kernel write to this
        // process's memory.
        unsafe { libc::ptrace(request, self.0, address, data) }
    }

    /// Lets it execute one instruction, or one system call, or, with `PTRACE_CONT`, run to a breakpoint. Returns
    /// whether it stopped again.
    fn resume(&self, request: libc::c_uint) -> bool {
        assert_eq!(self.request(request, 0, 0), 0, "ptrace");
        let status = self.wait();
        if libc::WIFSTOPPED(status) {
            return true;
        }
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:x}");
        false
    }

    /// Address of its next instruction.
    fn instruction_pointer(&self) -> u64 {
        registers::instruction_pointer(self.0)
    }

    /// Runs it to `stop`; returns whether it got there.
    fn run_to(&self, stop: Stop) -> bool {
        for visit in 0..=stop.earlier_visits {
            let word = self.request(libc::PTRACE_PEEKTEXT, stop.address, 0).cast_unsigned();
            self.request(libc::PTRACE_POKETEXT, stop.address, registers::with_trap(word));
            if !self.resume(libc::PTRACE_CONT) {
                return false;
            }
            // Return to the original instruction; on some architectures the process is already past the trap.
            self.request(libc::PTRACE_POKETEXT, stop.address, word);
            registers::set_instruction_pointer(self.0, stop.address);
            if visit < stop.earlier_visits && !self.resume(libc::PTRACE_SINGLESTEP) {
                return false;
            }
        }
        true
    }

    fn kill(&self) {
        // SAFETY: signals a child that has not been reaped.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
        self.wait();
    }
}

/// An instruction of a victim: its address, and the number of earlier visits. All victims of a test have their code at
/// the same addresses, being forks of one process.
#[derive(Clone, Copy, Debug)]
struct Stop {
    address: u64,
    earlier_visits: usize,
}

/// Parameters of victim and survivor.
#[derive(Clone, Copy, Debug)]
struct Parameters {
    options: Options,
    api: Api,
    bytes: usize,
}

/// A victim, and the time when its survivor finished.
struct Trial {
    victim: Victim,
    survived_at: Receiver<Instant>,
}

impl Trial {
    fn begin(play: Parameters) -> Self {
        let [side, other] = Side::pair(&play.options);
        let (victim, mut other) = Victim::fork(side, other, play.api, &mut vec![7; play.bytes]);
        let (sender, survived_at): (Sender<Instant>, _) = channel();
        thread::spawn(move || {
            other.survive(play.bytes);
            sender.send(Instant::now())
        });
        Self { victim, survived_at }
    }

    /// All instructions of one victim, which is not killed.
    fn all_stops(play: Parameters) -> Vec<Stop> {
        let trial = Self::begin(play);
        let mut visits: HashMap<u64, usize> = HashMap::new();
        let mut stops = Vec::new();
        loop {
            let address = trial.victim.instruction_pointer();
            let visited = visits.entry(address).or_default();
            stops.push(Stop { address, earlier_visits: *visited });
            *visited += 1;
            if !trial.victim.resume(libc::PTRACE_SINGLESTEP) {
                return stops;
            }
        }
    }

    /// Kills a victim at `stop`. If its path differs, because it need not wait, it is not killed.
    fn death(play: Parameters, stop: Stop) -> (Instant, Receiver<Instant>) {
        let trial = Self::begin(play);
        if trial.victim.run_to(stop) {
            trial.victim.kill();
        }
        (Instant::now(), trial.survived_at)
    }
}

/// Time from a death until the survivor detected it.
fn detection_time((died, survived): (Instant, Receiver<Instant>), stop: Stop) -> Duration {
    let ended = survived.recv_timeout(LIMIT);
    let ended = ended.unwrap_or_else(|_| panic!("asleep after a death at {stop:x?}"));
    ended.saturating_duration_since(died)
}

/// Kills a victim at each instruction.
fn kill_at_each_step(play: Parameters) {
    let stops = Trial::all_stops(play);
    assert!(stops.len() > 100, "{play:?}: {} steps are no messages", stops.len());
    let deaths: Vec<_> = stops.iter().map(|&stop| Trial::death(play, stop)).collect();
    let longest = stops.iter().zip(deaths).map(|(&stop, death)| detection_time(death, stop)).max();
    println!("{play:?}: killed at {} steps, noticed within {longest:?}", stops.len());
}

fn options(waiting: WaitStrategy) -> Options {
    Options {
        capacity_bytes: 4096,
        chunk_bytes: 4096,
        longest_in_ring_bytes: 3000,
        slots: 1,
        slot_bytes: 4096,
        waiting,
        ..Options::default()
    }
}

fn parameters(api: Api, bytes: usize) -> Parameters {
    Parameters { options: options(WaitStrategy::Futex), api, bytes }
}

#[test]
fn copying() {
    kill_at_each_step(parameters(Api::Copy, 1500));
}

#[test]
fn holding_back() {
    let options = Options { batch_bytes: 4096, ..options(WaitStrategy::Futex) };
    kill_at_each_step(Parameters { options, ..parameters(Api::Copy, 100) });
}

#[test]
fn in_place_in_the_ring() {
    kill_at_each_step(parameters(Api::Loan, 2500));
}

#[test]
fn in_place_in_the_pool() {
    kill_at_each_step(parameters(Api::Loan, 3500));
}

#[test]
fn giving_way() {
    kill_at_each_step(Parameters {
        options: options(WaitStrategy::Yield),
        ..parameters(Api::Copy, 8)
    });
}
