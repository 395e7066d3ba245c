//! Notes the versions of the libraries that mechanisms are made of, as `VERSION_OF_NAME`.

use std::fs::read_to_string;

/// Packages by their names in `Cargo.lock`.
const LIBRARIES: &[&str] = &["iceoryx2", "ipc-channel", "nng-sys", "tonic", "zbus", "zeromq-src"];

fn main() {
    let lock = "../../Cargo.lock";
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={lock}");
    let locked = read_to_string(lock).unwrap_or_default();
    for name in LIBRARIES {
        let version = version(&locked, name).unwrap_or("unknown");
        println!("cargo::rustc-env=VERSION_OF_{}={version}", name.to_uppercase().replace('-', "_"));
    }
}

/// Returns the version of package `name` in the lock file `locked`. A package that contains the source of a C or C++
/// library has that library's version after a `+`.
fn version<'a>(locked: &'a str, name: &str) -> Option<&'a str> {
    let (_, package) = locked.split_once(&format!("\nname = \"{name}\"\n"))?;
    let version = package.lines().next()?.strip_prefix("version = ")?.trim_matches('"');
    Some(version.split_once('+').map_or(version, |(_, contained)| contained))
}
