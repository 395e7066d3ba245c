//! Custom mechanisms named in a file: programs and libraries that would run with the rights of the user.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use ipcperf_results::Origin;

use crate::error::Error;
use crate::printing::tell;

/// Maximum number of mechanisms listed; nobody reads more.
const MOST_NAMED: usize = 20;

#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct CustomArguments {
    /// Run the exec: and lib: mechanisms that FILE names although it is not your own: another user owns it, or others
    /// may write to it
    #[arg(long)]
    allow_custom: bool,
}

impl CustomArguments {
    /// Checks that the custom mechanisms `names` of the file at `path` may be run. If the file does not belong to the
    /// user, lists them first, whether they are allowed or not.
    ///
    /// # Errors
    /// Returns a usage error if the file does not belong to the user and the mechanisms were not allowed.
    pub(super) fn permit(
        self,
        path: &Path,
        origin: Origin,
        names: &BTreeSet<String>,
    ) -> Result<(), Error> {
        if names.is_empty() || origin == Origin::Own {
            return Ok(());
        }
        let path = path.display();
        for name in names.iter().take(MOST_NAMED) {
            tell(&format!("ipcperf: {path} names a custom mechanism: {name}"));
        }
        if names.len() > MOST_NAMED {
            tell(&format!("ipcperf: {path} names {} more", names.len() - MOST_NAMED));
        }
        if self.allow_custom {
            return Ok(());
        }
        let some: Vec<&str> = names.iter().take(MOST_NAMED).map(String::as_str).collect();
        let some = some.join(", ");
        Err(Error::usage(format!(
            "{path} names custom mechanisms: {some}; {origin}: add --allow-custom to run them"
        )))
    }
}
