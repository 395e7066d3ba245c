//! What every mechanism must do, whatever it is: one suite over the list of them.
//!
//! A mechanism that is added to the list inherits all of this without a line here. Each test runs
//! the real command and reads the results file it wrote. Times are never asserted but against a
//! deadline: a machine may be busy. While one is being written, `IPCPERF_MECHANISMS=NAME` looks at that
//! one alone; `lib:` and the path of a library, at one's own. Without it the example of a library is
//! looked at too.

mod borrowing;
mod boundaries;
mod deadline;
mod descriptors;
mod hostile_specs;
mod integrity;
mod killed;
mod limits;
mod mechanisms;
mod random_cases;
mod random_kills;
mod scarce;
mod strangers;

#[path = "../support/carried.rs"]
mod carried;
#[allow(dead_code, reason = "each test takes what it needs")]
#[path = "../support/laboratory.rs"]
mod laboratory;
#[path = "../support/own.rs"]
mod own;
#[path = "../support/processes.rs"]
mod processes;
#[path = "../support/results.rs"]
mod results;
#[path = "../support/skip.rs"]
mod skip;
