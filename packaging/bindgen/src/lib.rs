//! Empty replacement of bindgen 0.72, an unused build dependency of iceoryx2 0.10.
//!
//! Two crates of iceoryx2 depend on bindgen. The build script of `iceoryx2-pal-posix` calls it only if it runs on QNX, and
//! `iceoryx2-pal-os-api` has no build script. Cargo would still compile bindgen and a dozen crates that only bindgen
//! needs, which takes about 25 s of CPU time in a release build.
//!
//! If a later version of iceoryx2 calls bindgen, its build script does not compile with this crate. Then remove the entry
//! in `[patch.crates-io]` of the workspace.
