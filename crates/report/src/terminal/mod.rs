//! Terminal output: tables and text.

pub mod cells;
mod grid;
mod instrument_views;
mod instruments;
mod limits;
mod machine;
mod notes;
mod plan;
mod sentences;
mod studies;
mod study_tables;
mod survey_columns;
mod survey_screen;
mod table;
mod verdicts;
mod width;

pub use grid::ResultsTable;
pub use instrument_views::{amount_text, value_text};
pub use instruments::{interval_text, observed_text, probe_effect_table};
pub use limits::limit_rows;
pub use machine::{
    known_properties, machine_json, machine_page, warning_line, warning_section, warnings_json,
};
pub use notes::{Note, exclusion_text, not_ranked, notes, unfinished_note};
pub use plan::plan_table;
pub use sentences::{closing_lines, comparison_text, survey_text};
pub use studies::{studies_json, study_list, study_page};
pub use study_tables::study_tables_text;
pub use survey_screen::survey_screen;
pub use table::{HARDWARE_LIMIT_HEADING, refusals, sections, tables};
pub use verdicts::{estimate, verdicts_json, verdicts_text};
pub use width::{columns, wrap};
