//! Formats samples as folded stacks.

use std::rc::Rc;

use ipcperf_model::instrument::profile::{Stack, StackFrame};

use super::symbolize::{Function, Origin};

/// Formats one stack of `functions`, innermost first.
pub(super) fn folded_line(role: &str, functions: &[Rc<Function>]) -> String {
    let mut outermost_first: Vec<&Function> = functions.iter().rev().map(Rc::as_ref).collect();
    // Consecutive callers without names are identical: one entry is enough.
    outermost_first.dedup_by(|function, last| function == last && last.origin != Origin::Symbol);
    let frames = outermost_first.iter();
    Stack::text(role, frames.map(|one| StackFrame { space: one.space, symbol: &one.symbol }))
}

#[cfg(test)]
mod tests {
    use ipcperf_model::instrument::profile::{Group, Space};

    use super::*;

    fn function(space: Space, symbol: &str, origin: Origin) -> Rc<Function> {
        let (object, symbol) = ("object".to_owned(), symbol.to_owned());
        Rc::new(Function { space, object, symbol, group: Group::Other, origin })
    }

    #[test]
    fn a_line_begins_with_the_role_and_ends_where_the_sample_was() {
        let unnamed = function(Space::Kernel, "[kernel]", Origin::Location);
        let recursive = function(Space::User, "walk", Origin::Symbol);
        let functions = [
            Rc::clone(&unnamed),
            unnamed,
            function(Space::User, "take::<[u8; 4]>", Origin::Symbol),
            Rc::clone(&recursive),
            recursive,
        ];
        assert_eq!(folded_line("both", &functions), "both;walk;walk;take::<[u8: 4]>;[kernel]_[k]");
    }
}
