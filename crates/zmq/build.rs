//! Compiles libzmq with the C++ compiler and links it in.

use std::env::{set_var, var};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let flags = var("CXXFLAGS").unwrap_or_default();
    // Compiler warnings in libzmq are not for this project to fix.
    // SAFETY: no other thread runs in this process yet that could read the environment.
    unsafe { set_var("CXXFLAGS", format!("{flags} -w")) };
    zeromq_src::Build::new().build();
}
