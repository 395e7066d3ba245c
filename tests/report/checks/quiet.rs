//! What a page says to the console and asks of the network: nothing.

use crate::page::Page;

pub(super) fn console(page: &Page) -> Vec<String> {
    page.browser.console()
}

/// Requests beside that for the page itself; what is written in the page is no request.
pub(super) fn requests(page: &Page) -> Vec<String> {
    let address = page.browser.address();
    let foreign = |asked: &String| *asked != address && !asked.starts_with("data:");
    let asked = page.browser.requests();
    if !asked.contains(&address) {
        return vec![format!("the page itself was not asked for, so nothing was seen: {asked:?}")];
    }
    asked.into_iter().filter(foreign).collect()
}
