//! Permission to run the custom mechanisms that a file names: programs and libraries that would run with the rights of
//! the user (`--allow-custom`).

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use ipcperf_results::Origin;

use crate::error::Error;
use crate::printing::print_message;

/// Maximum number of mechanisms listed; nobody reads more.
const MAX_LISTED: usize = 20;

#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct CustomArguments {
    /// Run the custom mechanisms (exec:, lib:) and prefixes (--sender-prefix) that a file names even if another user owns this file or can write to it;
    /// without this option, ipcperf refuses such a file
    #[arg(long)]
    allow_custom: bool,
}

impl CustomArguments {
    /// Checks that the custom mechanisms and prefixes `names` of the file at `path` may be run. If the file does not belong to the
    /// user, lists them first, whether they are allowed or not.
    ///
    /// # Errors
    /// Returns a usage error if the file does not belong to the user and the mechanisms were not allowed.
    pub(super) fn check_permission(
        self,
        path: &Path,
        origin: Origin,
        names: &BTreeSet<String>,
    ) -> Result<(), Error> {
        if names.is_empty() || origin == Origin::Trusted {
            return Ok(());
        }
        let path = path.display();
        for name in names.iter().take(MAX_LISTED) {
            print_message(&format!("ipcperf: {path} names a program to run: {name}"));
        }
        if names.len() > MAX_LISTED {
            print_message(&format!(
                "ipcperf: {path} names {} more programs to run",
                names.len() - MAX_LISTED
            ));
        }
        if self.allow_custom {
            return Ok(());
        }
        let some: Vec<&str> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
        let some = some.join(", ");
        Err(Error::usage(format!(
            "{path} names programs to run ({some}), and {origin}; add --allow-custom to run them"
        )))
    }
}
