//! Notes the commit the binary is built from, where there is one to note.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(head) = git(&["rev-parse", "--git-path", "HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
        println!("cargo::rerun-if-changed={}", head.replace("HEAD", "index"));
    }
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return;
    };
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    println!("cargo::rustc-env=IPCPERF_COMMIT={commit}{}", if changed { "+" } else { "" });
}
