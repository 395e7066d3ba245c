//! Terminal output: tables and text.

mod cell_text;
pub mod cells;
mod clip;
mod entry_list;
mod granted_sizes;
mod grid;
mod instrument_views;
mod instruments;
mod limits;
mod machine;
mod notes;
mod paced;
mod percentiles;
mod plan;
mod refusals;
mod sentences;
mod studies;
mod study_tables;
mod survey_screen;
mod table;
mod trace_screen;
mod verdicts;
mod width;

pub use entry_list::{ListEntry, entry_list};
pub use grid::{Grid, ResultsTable};
pub use instrument_views::{amount_text, value_text};
pub use instruments::{interval_text, observed_runs_text, observed_text, probe_effect_table};
pub use limits::limit_rows;
pub use machine::{
    known_properties, machine_json, machine_page, warning_line, warning_section, warnings_json,
};
pub use notes::{Note, exclusion_text, not_ranked, notes, notes_without_tables, unfinished_note};
pub use percentiles::{PERCENTILES_LEGEND, PercentileTable, percentile_tables, percentiles_text};
pub use plan::plan_table;
pub use refusals::refusals;
pub use sentences::{closing_lines, survey_text};
pub use studies::{studies_json, study_list, study_page};
pub use study_tables::study_tables_text;
pub use survey_screen::{ONE_CPU, survey_answers, survey_screen};
pub use table::{
    CPU_TIME_LEGEND, HARDWARE_LIMIT_HEADING, LimitShares, TableView, sections, tables,
};
pub use trace_screen::trace_screen;
pub use verdicts::{effect_heading, estimate, verdicts_json, verdicts_text};
pub use width::{columns, paragraph, wrap};
