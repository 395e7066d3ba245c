//! Studies for display on a terminal: the list, and the details of one.

use ipcperf_study::{Matrix, STUDIES, Study};
use serde_json::{Value, json};

use super::entry_list::{ListEntry, entry_list};
use super::width::wrap;

/// Lists the bundled studies with their titles. No study is parsed: that takes longer than a list may take.
pub fn study_list(columns: usize) -> String {
    let entry =
        |&(name, about): &(&'static str, &'static str)| ListEntry { name, about, availability: "" };
    let entries: Vec<ListEntry<'_>> = Study::bundled_titles().iter().map(entry).collect();
    let list = entry_list(["study", "title", ""], &entries, columns);
    format!("{list}\n\nQuestion, cases and hypotheses of a study: ipcperf study show NAME")
}

fn bundled_studies() -> impl Iterator<Item = Study> {
    STUDIES.iter().filter_map(|(_, text)| Study::parse(text).ok())
}

/// Lists the bundled studies as JSON.
pub fn studies_json() -> Value {
    let entry = |study: Study| {
        let ids: Vec<&str> = study.hypotheses.iter().map(|claim| claim.id.as_str()).collect();
        json!({
            "name": study.name, "about": study.title, "available": true, "reason": null,
            "question": study.question, "source": study.top.text("source"), "hypotheses": ids, "hash": study.hash,
        })
    };
    bundled_studies().map(entry).collect()
}

/// Describes one study: its question, matrices and claims.
pub fn study_page(study: &Study, columns: usize) -> String {
    let mut lines = vec![format!("{}: {}", study.name, study.title), study.question.clone()];
    lines.extend(study.top.text("source").map(|source| format!("Source: {source}")));
    lines.push("\nMatrices:".to_owned());
    let matrix = |matrix: &Matrix| format!("  {}: {}", matrix.name, matrix.summary());
    lines.extend(study.matrices.iter().map(matrix));
    lines.push("\nClaims:".to_owned());
    for claim in &study.hypotheses {
        lines.push(format!("  {}: {}", claim.id, claim.claim));
        let found = claim.published().map(|found| format!("; published: {found}"));
        lines.push(format!("    test: {}{}", claim.test.name, found.unwrap_or_default()));
    }
    let name = &study.name;
    lines.push(format!(
        "\nCases and estimated time: ipcperf study plan {name}\nMeasure and judge: ipcperf study run {name}\nStudy \
         file, as a template: ipcperf study show --toml {name}"
    ));
    wrap(&lines.join("\n"), columns)
}
