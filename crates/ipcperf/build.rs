//! Records in the binary what it was built from and how: commit, compiler, profile and target.

use std::process::Command;

/// Returns the output of `program` without surrounding white space; `None` if it cannot be run or fails.
fn command_output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    emit_build_info();
    emit_commit();
}

/// Passes on what Cargo reports only to build scripts: profile and target, and the version of the compiler.
fn emit_build_info() {
    for (key, source) in [("IPCPERF_PROFILE", "PROFILE"), ("IPCPERF_TARGET", "TARGET")] {
        if let Ok(value) = std::env::var(source) {
            println!("cargo::rustc-env={key}={value}");
        }
    }
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    if let Some(version) = command_output(&compiler, &["--version"]) {
        println!("cargo::rustc-env=IPCPERF_COMPILER={version}");
    }
}

fn emit_commit() {
    if let Some(head) = command_output("git", &["rev-parse", "--git-path", "HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
        println!("cargo::rerun-if-changed={}", head.replace("HEAD", "index"));
    }
    let Some(commit) = command_output("git", &["rev-parse", "--short=12", "HEAD"]) else {
        return;
    };
    // Plain `git status` rewrites the index. The build watches that file, so the next build would run this script
    // again.
    let status = ["--no-optional-locks", "status", "--porcelain"];
    let changed = command_output("git", &status).is_some_and(|changes| !changes.is_empty());
    println!("cargo::rustc-env=IPCPERF_COMMIT={commit}{}", if changed { "+" } else { "" });
}
