//! Infers the addresses at which the kernel copies, for users who may not read kernel symbols, by sampling copies that
//! the calling thread makes.
//!
//! The thread moves large blocks into and out of a pipe and a memory file, and then single bytes, each in a separate
//! page. The code that allocates, finds, locks and frees pages takes as long for a page with one byte as for a full
//! page. Code that takes much longer for full pages copies.

use std::os::fd::OwnedFd;

use ipcperf_model::instrument::profile::{SampledThreads, Space};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::io::{Errno, pread, pwrite, read, write};
use rustix::param::page_size;
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::time::{ClockId, clock_gettime};

use super::event::DEFAULT_EVENT;
use super::perf_event::SampleConfig;
use super::sample::Sample;
use super::sampling::Sampling;
use super::threads;

/// Size of a block that is copied at once, bytes.
const BLOCK_BYTES: usize = 256 << 10;
/// Number of source blocks, used in rotation: more than a core's caches hold, so that copying waits for memory. The
/// target stays cached; otherwise the code after the copy would wait for it to be written back.
const BLOCKS: usize = 32;
/// Number of pages that receive one byte each at once: as many as any pipe holds.
const SMALL_PAGES: usize = 16;
/// CPU time for which each kind of call is repeated, ns.
const SAMPLING_NS: i64 = 20_000_000;
/// Sampling frequency, Hz.
const FREQUENCY_HZ: u64 = 19_997;
/// Maximum distance between addresses of the same loop, bytes.
const MAX_GAP_BYTES: u64 = 32;
/// Number of copy directions: in and out.
const DIRECTIONS: usize = 2;
/// Minimum share of the samples of one kind of call; a loop with fewer is ignored as noise.
const MIN_SHARE: f64 = 0.05;
/// Minimum ratio of the time for a full page to that for one byte, for code to be taken as a copy loop.
const MIN_RATIO: f64 = 3.0;
/// Margin around the samples of a loop that covers the instructions before and after it, bytes.
const MARGIN_BYTES: u64 = 64;

/// Address ranges of instructions that copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CopyRanges(Vec<(u64, u64)>);

impl CopyRanges {
    /// Creates the set from half-open ranges: the second address of each pair is excluded.
    pub(super) const fn new(ranges: Vec<(u64, u64)>) -> Self {
        Self(ranges)
    }

    pub(super) fn contains(&self, address: u64) -> bool {
        self.0.iter().any(|&(from, to)| (from..to).contains(&address))
    }

    /// Infers the ranges in the calling thread; empty if the kernel does not allow sampling it.
    pub(super) fn infer() -> Self {
        Self::new(find_copy_loops().unwrap_or_default())
    }
}

/// Kernel addresses sampled while pages were moved.
#[derive(Debug, Default)]
struct AddressSamples {
    addresses: Vec<u64>,
    pages: u64,
}

impl AddressSamples {
    fn count_in(&self, (from, to): (u64, u64)) -> usize {
        self.addresses.iter().filter(|&&address| (from..to).contains(&address)).count()
    }
}

/// Moves pages and returns their number.
type CopyFn = fn(&mut CopyBuffers) -> Result<u64, Errno>;

/// Returns the copy loops found with a file and with a pipe, up to one for each direction: one may find what the other
/// misses.
fn find_copy_loops() -> Option<Vec<(u64, u64)>> {
    let mut bench = CopyBuffers::new().ok()?;
    let kinds: [(CopyFn, CopyFn); 2] = [
        (CopyBuffers::large_by_file, CopyBuffers::small_by_file),
        (CopyBuffers::large_by_pipe, CopyBuffers::small_by_pipe),
    ];
    let mut found = Vec::new();
    for (large, small) in kinds {
        let [large, small] =
            [sample_repeated(|| large(&mut bench))?, sample_repeated(|| small(&mut bench))?];
        found.extend(select_copy_loops(&large, &small));
    }
    Some(found)
}

/// Repeats `act` and samples it.
fn sample_repeated(mut act: impl FnMut() -> Result<u64, Errno>) -> Option<AddressSamples> {
    let config = SampleConfig {
        sampled: SampledThreads::Threads,
        ..SampleConfig::new(DEFAULT_EVENT, FREQUENCY_HZ).ok()?
    };
    act().ok()?;
    let sampling = Sampling::start(&config, &[threads::current()]).ok()?;
    let (mut pages, began_ns) = (0, cpu_time_ns());
    while cpu_time_ns() - began_ns < SAMPLING_NS {
        pages += act().ok()?;
    }
    let taken = sampling.stop().ok()?;
    let leaves = taken.samples.iter().map(Sample::leaf);
    let addresses = leaves.filter(|leaf| leaf.0 == Space::Kernel).map(|leaf| leaf.1).collect();
    Some(AddressSamples { addresses, pages })
}

fn cpu_time_ns() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Returns the copy loops: among the address ranges that take several times as long for a full page as for a single
/// byte, the two with the largest difference in time.
#[allow(clippy::cast_precision_loss)]
fn select_copy_loops(large: &AddressSamples, small: &AddressSamples) -> Vec<(u64, u64)> {
    let small_rate = |range| small.count_in(range) as f64 / small.pages.max(1) as f64;
    let large_rate = |range| large.count_in(range) as f64 / large.pages.max(1) as f64;
    let is_loop = |&range: &(u64, u64)| {
        large.count_in(range) as f64 >= MIN_SHARE * large.addresses.len() as f64
            && large_rate(range) >= MIN_RATIO * small_rate(range)
    };
    let excess = |range| large_rate(range) - small_rate(range);
    let mut loops: Vec<_> = merge_neighbors(&large.addresses).into_iter().filter(is_loop).collect();
    loops.sort_by(|&one, &other| excess(other).total_cmp(&excess(one)));
    loops.truncate(DIRECTIONS);
    loops
        .into_iter()
        .map(|(from, to)| (from.saturating_sub(MARGIN_BYTES), to + MARGIN_BYTES))
        .collect()
}

/// Merges neighboring addresses into ranges.
fn merge_neighbors(addresses: &[u64]) -> Vec<(u64, u64)> {
    let mut sorted = addresses.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for address in sorted {
        match ranges.last_mut() {
            Some(last) if address < last.1 + MAX_GAP_BYTES => last.1 = address + 1,
            _ => ranges.push((address, address + 1)),
        }
    }
    ranges
}

/// Files, pipes and buffers for the copies.
#[derive(Debug)]
struct CopyBuffers {
    file: OwnedFd,
    reader: OwnedFd,
    writer: OwnedFd,
    /// A pipe in packet mode, in which each write takes a separate page.
    packets: (OwnedFd, OwnedFd),
    blocks: Vec<u8>,
    target: Vec<u8>,
    next_block: usize,
}

impl CopyBuffers {
    fn new() -> Result<Self, Errno> {
        let file = memfd_create("ipcperf", MemfdFlags::CLOEXEC)?;
        // Non-blocking: data that do not fit into the pipe are dropped rather than waited for.
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // If this size is not allowed, less data passes through the pipe at once.
        let _ = fcntl_setpipe_size(&writer, BLOCK_BYTES);
        let packets = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK | PipeFlags::DIRECT)?;
        let (blocks, target) = (vec![1; BLOCKS * BLOCK_BYTES], vec![1; BLOCK_BYTES]);
        pwrite(&file, &blocks, 0)?;
        Ok(Self { file, reader, writer, packets, blocks, target, next_block: 0 })
    }

    fn large_by_file(&mut self) -> Result<u64, Errno> {
        self.next_block = (self.next_block + 1) % BLOCKS;
        let at = self.next_block * BLOCK_BYTES;
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
        self.next_block = (self.next_block + 1) % BLOCKS;
        write(&self.writer, &self.blocks[self.next_block * BLOCK_BYTES..][..BLOCK_BYTES])?;
        Ok(pages(read(&self.reader, &mut self.target)?))
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
        let large = AddressSamples { addresses, pages: 100 };
        // The same time per page, but a different share of all samples.
        let small =
            AddressSamples { addresses: [vec![9_000; 10], vec![1_000; 3]].concat(), pages: 33 };
        assert_eq!(select_copy_loops(&large, &small), [(936, 1_104)]);
        assert_eq!(select_copy_loops(&AddressSamples::default(), &small), []);
    }
}
