//! Console messages and network requests: there must be none.

use crate::page::Page;

pub(super) fn console(page: &Page) -> Vec<String> {
    page.browser.console()
}

/// Returns requests other than that for the page itself; data URLs are not requests.
pub(super) fn requests(page: &Page) -> Vec<String> {
    let address = page.browser.address();
    let foreign = |asked: &String| *asked != address && !asked.starts_with("data:");
    let asked = page.browser.requests();
    if !asked.contains(&address) {
        return vec![format!("the page itself was not asked for, so nothing was seen: {asked:?}")];
    }
    asked.into_iter().filter(foreign).collect()
}
