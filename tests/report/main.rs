//! The report in a real browser: what it shows, how it is used by pointer and keyboard, how it looks
//! in light, dark, on a phone and on paper, and that it asks nothing of the network.
//!
//! With `IPCPERF_SCREENSHOTS=FOLDER` what it looks like is kept there, for people.

mod checks;
mod foreign_text;
mod made;
mod mutations;
mod nothing_left;
mod page;
mod real;
mod study;

#[path = "../support/browser.rs"]
mod browser;
#[path = "../support/chromedriver.rs"]
mod chromedriver;
#[allow(dead_code, reason = "each test takes what it needs")]
#[path = "../support/laboratory.rs"]
mod laboratory;
#[allow(dead_code, reason = "each test takes what it needs")]
#[path = "../support/processes.rs"]
mod processes;
#[path = "../support/skip.rs"]
mod skip;
