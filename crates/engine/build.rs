//! Notes the versions of the libraries that mechanisms are made of, as `VERSION_OF_NAME`.

use std::fs::read_to_string;

/// Packages by their names in `Cargo.lock`.
const LIBRARIES: &[&str] = &["iceoryx2", "zbus"];

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

/// What stands below `name = "NAME"`.
fn version<'a>(locked: &'a str, name: &str) -> Option<&'a str> {
    let (_, package) = locked.split_once(&format!("\nname = \"{name}\"\n"))?;
    package.lines().next()?.strip_prefix("version = ")?.trim_matches('"').into()
}
