//! Line counts of a results file, as stated in the footer and as found in the file.

use super::record::ResultsLine;

/// Number of lines of each kind; a duplicated line counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of the last line.
    pub last_seq: u64,
    /// Number of samples.
    pub samples: u64,
    /// Number of peers.
    pub peers: u64,
    /// Number of observations.
    pub observations: u64,
    /// Number of failures.
    pub failures: u64,
    /// Number of missing lines: line numbers below the last that no line has.
    pub lost_lines: u64,
}

impl Tally {
    /// Counts `line` as the next one, and sets its number.
    pub(super) fn number(&mut self, line: &mut ResultsLine) {
        let seq = match line {
            ResultsLine::Header(_) => return,
            ResultsLine::Sample(sample) => {
                self.samples += 1;
                &mut sample.seq
            }
            ResultsLine::Peer(peer) => {
                self.peers += 1;
                &mut peer.seq
            }
            ResultsLine::Observation(seen) => {
                self.observations += 1;
                &mut seen.seq
            }
            ResultsLine::Failure(failed) => {
                self.failures += 1;
                &mut failed.seq
            }
            ResultsLine::Footer(footer) => &mut footer.seq,
        };
        self.last_seq = self.last_seq.saturating_add(1);
        *seq = Some(self.last_seq);
    }
}
