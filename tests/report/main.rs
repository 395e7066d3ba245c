//! The report in a real browser.

mod nothing_left;

#[allow(dead_code, reason = "the tests of reports follow")]
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
