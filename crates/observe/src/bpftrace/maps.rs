//! Parses the maps that bpftrace prints as JSON when it ends.

use std::collections::{BTreeMap, HashMap};

use ipcperf_model::instrument::tool_calls::ToolCallRow;
use ipcperf_model::log2_histogram;
use serde_json::Value;

use super::script::caller_id;
use crate::syscall_table::{by_number, returns_bytes, syscall_name};
use crate::{Member, Scope, Targets};

/// Key of a map: who makes the call, the phase, and the call's number.
type Key = [i64; 3];

/// Maps of the program in `script`.
#[derive(Debug, Default)]
pub(super) struct Maps {
    /// Number of marks by each peer.
    marks: HashMap<i64, u64>,
    calls: BTreeMap<Key, CallCounts>,
}

/// Calls of one kind.
#[derive(Debug, Default)]
struct CallCounts {
    count: u64,
    total_ns: u64,
    errors: u64,
    returned: u64,
    log2_histogram_ns: Vec<(u64, u64)>,
}

impl Maps {
    /// Processes a line. Lines without maps of ours are ignored.
    pub(super) fn add_line(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let maps = message.get("data").and_then(Value::as_object);
        for (map, entries) in maps.into_iter().flatten() {
            for (key, value) in entries.as_object().into_iter().flatten() {
                self.insert(map, key, value);
            }
        }
    }

    fn insert(&mut self, map: &str, key: &str, value: &Value) {
        match (map, &parse_key(key)[..]) {
            ("@marks", &[caller]) => {
                self.marks.insert(caller, value.as_u64().unwrap_or(0));
            }
            (_, &[caller, phase, call]) => {
                let counted = self.calls.entry([caller, phase, call]).or_default();
                counted.set_field(map, value);
            }
            _ => {}
        }
    }

    /// Returns the first peer, if any, whose last phase lacks a mark.
    pub(super) fn first_incomplete_role<'a>(&self, targets: &'a Targets) -> Option<&'a str> {
        let is_complete = |member: &&Member| {
            let marks = self.marks_of(member);
            member.scope == Scope::Daemon || marks > 0 && marks.is_multiple_of(2)
        };
        targets
            .members
            .iter()
            .find(|member| !is_complete(member))
            .map(|member| member.role.as_str())
    }

    /// Returns the calls of each peer in its last phase.
    pub(super) fn rows(&self, targets: &Targets) -> Vec<Vec<ToolCallRow>> {
        let last = targets.members.iter().map(|member| self.marks_of(member)).max().unwrap_or(0);
        let calls = |member: &Member| {
            let marks = if member.scope == Scope::Daemon { last } else { self.marks_of(member) };
            self.rows_of(i64::from(caller_id(member)), marks.saturating_sub(1))
        };
        targets.members.iter().map(calls).collect()
    }

    fn rows_of(&self, caller: i64, phase: u64) -> Vec<ToolCallRow> {
        let is_match = |key: &Key| key[0] == caller && u64::try_from(key[1]) == Ok(phase);
        let matching =
            self.calls.iter().filter(|(key, counted)| is_match(key) && counted.count > 0);
        matching.map(|(key, counted)| counted.to_row(key[2])).collect()
    }

    fn marks_of(&self, member: &Member) -> u64 {
        self.marks.get(&i64::from(caller_id(member))).copied().unwrap_or(0)
    }
}

impl CallCounts {
    fn set_field(&mut self, map: &str, value: &Value) {
        let field = |name| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        match map {
            "@ns" => (self.count, self.total_ns) = (field("count"), field("total")),
            "@errors" => self.errors = value.as_u64().unwrap_or(0),
            "@returned" => self.returned = value.as_u64().unwrap_or(0),
            "@log2_ns" => {
                self.log2_histogram_ns =
                    value.as_array().map_or_else(Vec::new, |rows| parse_histogram(rows));
            }
            _ => {}
        }
    }

    fn to_row(&self, number: i64) -> ToolCallRow {
        // A full map silently drops new rows.
        let histogram_total: u64 = self.log2_histogram_ns.iter().map(|pair| pair.1).sum();
        let log2_histogram_ns =
            (histogram_total == self.count).then(|| self.log2_histogram_ns.clone());
        ToolCallRow {
            syscall: syscall_name(number),
            count: self.count,
            errors: Some(self.errors),
            returned_bytes: by_number(number).is_some_and(returns_bytes).then_some(self.returned),
            total_ns: Some(self.total_ns),
            mean_ns: self.total_ns.checked_div(self.count),
            median_ns: log2_histogram_ns
                .as_deref()
                .and_then(|pairs| log2_histogram::percentile(pairs, 50.0)),
            log2_histogram_ns,
        }
    }
}

/// Parses the numbers of a key such as `3,1,0`.
fn parse_key(key: &str) -> Vec<i64> {
    let is_number = |letter: char| letter.is_ascii_digit() || letter == '-';
    key.split(|letter| !is_number(letter)).filter_map(|number| number.parse().ok()).collect()
}

fn parse_histogram(rows: &[Value]) -> Vec<(u64, u64)> {
    let field = |row: &Value, name| row.get(name).and_then(Value::as_u64).unwrap_or(0);
    rows.iter().map(|row| (field(row, "min"), field(row, "count"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of bpftrace 0.17 for two phases of a thread, including messages that are not maps.
    const BPFTRACE_OUTPUT: &str = r#"{"type": "attached_probes", "data": {"probes": 3}}
{"type": "printf", "data": "armed\n"}


{"type": "map", "data": {"@returned": {"7,59,230": 0, "7,3,WRITE": 50000, "7,1,WRITE": 400}}}
{"type": "map", "data": {"@errors": {"7,3,WRITE": 1, "7,1,WRITE": 1}}}
{"type": "hist", "data": {"@log2_ns": {"7,3,WRITE": [{"min": 256, "max": 511, "count": 462}, {"min": 512, "max": 1023, "count": 36}, {"min": 1024, "max": 2047, "count": 2}, {"min": 2048, "max": 4095, "count": 1}], "7,1,WRITE": [{"min": 256, "max": 511, "count": 4}, {"min": 512, "max": 1023, "count": 1}]}}}
{"type": "map", "data": {"@marks": {"7": 4, "8": 165}}}
{"type": "map", "data": {"@start": {"7,1": 5, "7,3": 8}}}
{"type": "stats", "data": {"@ns": {"7,1,WRITE": {"count": 5, "average": 373, "total": 1872}, "7,3,WRITE": {"count": 501, "average": 402, "total": 201482}, "9,1,WRITE": {"count": 2, "average": 43688, "total": 87376}}}}
"#;

    fn printed() -> String {
        BPFTRACE_OUTPUT.replace("WRITE", &libc::SYS_write.to_string())
    }

    fn targets() -> Targets {
        let member = Member { role: "sender".to_owned(), pid: 6, tid: 7, scope: Scope::Thread };
        Targets::new(vec![member])
    }

    fn maps(printed: &str) -> Maps {
        let mut maps = Maps::default();
        printed.lines().for_each(|line| maps.add_line(line));
        maps
    }

    #[test]
    fn the_last_phase_is_read() {
        let maps = maps(&printed());
        assert_eq!(maps.first_incomplete_role(&targets()), None);
        let rows = maps.rows(&targets());
        let [row] = &rows[0][..] else { panic!("{rows:?}") };
        assert_eq!((row.syscall.as_str(), row.count, row.errors), ("write", 501, Some(1)));
        assert_eq!(
            (row.returned_bytes, row.total_ns, row.mean_ns),
            (Some(50_000), Some(201_482), Some(402))
        );
        assert_eq!(row.log2_histogram_ns.as_ref().map(Vec::len), Some(4));
        assert!(row.median_ns.is_some_and(|median_ns| (256..512).contains(&median_ns)), "{row:?}");
    }

    #[test]
    fn a_histogram_that_lost_rows_is_not_told() {
        let maps = maps(&printed().replace("\"count\": 462", "\"count\": 461"));
        let rows = maps.rows(&targets());
        assert_eq!((rows[0][0].log2_histogram_ns.as_ref(), rows[0][0].median_ns), (None, None));
        assert_eq!(rows[0][0].count, 501);
    }

    #[test]
    fn a_phase_without_an_end_is_none() {
        let unseen = |from: &str, to: &str| {
            maps(&printed().replace(from, to)).first_incomplete_role(&targets()).is_some()
        };
        assert!(unseen("\"7\": 4", "\"7\": 3"));
        assert!(unseen("@marks", "@others"));
        assert!(unseen("{\"type\": \"map\"", "{\"type\": \"ma"));
    }

    #[test]
    fn a_phase_without_calls_has_none() {
        let rows = maps(&printed().replace("\"7\": 4", "\"7\": 6")).rows(&targets());
        assert_eq!(rows, [[]]);
    }

    #[test]
    fn keys_are_read_whatever_stands_between() {
        assert_eq!(parse_key("3,1,-1"), [3, 1, -1]);
        assert_eq!(parse_key("(3, 1, 0)"), [3, 1, 0]);
    }
}
