//! Formats stacks as lines of text, `role;outermost;...;innermost COUNT`, the input of flame graph tools.

use super::row::Row;
use crate::observation::Observation;

/// Suffix of a kernel function, as in other tools.
pub const IN_KERNEL: &str = "_[k]";

/// Returns one line for each stack in `observations`, the most frequent of each role first.
#[must_use]
pub fn folded(observations: &[Observation]) -> String {
    let stacks = observations.iter().filter_map(|observation| match observation.row()? {
        Row::Stack(stack) => Some(format!("{} {}\n", stack.stack, stack.samples)),
        _ => None,
    });
    stacks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::profile::row::Stack;

    #[test]
    fn stacks_alone_are_folded() {
        let stack = Row::Stack(Stack { stack: "both;main".to_owned(), samples: 3 });
        let other = serde_json::json!({"calls": 3});
        let told = [Observation::of(Some("both"), &stack), Observation::of(Some("both"), &other)];
        assert_eq!(folded(&told), "both;main 3\n");
    }
}
