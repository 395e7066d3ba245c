//! Parses message options. Each option may be a list, and every set of values is a level of the matrix.

use ipcperf_model::message_options::{
    BufferReuse, CONTENTS, Content, FirstTouch, MessageOptionError, MessageOptions, RATIO, Reply,
    Touch,
};
use ipcperf_model::message_sizes::{MessageSizes, MessageSizesError, VALID_MIXTURES};
use ipcperf_model::size;
use ipcperf_model::workload::WorkloadKind;

use super::cell_count::check_count;
use super::total::Total;
use crate::error::Error;
use crate::factor::Factor;
use crate::factor_error::{FactorError, Reason};
use crate::spelling;
use crate::typed::{TypedLevels, TypedMessageOptions};

/// Message options, each parsed separately.
#[derive(Debug)]
pub(super) struct ParsedMessageOptions {
    /// Mixtures; one `None` if none was given.
    sizes: Result<Vec<Option<MessageSizes>>, FactorError>,
    touches: Result<Vec<Touch>, FactorError>,
    contents: Result<Vec<Content>, FactorError>,
    buffers: Result<Vec<BufferReuse>, FactorError>,
    first_touches: Result<Vec<FirstTouch>, FactorError>,
    /// `None` if no reply was given.
    replies: Result<Option<Vec<Reply>>, FactorError>,
}

impl TypedMessageOptions<'_> {
    pub(super) fn parse(&self) -> ParsedMessageOptions {
        ParsedMessageOptions {
            sizes: self.sizes.map_or(Ok(vec![None]), parse_mixtures),
            touches: parse_named(Factor::Touch, self.touch, &Touch::ALL, Touch::name),
            contents: spelling::parse_levels(Factor::Payload, self.payload, parse_content),
            buffers: parse_named(
                Factor::Buffers,
                self.buffers,
                &BufferReuse::ALL,
                BufferReuse::name,
            ),
            first_touches: parse_named(
                Factor::FirstTouch,
                self.first_touch,
                &FirstTouch::ALL,
                FirstTouch::name,
            ),
            replies: self
                .reply
                .map(|text| spelling::parse_list(Factor::Reply, text, parse_reply))
                .transpose(),
        }
    }
}

impl ParsedMessageOptions {
    /// Returns the options that could not be parsed.
    pub(super) fn errors(&self) -> impl Iterator<Item = &FactorError> {
        let errors = [
            self.sizes.as_ref().err(),
            self.touches.as_ref().err(),
            self.contents.as_ref().err(),
            self.buffers.as_ref().err(),
            self.first_touches.as_ref().err(),
            self.replies.as_ref().err(),
        ];
        errors.into_iter().flatten()
    }

    /// Checks that no `buffers` were given together with a mixture, which says how large messages are.
    pub(super) fn check_buffers(
        &self,
        buffers: Option<TypedLevels<'_>>,
    ) -> Result<(), FactorError> {
        let mixture = self.sizes.iter().flatten().find_map(Option::as_ref);
        match (mixture, buffers) {
            (Some(mixture), Some(_)) => {
                let reason = Reason::Without(Factor::Buffer.flag());
                Err(FactorError::new(Factor::Messages, &mixture.to_string(), reason))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a reply was given only if one of `workloads` uses it.
    pub(super) fn check_reply(&self, workloads: &[WorkloadKind]) -> Result<(), FactorError> {
        if matches!(self.replies, Ok(Some(_))) && !workloads.iter().any(|kind| kind.takes_reply()) {
            let reason = Reason::IsFor(Factor::Workload, vec!["request-reply", "server"]);
            return Err(FactorError::new(Factor::Reply, "", reason));
        }
        Ok(())
    }

    /// Checks that nothing touches the buffers before `total` is moved if the first touch is to be measured.
    pub(super) fn check_first_touch(&self, total: Total) -> Result<(), FactorError> {
        let first = self.first_touches.iter().flatten();
        let in_the_phase = first.copied().find(|first| *first != FirstTouch::AfterFork);
        match in_the_phase {
            Some(first) if total == Total::Calibrated => {
                Err(FactorError::new(Factor::FirstTouch, first.name(), Reason::NeedsTotal))
            }
            _ => Ok(()),
        }
    }

    /// Returns every combination.
    ///
    /// # Errors
    /// Returns the first parse error, or a usage error if there are too many combinations.
    pub(super) fn combine(self) -> Result<Vec<MessageOptions>, Error> {
        let (touches, contents) = (self.touches?, self.contents?);
        let (buffers, first, sizes) = (self.buffers?, self.first_touches?, self.sizes?);
        let replies = self.replies?.unwrap_or_else(|| vec![Reply::default()]);
        // Counted before they are generated: five short lists can make billions.
        let levels =
            [sizes.len(), touches.len(), contents.len(), buffers.len(), first.len(), replies.len()];
        check_count(levels.into_iter().fold(1, usize::saturating_mul))?;
        let mut all = vec![MessageOptions::default()];
        all = combine_with(&all, &sizes, |usual, sizes| MessageOptions { sizes, ..usual });
        all = combine_with(&all, &touches, |usual, touch| MessageOptions { touch, ..usual });
        all = combine_with(&all, &contents, |usual, content| MessageOptions { content, ..usual });
        all = combine_with(&all, &buffers, |usual, buffers| MessageOptions { buffers, ..usual });
        all = combine_with(&all, &first, |usual, first_touch| MessageOptions {
            first_touch,
            ..usual
        });
        Ok(combine_with(&all, &replies, |usual, reply| MessageOptions { reply, ..usual }))
    }
}

/// Returns `all` with the reply reset to its default for a `workload` that does not use it, without duplicates.
pub(super) fn for_workload(all: &[MessageOptions], workload: WorkloadKind) -> Vec<MessageOptions> {
    let fits = |message_options: &MessageOptions| match workload.takes_reply() {
        true => *message_options,
        false => MessageOptions { reply: Reply::default(), ..*message_options },
    };
    let mut fitting: Vec<MessageOptions> = all.iter().map(fits).collect();
    // Replies are crossed last, so options that differ only in the reply are neighbours.
    fitting.dedup();
    fitting
}

fn combine_with<T: Copy>(
    all: &[MessageOptions],
    levels: &[T],
    with: impl Fn(MessageOptions, T) -> MessageOptions,
) -> Vec<MessageOptions> {
    all.iter().flat_map(|usual| levels.iter().map(|&level| with(*usual, level))).collect()
}

/// Parses mixtures. Each text is one, because its sizes are separated by commas.
fn parse_mixtures(levels: TypedLevels<'_>) -> Result<Vec<Option<MessageSizes>>, FactorError> {
    let mut mixtures = Vec::new();
    for text in levels.texts() {
        let mixture = text.parse().map(Some).map_err(|error| wrong_mixture(text, &error))?;
        if !mixtures.contains(&mixture) {
            mixtures.push(mixture);
        }
    }
    Ok(mixtures)
}

fn wrong_mixture(text: &str, error: &MessageSizesError) -> FactorError {
    let takes = format!("{VALID_MIXTURES} ({error})");
    FactorError::new(Factor::Messages, text, Reason::Takes(takes))
}

fn parse_named<T: Copy + PartialEq>(
    factor: Factor,
    typed: Option<TypedLevels<'_>>,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<Vec<T>, FactorError> {
    let names: Vec<&str> = all.iter().map(|&one| name(one)).collect();
    spelling::parse_levels(factor, typed, |word| {
        let known = all.iter().copied().find(|&one| name(one) == word);
        known.ok_or_else(|| FactorError::unknown(factor, word, names.iter().copied()))
    })
}

fn parse_content(word: &str) -> Result<Content, FactorError> {
    word.parse().map_err(|error| match error {
        MessageOptionError::Ratio(ratio) => {
            FactorError::new(Factor::Payload, &ratio, Reason::Rule(RATIO))
        }
        _ => FactorError::unknown(Factor::Payload, word, CONTENTS.into_iter()),
    })
}

fn parse_reply(word: &str) -> Result<Reply, FactorError> {
    match word {
        "echo" => Ok(Reply::Echo),
        bytes => size::parse(bytes)
            .map(Reply::Bytes)
            .map_err(|error| spelling::size_error(Factor::Reply, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results omit options that have their defaults, so the defaults here must be the same.
    #[test]
    fn what_is_left_out_is_what_results_leave_out() {
        let all = TypedMessageOptions::default().parse().combine().unwrap();
        assert_eq!(all, [MessageOptions::default()]);
        assert_eq!(parse_reply(Factor::Reply.default_text()).unwrap(), Reply::default());
    }
}
