//! Terminal output: tables and text.

pub mod cells;
mod grid;
mod limits;
mod machine;
mod notes;
mod pictures;
mod plan;
mod studies;
mod study_tables;
mod table;
mod verdicts;
mod watched;
mod width;
mod words;

pub use grid::Figures;
pub use limits::limit_rows;
pub use machine::{
    facts, machine_json, machine_page, warning_line, warning_section, warnings_json,
};
pub use notes::{Note, not_ranked, notes, set_aside_in_words, unfinished};
pub use pictures::{amount_text, value_text};
pub use plan::plan_table;
pub use studies::{studies_json, study_list, study_page};
pub use study_tables::study_tables_text;
pub use table::{ROOFS, refusals, sections, tables};
pub use verdicts::{estimate, verdicts_json, verdicts_text};
pub use watched::{interval_words, observed_text, probe_table};
pub use width::{columns, fit};
pub use words::{closing_lines, compared_in_words, survey_words};
