//! `ipcperf list`.

use serde_json::Value;

use super::arguments::{ListArguments, Listed};
use crate::error::{Ending, Error};
use crate::printing::{
    exporter_list, exporters_json, instrument_list, instruments_json, mechanism_list,
    mechanisms_json, print, print_json, untried_instrument_list, workload_list, workloads_json,
};
use ipcperf_report::terminal::{columns, studies_json, study_list};

pub(super) fn list(arguments: &ListArguments) -> Result<Ending, Error> {
    let wanted = |what| arguments.what.is_none_or(|asked| asked == what);
    let (mut tables, mut entries) = (Vec::new(), Vec::new());
    if wanted(Listed::Mechanisms) {
        tables.push(mechanism_list as fn(usize) -> String);
        entries.push(mechanisms_json as fn() -> Value);
    }
    if wanted(Listed::Workloads) {
        tables.push(workload_list);
        entries.push(workloads_json);
    }
    if wanted(Listed::Instruments) {
        // Trying the instruments would delay a list of everything.
        let all = arguments.what.is_none();
        tables.push(if all { untried_instrument_list } else { instrument_list });
        entries.push(instruments_json);
    }
    if wanted(Listed::Studies) {
        tables.push(study_list);
        entries.push(studies_json);
    }
    if wanted(Listed::Exporters) {
        tables.push(exporter_list);
        entries.push(exporters_json);
    }
    if !arguments.json {
        let columns = columns();
        let tables: Vec<String> = tables.iter().map(|table| table(columns)).collect();
        return print(&tables.join("\n\n"));
    }
    let all = entries.iter().flat_map(|list| list().as_array().cloned().unwrap_or_default());
    print_json(&Value::Array(all.collect()))
}
