//! `ipcperf list`.

use serde_json::Value;

use super::arguments::{ListArguments, ListKind};
use crate::error::{Error, ExitStatus};
use crate::printing::{
    exporter_list, exporters_json, instrument_list, instrument_list_without_probes,
    instruments_json, mechanism_list, mechanisms_json, print, print_json, workload_list,
    workloads_json,
};
use ipcperf_report::terminal::{columns, studies_json, study_list};

pub(super) fn list(arguments: &ListArguments) -> Result<ExitStatus, Error> {
    let wanted = |what| arguments.what.is_none_or(|asked| asked == what);
    let (mut tables, mut entries) = (Vec::new(), Vec::new());
    if wanted(ListKind::Mechanisms) {
        tables.push(mechanism_list as fn(usize) -> String);
        entries.push(mechanisms_json as fn() -> Value);
    }
    if wanted(ListKind::Workloads) {
        tables.push(workload_list);
        entries.push(workloads_json);
    }
    if wanted(ListKind::Instruments) {
        // Trying the instruments would delay a list of everything.
        let all = arguments.what.is_none();
        tables.push(if all { instrument_list_without_probes } else { instrument_list });
        entries.push(instruments_json);
    }
    if wanted(ListKind::Studies) {
        tables.push(study_list);
        entries.push(studies_json);
    }
    if wanted(ListKind::Exporters) {
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
