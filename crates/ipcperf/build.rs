//! Notes what the binary is built from and how: commit, compiler, profile, target.

use std::process::Command;

/// What `program` prints, in one line.
fn said(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    note_build();
    note_commit();
}

/// Cargo tells build scripts what it does not tell the program.
fn note_build() {
    for (key, source) in [("IPCPERF_PROFILE", "PROFILE"), ("IPCPERF_TARGET", "TARGET")] {
        if let Ok(value) = std::env::var(source) {
            println!("cargo::rustc-env={key}={value}");
        }
    }
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    if let Some(version) = said(&compiler, &["--version"]) {
        println!("cargo::rustc-env=IPCPERF_COMPILER={version}");
    }
}

fn note_commit() {
    if let Some(head) = said("git", &["rev-parse", "--git-path", "HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
        println!("cargo::rerun-if-changed={}", head.replace("HEAD", "index"));
    }
    let Some(commit) = said("git", &["rev-parse", "--short=12", "HEAD"]) else {
        return;
    };
    // Without locks it leaves the index alone, on which the next build would find this script to be out of date.
    let status = ["--no-optional-locks", "status", "--porcelain"];
    let changed = said("git", &status).is_some_and(|changes| !changes.is_empty());
    println!("cargo::rustc-env=IPCPERF_COMMIT={commit}{}", if changed { "+" } else { "" });
}
