//! Studies for display on a terminal: the list, and the details of one.

use ipcperf_study::{Matrix, STUDIES, Study};
use serde_json::{Value, json};

use super::cells::new_table;
use super::width::fit;

/// Lists the bundled studies.
pub fn study_list(columns: usize) -> String {
    let mut table = new_table(columns);
    table.set_header(["study", "asks", "claims"]);
    for study in all() {
        table.add_row([study.name, study.question, study.hypotheses.len().to_string()]);
    }
    table.to_string()
}

fn all() -> impl Iterator<Item = Study> {
    STUDIES.iter().filter_map(|(_, text)| Study::read(text).ok())
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
    all().map(entry).collect()
}

/// Describes one study: its question, matrices and claims.
pub fn study_page(study: &Study, columns: usize) -> String {
    let mut lines = vec![format!("{}: {}", study.name, study.title), study.question.clone()];
    lines.extend(study.top.text("source").map(|source| format!("After: {source}")));
    lines.push("\nMeasures:".to_owned());
    let matrix = |matrix: &Matrix| format!("  {}: {}", matrix.name, matrix.summary());
    lines.extend(study.matrices.iter().map(matrix));
    lines.push("\nClaims:".to_owned());
    for claim in &study.hypotheses {
        lines.push(format!("  {}: {}", claim.id, claim.claim));
        let found = claim.published().map(|found| format!("; published: {found}"));
        lines.push(format!("    judged by {}{}", claim.test.name, found.unwrap_or_default()));
    }
    let name = &study.name;
    lines.push(format!(
        "\nIts cases, and how long they take: ipcperf study plan {name}\nMeasure and judge: ipcperf study run \
         {name}\nIts file, to begin one of your own with: ipcperf study show --toml {name}"
    ));
    fit(&lines.join("\n"), columns)
}
