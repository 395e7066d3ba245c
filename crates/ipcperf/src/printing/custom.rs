//! List and manual of custom mechanisms. The manual is the page in `docs/`, which an installed program does not have
//! otherwise.

use ipcperf_model::CustomKind;
use serde_json::{Value, json};

/// The page on custom mechanisms.
const PAGE: &str = include_str!("../../../../docs/custom-mechanisms.md");

/// Returns the name and description of each kind of custom mechanisms.
pub(super) fn custom_names() -> Vec<(&'static str, &'static str)> {
    CustomKind::ALL.map(|kind| (kind.word(), about(kind))).to_vec()
}

const fn about(kind: CustomKind) -> &'static str {
    match kind {
        CustomKind::Program => "your own mechanism as a program, in any language: -m exec:PROGRAM",
        CustomKind::Library => "your own mechanism as a shared library: -m lib:FILE.so",
    }
}

/// Returns the kinds of custom mechanisms as JSON.
pub(super) fn custom_json() -> Value {
    let entry = |(name, about)| json!({ "name": name, "about": about, "available": true });
    custom_names().into_iter().map(entry).collect()
}

/// Returns the page, which covers both kinds; its text is not wrapped, because it contains code and tables.
pub(super) fn custom_manual(name: &str, _columns: usize) -> Option<String> {
    let kind = CustomKind::ALL.into_iter().find(|kind| kind.word() == name)?;
    Some(format!("{name}: {}\n\n{}", about(kind), PAGE.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_have_the_page_with_the_protocol() {
        for (name, _) in custom_names() {
            let page = custom_manual(name, 80).expect("a manual");
            assert!(
                page.contains("IPCPERF_PROTOCOL") && page.contains("ipcperf_mechanism"),
                "{name}"
            );
        }
        assert_eq!(custom_manual("pipe", 80), None);
    }
}
