//! The examples of custom mechanisms, compiled once per suite.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Folder that contains the examples and the header.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the source of the example `name`.
pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(ROOT).join("examples/custom").join(name)
}

/// Compiles `source` into the file `to`, with `flags`; `None` if there is no C compiler.
pub(crate) fn compile(source: &Path, to: &Path, flags: &[&str]) -> Option<()> {
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-I"]).arg(Path::new(ROOT).join("include"));
    let compiled = cc.args(flags).arg("-o").arg(to).arg(source).output().ok()?;
    let words = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{}: {words}", source.display());
    Some(())
}

/// Compiler flags for a shared library.
pub(crate) const SHARED: [&str; 2] = ["-fPIC", "-shared"];

/// Returns the library of the example `pipes.c`, compiled by the first test that needs it.
pub(crate) fn pipes() -> Option<PathBuf> {
    static PIPES: OnceLock<Option<PathBuf>> = OnceLock::new();
    PIPES.get_or_init(compiled_pipes).clone()
}

/// Compiles the library. Other suites may do so at the same time.
fn compiled_pipes() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (mine, all) =
        (folder.join(format!("pipes-{}.so", std::process::id())), folder.join("pipes.so"));
    compile(&example("pipes.c"), &mine, &SHARED)?;
    std::fs::rename(&mine, &all).expect("a file of one's own");
    Some(all.canonicalize().expect("it is there"))
}
