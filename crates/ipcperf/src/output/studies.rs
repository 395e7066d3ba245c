//! Studies for people: which there are, and what one asks, measures and claims.

use serde_json::{Value, json};

use super::table::new_table;
use super::width::{columns, fit};
use crate::study::{STUDIES, Study};

/// The studies that come with the program.
pub(crate) fn study_list() -> String {
    let mut table = new_table();
    table.set_header(["study", "asks", "claims"]);
    for study in all() {
        table.add_row([study.name, study.question, study.hypotheses.len().to_string()]);
    }
    table.to_string()
}

fn all() -> impl Iterator<Item = Study> {
    STUDIES.iter().filter_map(|(_, text)| Study::read(text).ok())
}

/// The same for scripts.
pub(crate) fn studies_json() -> Value {
    let entry = |study: Study| {
        let ids: Vec<&str> = study.hypotheses.iter().map(|claim| claim.id.as_str()).collect();
        json!({
            "name": study.name, "about": study.title, "available": true, "reason": null,
            "question": study.question, "source": study.source, "hypotheses": ids, "hash": study.hash,
        })
    };
    all().map(entry).collect()
}

/// One study.
pub(crate) fn study_page(study: &Study) -> String {
    let mut lines = vec![format!("{}: {}", study.name, study.title), study.question.clone()];
    lines.extend(study.source.as_ref().map(|source| format!("After: {source}")));
    for claim in &study.hypotheses {
        lines.push(format!("\n{}: {}", claim.id, claim.claim));
        lines.push(format!("  {}: {}", claim.test.name, claim.test.about));
        lines.extend(claim.published().map(|found| format!("  published: {found}")));
    }
    let path = &study.name;
    lines.push(format!(
        "\nhow long it takes: ipcperf study plan {path}; its file: ipcperf study show --toml {path}"
    ));
    fit(&lines.join("\n"), columns())
}
