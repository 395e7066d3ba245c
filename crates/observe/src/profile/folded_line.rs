//! Formats samples as folded stacks.

use std::rc::Rc;

use ipcperf_model::instrument::profile::{IN_KERNEL, Space};

use super::symbolize::Function;

/// Formats one stack of `functions`, innermost first. Separators within a name are replaced.
pub(super) fn folded_line(role: &str, functions: &[Rc<Function>]) -> String {
    let mut line = role.to_owned();
    let mut last = None;
    for function in functions.iter().rev() {
        // Consecutive kernel callers without names are identical: one entry is enough.
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

#[cfg(test)]
mod tests {
    use ipcperf_model::instrument::profile::Group;

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
        assert_eq!(folded_line("both", &functions), "both;walk;walk;take::<[u8: 4]>;[kernel]_[k]");
    }
}
