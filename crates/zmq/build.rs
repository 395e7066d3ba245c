//! Compiles libzmq with the C++ compiler and links it in.

use std::env::{set_var, var};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let flags = var("CXXFLAGS").unwrap_or_default();
    // Of what the compiler would warn of in libzmq nothing is ours to mend.
    // SAFETY: nothing else runs in this process yet that could read it.
    unsafe { set_var("CXXFLAGS", format!("{flags} -w")) };
    zeromq_src::Build::new().build();
}
