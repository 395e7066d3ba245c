//! Stacks as lines of text: `role;outermost;...;innermost COUNT`, what programs that draw flame graphs read.

use super::row::Row;
#[cfg(target_os = "linux")]
use super::row::Space;
use crate::Observation;

/// What marks a function of the kernel, as other tools do.
pub(super) const IN_KERNEL: &str = "_[k]";

/// One line for each stack in `observations`, the most frequent of each role first.
#[must_use]
pub fn folded(observations: &[Observation]) -> String {
    let stacks = observations.iter().filter_map(|observation| match observation.row()? {
        Row::Stack(stack) => Some(format!("{} {}\n", stack.stack, stack.samples)),
        _ => None,
    });
    stacks.collect()
}

/// A stack of `functions`, the innermost first. What a name has of the separator is written otherwise.
#[cfg(target_os = "linux")]
pub(super) fn line(role: &str, functions: &[std::rc::Rc<super::names::Function>]) -> String {
    let mut line = role.to_owned();
    let mut last = None;
    for function in functions.iter().rev() {
        // Callers in a kernel without names are all the same.
        if last == Some(function) && function.symbol.starts_with('[') {
            continue;
        }
        let mark = if function.space == Space::Kernel { IN_KERNEL } else { "" };
        let name = function.symbol.replace(';', ":").replace('\n', " ");
        line.extend([";", &name, mark]);
        last = Some(function);
    }
    line
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::rc::Rc;

    use super::super::names::Function;
    use super::super::row::{Group, Stack};
    use super::*;

    fn function(space: Space, symbol: &str) -> Rc<Function> {
        let (object, symbol) = ("object".to_owned(), symbol.to_owned());
        Rc::new(Function { space, object, symbol, group: Group::TheRest })
    }

    #[test]
    fn a_line_begins_with_the_role_and_ends_where_the_sample_was() {
        let unnamed = function(Space::Kernel, "[kernel]");
        let recursive = function(Space::User, "walk");
        let functions = [
            Rc::clone(&unnamed),
            unnamed,
            function(Space::User, "take::<[u8; 4]>"),
            Rc::clone(&recursive),
            recursive,
        ];
        assert_eq!(line("both", &functions), "both;walk;walk;take::<[u8: 4]>;[kernel]_[k]");
    }

    #[test]
    fn stacks_alone_are_folded() {
        let stack = Row::Stack(Stack { stack: "both;main".to_owned(), samples: 3 });
        let other = serde_json::json!({"calls": 3});
        let told = [Observation::of(Some("both"), &stack), Observation::of(Some("both"), &other)];
        assert_eq!(folded(&told), "both;main 3\n");
    }
}
