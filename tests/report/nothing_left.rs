//! A browser ends with its test, however the test ends.

use std::fs;
use std::path::PathBuf;

use crate::browser::Browser;
use crate::chromedriver::followers;
use crate::processes::wait_for;
use crate::sandbox::HANG;

/// Starts a browser, shows a page, and applies `end` to it.
fn used(end: impl FnOnce(Browser)) -> Option<PathBuf> {
    let browser = Browser::start("the end of a browser")?;
    let folder = browser.folder().to_owned();
    browser.execute("return document.URL", &[]);
    assert!(followers(&folder).len() > 1, "a driver and a browser run");
    end(browser);
    Some(folder)
}

#[test]
fn a_browser_that_is_dropped_leaves_neither_process_nor_file() {
    let Some(folder) = used(drop) else { return };
    assert_eq!(followers(&folder), [] as [u32; 0]);
    assert!(!folder.exists(), "{}", folder.display());
}

#[test]
fn a_browser_ends_with_a_test_that_was_killed() {
    // Simulates a kill: nothing is dropped.
    let killed = std::thread::spawn(|| used(std::mem::forget));
    let Some(folder) = killed.join().expect("a browser ran") else { return };
    wait_for("end of the browser", HANG, || followers(&folder).is_empty().then_some(()));
    fs::remove_dir_all(folder).expect("nobody writes into the folder");
}
