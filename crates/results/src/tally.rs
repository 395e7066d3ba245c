//! How many lines a results file has: what its footer says, and what is held against it.

use super::record::Line;

/// Number of lines of each kind; a line that is there twice counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of the last line.
    pub last_seq: u64,
    /// Samples.
    pub samples: u64,
    /// Observations.
    pub observations: u64,
    /// Failures.
    pub failures: u64,
    /// Numbers below the last that no line has.
    pub lost_lines: u64,
}

impl Tally {
    /// Counts `line` as the next one, and gives it its number.
    pub(super) fn number(&mut self, line: &mut Line) {
        let seq = match line {
            Line::Header(_) => return,
            Line::Sample(sample) => {
                self.samples += 1;
                &mut sample.seq
            }
            Line::Observation(seen) => {
                self.observations += 1;
                &mut seen.seq
            }
            Line::Failure(failed) => {
                self.failures += 1;
                &mut failed.seq
            }
            Line::Footer(footer) => &mut footer.seq,
        };
        self.last_seq = self.last_seq.saturating_add(1);
        *seq = Some(self.last_seq);
    }
}
