//! What is done with messages, as it was typed: each word may be a list, and every combination is a
//! level of the matrix.

use ipcperf_model::message_options::{Content, FirstTouch, Handling, Reply, Reuse, Touch};
use ipcperf_model::size;
use ipcperf_model::workload::Kind;

use super::cell_count::check_count;
use super::total::Total;
use crate::error::Error;
use crate::spelling as words;

/// The arguments as they were typed; left out, each is as usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct TypedHandling<'a> {
    /// `--touch`.
    pub touch: Option<&'a str>,
    /// `--payload`.
    pub payload: Option<&'a str>,
    /// `--buffers`.
    pub buffers: Option<&'a str>,
    /// `--first-touch`.
    pub first_touch: Option<&'a str>,
    /// `--reply`.
    pub reply: Option<&'a str>,
}

impl TypedHandling<'_> {
    /// Every combination of what was typed.
    ///
    /// # Errors
    /// Usage for words that are not known, and for a combination that says nothing.
    pub(super) fn parse(&self, workloads: &[Kind], total: Total) -> Result<Vec<Handling>, Error> {
        let touches =
            words::levels(self.touch, |word| named("--touch", word, &Touch::ALL, Touch::name))?;
        let contents = words::levels(self.payload, |word| {
            word.parse::<Content>().map_err(|error| Error::usage(format!("--payload: {error}")))
        })?;
        let buffers =
            words::levels(self.buffers, |word| named("--buffers", word, &Reuse::ALL, Reuse::name))?;
        let first = words::levels(self.first_touch, |word| {
            named("--first-touch", word, &FirstTouch::ALL, FirstTouch::name)
        })?;
        let replies = words::levels(self.reply, reply)?;
        self.check(workloads, total, &first)?;
        // Counted before they are made: five short lists can make billions.
        let levels = [touches.len(), contents.len(), buffers.len(), first.len(), replies.len()];
        check_count(levels.into_iter().fold(1, usize::saturating_mul))?;
        let mut all = vec![Handling::default()];
        all = crossed(&all, &touches, |usual, touch| Handling { touch, ..usual });
        all = crossed(&all, &contents, |usual, content| Handling { content, ..usual });
        all = crossed(&all, &buffers, |usual, buffers| Handling { buffers, ..usual });
        all = crossed(&all, &first, |usual, first_touch| Handling { first_touch, ..usual });
        Ok(crossed(&all, &replies, |usual, reply| Handling { reply, ..usual }))
    }

    fn check(&self, workloads: &[Kind], total: Total, first: &[FirstTouch]) -> Result<(), Error> {
        if self.reply.is_some() && !workloads.contains(&Kind::RequestReply) {
            return Err(Error::usage("--reply is for -w request-reply"));
        }
        let in_the_phase = first.iter().find(|first| **first != FirstTouch::AfterFork);
        match in_the_phase {
            Some(first) if total == Total::Calibrated => Err(Error::usage(format!(
                "--first-touch {} needs --total: the short phases that find a total would take all the \
                 faults before the one that counts",
                first.name()
            ))),
            _ => Ok(()),
        }
    }
}

/// `all` as they are for `workload`: where nothing is answered otherwise, no reply tells them apart.
pub(super) fn fitting(all: &[Handling], workload: Kind) -> Vec<Handling> {
    let fits = |handling: &Handling| match workload {
        Kind::RequestReply => *handling,
        _ => Handling { reply: Reply::default(), ..*handling },
    };
    let mut fitting: Vec<Handling> = all.iter().map(fits).collect();
    // Replies are crossed last, so those that differ in nothing else are neighbours.
    fitting.dedup();
    fitting
}

fn crossed<T: Copy>(
    all: &[Handling],
    levels: &[T],
    with: impl Fn(Handling, T) -> Handling,
) -> Vec<Handling> {
    all.iter().flat_map(|usual| levels.iter().map(|&level| with(*usual, level))).collect()
}

fn named<T: Copy>(
    flag: &str,
    word: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Error> {
    let known = all.iter().copied().find(|&one| name(one) == word);
    let names: Vec<&str> = all.iter().map(|&one| name(one)).collect();
    known.ok_or_else(|| words::unknown(&format!("value of {flag}"), word, names.iter().copied()))
}

fn reply(word: &str) -> Result<Reply, Error> {
    match word {
        "echo" => Ok(Reply::Echo),
        bytes => size::parse(bytes)
            .map(Reply::Bytes)
            .map_err(|error| Error::usage(format!("--reply takes echo or a size: {error}"))),
    }
}
