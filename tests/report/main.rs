//! Tests of the report in a real browser: its contents, its use by pointer and keyboard, its appearance in light and
//! dark schemes, on a phone and in print, and the absence of network requests.
//!
//! With `IPCPERF_SCREENSHOTS=FOLDER`, screenshots are kept there for people to look at.

mod checks;
mod foreign_text;
mod measured_report;
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
#[path = "../support/processes.rs"]
mod processes;
#[allow(dead_code, reason = "each test takes what it needs")]
#[path = "../support/sandbox.rs"]
mod sandbox;
#[path = "../support/skip.rs"]
mod skip;
