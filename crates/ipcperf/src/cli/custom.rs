//! Custom mechanisms that a file names: programs and libraries that would run with the rights of the user.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use ipcperf_results::Origin;

use crate::error::Error;
use crate::printing::tell;

/// More than this nobody reads.
const MOST_NAMED: usize = 20;

#[derive(Args, Clone, Copy, Debug, Default)]
pub(super) struct CustomArguments {
    /// Run the exec: and lib: mechanisms that FILE names although it is not your own: another user owns it, or others
    /// may write to it
    #[arg(long)]
    allow_custom: bool,
}

impl CustomArguments {
    /// That the custom mechanisms `names` of the file at `path` may be run. Those of a file that is not the user's
    /// own are listed first, whether they may or not.
    ///
    /// # Errors
    /// Usage where the file is not the user's own, and they were not allowed.
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
