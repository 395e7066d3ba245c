//! Programs at the entry and the return of kernel functions. Not every kernel allows every function to be traced, so
//! each is tried separately.

use aya::programs::{Program, ProgramError};
use aya::{Btf, BtfError, Ebpf, EbpfError};
use ipcperf_model::Unavailable;

use super::{AttachedPrograms, refusal};

impl AttachedPrograms {
    /// Attaches `programs` to the kernel function that has one of the names in `candidates`, and returns its name.
    ///
    /// # Errors
    /// The reason why that is not possible, starting with the function's name. No program is attached then.
    pub(crate) fn attach_to_function(
        &mut self,
        programs: &[&str],
        candidates: &'static [&'static str],
        kernel: &Btf,
    ) -> Result<&'static str, Unavailable> {
        let mut refused = None;
        for function in candidates {
            match self.attach_all(programs, function, kernel) {
                Ok(()) => return Ok(function),
                Err(error) if is_unknown(&error) => {}
                Err(error) => refused = refused.or(Some(refusal::for_function(function, &error))),
            }
        }
        Err(refused.unwrap_or_else(|| refusal::no_function(candidates)))
    }

    fn attach_all(
        &mut self,
        programs: &[&str],
        function: &str,
        kernel: &Btf,
    ) -> Result<(), EbpfError> {
        let Self(loaded) = self;
        let tried = programs.iter().try_for_each(|name| attach(loaded, name, function, kernel));
        if tried.is_err() {
            programs.iter().for_each(|name| detach(loaded, name));
        }
        tried
    }
}

fn attach(loaded: &mut Ebpf, program: &str, function: &str, kernel: &Btf) -> Result<(), EbpfError> {
    match loaded.program_mut(program) {
        Some(Program::FEntry(program)) => {
            program.load(function, kernel)?;
            program.attach()?;
        }
        Some(Program::FExit(program)) => {
            program.load(function, kernel)?;
            program.attach()?;
        }
        _ => return Err(ProgramError::NotLoaded.into()),
    }
    Ok(())
}

/// Detaches a program. Does nothing if it was never loaded.
fn detach(loaded: &mut Ebpf, program: &str) {
    let _ = match loaded.program_mut(program) {
        Some(Program::FEntry(program)) => program.unload(),
        Some(Program::FExit(program)) => program.unload(),
        _ => Ok(()),
    };
}

fn is_unknown(error: &EbpfError) -> bool {
    use BtfError::UnknownBtfTypeName;
    matches!(error, EbpfError::ProgramError(ProgramError::Btf(UnknownBtfTypeName { .. })))
}
