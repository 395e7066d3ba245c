//! The documentation of a mechanism as Markdown, for the page in `docs/`.

use ipcperf_engine::channel::Mechanism;

use super::mechanism_manual::documentation_sections;
use super::option_values::values_text;

/// Returns the documentation of a mechanism as Markdown.
pub(crate) fn mechanism_page(mechanism: &Mechanism) -> String {
    let mut page = format!("## `{}`\n\n{}\n", mechanism.name, capitalized(mechanism.about));
    if let Some(library) = mechanism.library {
        let (name, licence) = (library.name, library.license);
        page +=
            &format!("\n**Library.** {name} ({licence}); its version is stored in the results.\n");
    }
    for (title, words) in documentation_sections(mechanism) {
        page += &format!("\n**{title}.** {words}\n");
    }
    if !mechanism.options.is_empty() {
        page += "\n| option | values | default | about |\n|---|---|---|---|\n";
    }
    for option in mechanism.options {
        let values = values_text(option).replace('|', "\\|");
        let (name, default, about) = (option.name, option.default, option.about);
        page += &format!("| `{}.{name}` | {values} | {default} | {about} |\n", mechanism.name);
    }
    let references = mechanism.documentation.references;
    let references: Vec<String> = references.iter().map(|text| linked(text)).collect();
    if !references.is_empty() {
        page += &format!(
            "
**References.** {}
",
            references.join("; ")
        );
    }
    page
}

/// Converts a reference to a manual page, `man:NAME(SECTION)` with optional text after it, into a link.
fn linked(reference: &str) -> String {
    let page = reference.strip_prefix("man:").and_then(|page| {
        let (name, rest) = page.split_once('(')?;
        let (section, rest) = rest.split_once(')')?;
        let folder = section.chars().next()?;
        let address = format!("https://man7.org/linux/man-pages/man{folder}/{name}.{section}.html");
        Some(format!("[{name}({section})]({address}){rest}"))
    });
    page.unwrap_or_else(|| reference.to_owned())
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
