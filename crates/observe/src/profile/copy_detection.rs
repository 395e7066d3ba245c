//! Where the kernel copies, learned by watching it copy for this very thread: for those from whom it keeps
//! its symbols.
//!
//! Large blocks go into a pipe and out of it, and into a file in memory and out of it, and then single bytes
//! go, each in a page of its own. What gets, finds, locks and gives back pages takes as long for a page with
//! one byte as for a full one. What takes much longer for full ones copies.

use std::os::fd::OwnedFd;

use ipcperf_model::instrument::profile::{Reach, Space};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, pread, pwrite, read, write};
use rustix::param::page_size;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::time::{ClockId, clock_gettime};

use super::event::DEFAULT;
use super::sample::Sample;
use super::sampling::Sampling;
use super::threads;
use crate::profile::perf_event::Manner;

/// Bytes that are copied at once.
const BLOCK_BYTES: usize = 256 << 10;
/// Blocks that take turns to be copied from: more than the caches of a core hold, so that copying waits for
/// memory. What is copied to stays in them: what comes after the copying would wait until it is out.
const BLOCKS: usize = 32;
/// Pages that get one byte each at once: as many as any pipe holds.
const SMALL_PAGES: usize = 16;
/// For how much CPU time each kind of call is made, ns.
const SPELL_NS: i64 = 20_000_000;
/// Samples a second.
const FREQUENCY_HZ: u64 = 19_997;
/// Addresses less far apart belong to one loop.
const APART_BYTES: u64 = 32;
/// In and out.
const WAYS: usize = 2;
/// Below this share of the samples of one kind of call, a loop may be anything.
const LEAST_SHARE: f64 = 0.05;
/// What takes so much longer for a full page copies.
const LEAST_RATIO: f64 = 3.0;
/// How far from the samples of a loop those of what leads into it and out of it may lie.
const AROUND_BYTES: u64 = 64;

/// Addresses of instructions that copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies(Vec<(u64, u64)>);

impl Copies {
    /// Those between each pair, the second not among them.
    pub(super) const fn of(ranges: Vec<(u64, u64)>) -> Self {
        Self(ranges)
    }

    pub(super) fn contain(&self, address: u64) -> bool {
        self.0.iter().any(|&(from, to)| (from..to).contains(&address))
    }

    /// What the calling thread can learn; none where the kernel does not let it.
    pub(super) fn learn() -> Self {
        Self::of(ranges().unwrap_or_default())
    }
}

/// Where the kernel was while pages were moved.
#[derive(Debug, Default)]
struct Spell {
    addresses: Vec<u64>,
    pages: u64,
}

impl Spell {
    fn within(&self, (from, to): (u64, u64)) -> usize {
        self.addresses.iter().filter(|&&address| (from..to).contains(&address)).count()
    }
}

/// Moves pages, and says how many.
type Act = fn(&mut Bench) -> Result<u64, Errno>;

/// The loops that copy: one for each way, of each kind. What one kind misses, the other may find.
fn ranges() -> Option<Vec<(u64, u64)>> {
    let mut bench = Bench::new().ok()?;
    let kinds: [(Act, Act); 2] = [
        (Bench::large_by_file, Bench::small_by_file),
        (Bench::large_by_pipe, Bench::small_by_pipe),
    ];
    let mut found = Vec::new();
    for (large, small) in kinds {
        let [large, small] = [spell(|| large(&mut bench))?, spell(|| small(&mut bench))?];
        found.extend(loops(&large, &small));
    }
    Some(found)
}

/// Lets `act` move pages over and over.
fn spell(mut act: impl FnMut() -> Result<u64, Errno>) -> Option<Spell> {
    let own = Manner { reach: Reach::Threads, ..Manner::of(DEFAULT, FREQUENCY_HZ).ok()? };
    act().ok()?;
    let sampling = Sampling::of(&own, &[threads::calling()]).ok()?;
    let (mut pages, began_ns) = (0, cpu_time_ns());
    while cpu_time_ns() - began_ns < SPELL_NS {
        pages += act().ok()?;
    }
    let taken = sampling.stop().ok()?;
    let leaves = taken.samples.iter().map(Sample::leaf);
    let addresses = leaves.filter(|leaf| leaf.0 == Space::Kernel).map(|leaf| leaf.1).collect();
    Some(Spell { addresses, pages })
}

fn cpu_time_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The two stretches of addresses of which full pages take the most time beyond that of a single byte, of those
/// of which they take several times as much.
#[allow(clippy::cast_precision_loss)]
fn loops(large: &Spell, small: &Spell) -> Vec<(u64, u64)> {
    let little = |range| small.within(range) as f64 / small.pages.max(1) as f64;
    let much = |range| large.within(range) as f64 / large.pages.max(1) as f64;
    let is_loop = |&range: &(u64, u64)| {
        large.within(range) as f64 >= LEAST_SHARE * large.addresses.len() as f64
            && much(range) >= LEAST_RATIO * little(range)
    };
    let excess = |range| much(range) - little(range);
    let mut loops: Vec<_> = stretches(&large.addresses).into_iter().filter(is_loop).collect();
    loops.sort_by(|&one, &other| excess(other).total_cmp(&excess(one)));
    loops.truncate(WAYS);
    loops
        .into_iter()
        .map(|(from, to)| (from.saturating_sub(AROUND_BYTES), to + AROUND_BYTES))
        .collect()
}

/// What lies close together.
fn stretches(addresses: &[u64]) -> Vec<(u64, u64)> {
    let mut ordered = addresses.to_vec();
    ordered.sort_unstable();
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    for address in ordered {
        match stretches.last_mut() {
            Some(last) if address < last.1 + APART_BYTES => last.1 = address + 1,
            _ => stretches.push((address, address + 1)),
        }
    }
    stretches
}

/// What copies.
#[derive(Debug)]
struct Bench {
    file: OwnedFd,
    inlet: OwnedFd,
    outlet: OwnedFd,
    /// A pipe in which each write takes a page of its own.
    packets: (OwnedFd, OwnedFd),
    blocks: Vec<u8>,
    target: Vec<u8>,
    turn: usize,
}

impl Bench {
    fn new() -> Result<Self, Errno> {
        let file = memfd_create("ipcperf", MemfdFlags::CLOEXEC)?;
        // What does not fit into the pipe is not waited for.
        let (inlet, outlet) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // Where so much is not allowed, less goes through it at once.
        let _ = fcntl_setpipe_size(&outlet, BLOCK_BYTES);
        let packets = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK | PipeFlags::DIRECT)?;
        let (blocks, target) = (vec![1; BLOCKS * BLOCK_BYTES], vec![1; BLOCK_BYTES]);
        pwrite(&file, &blocks, 0)?;
        Ok(Self { file, inlet, outlet, packets, blocks, target, turn: 0 })
    }

    fn large_by_file(&mut self) -> Result<u64, Errno> {
        self.turn = (self.turn + 1) % BLOCKS;
        let at = self.turn * BLOCK_BYTES;
        pwrite(&self.file, &self.blocks[at..][..BLOCK_BYTES], 0)?;
        Ok(pages(pread(&self.file, &mut self.target, at as u64)?))
    }

    fn small_by_file(&mut self) -> Result<u64, Errno> {
        for page in 0..SMALL_PAGES {
            let at = (page * page_size()) as u64;
            pwrite(&self.file, &[1], at)?;
            pread(&self.file, &mut self.target[..1], at)?;
        }
        Ok(SMALL_PAGES as u64)
    }

    fn large_by_pipe(&mut self) -> Result<u64, Errno> {
        self.turn = (self.turn + 1) % BLOCKS;
        write(&self.outlet, &self.blocks[self.turn * BLOCK_BYTES..][..BLOCK_BYTES])?;
        Ok(pages(read(&self.inlet, &mut self.target)?))
    }

    fn small_by_pipe(&mut self) -> Result<u64, Errno> {
        for _ in 0..SMALL_PAGES {
            write(&self.packets.1, &[1])?;
        }
        for _ in 0..SMALL_PAGES {
            read(&self.packets.0, &mut self.target[..1])?;
        }
        Ok(SMALL_PAGES as u64)
    }
}

fn pages(bytes: usize) -> u64 {
    (bytes / page_size()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_take_longer_for_full_pages() {
        let mut addresses = vec![1_000; 50];
        addresses.extend([1_008, 1_039, 5_000, 6_000]);
        addresses.extend([9_000; 30]);
        let large = Spell { addresses, pages: 100 };
        // As often for a page, though not of all samples.
        let small = Spell { addresses: [vec![9_000; 10], vec![1_000; 3]].concat(), pages: 33 };
        assert_eq!(loops(&large, &small), [(936, 1_104)]);
        assert_eq!(loops(&Spell::default(), &small), []);
    }
}
