//! Stands in for bindgen 0.72, which two crates of iceoryx2 0.10 name as a build dependency: `iceoryx2-pal-posix` calls it
//! only on QNX, and `iceoryx2-pal-os-api` has no build script. With it, a dozen crates would be compiled for nothing, which
//! takes some 25 s of CPU time. If a later version of iceoryx2 calls it, its build script does not compile: remove the
//! entry in `[patch.crates-io]` then.
