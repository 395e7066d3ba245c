//! Observations of an instrument for one role in one run.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One row of observations: a role, and the fields of the instrument, whose names end in their units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Role that the row describes; `None` if it describes the run as a whole.
    pub role: Option<String>,
    /// Fields of the instrument. A value that could not be determined is null, never zero.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Observation {
    /// Builds the observation for `role` from `row`, a row type of an instrument. A row that does not serialize to
    /// an object has no fields; no instrument produces one.
    pub fn from_row(role: Option<&str>, row: &impl Serialize) -> Self {
        let fields = match serde_json::to_value(row) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Self { role: role.map(str::to_owned), fields }
    }

    /// Returns the row as the type `R` of the instrument, or `None` if it is of another type or of a later ipcperf.
    #[must_use]
    pub fn row<R: DeserializeOwned>(&self) -> Option<R> {
        serde_json::from_value(Value::Object(self.fields.clone())).ok()
    }
}

/// Returns the roles of `observations`, in the order in which they first occur.
#[must_use]
pub fn roles(observations: &[Observation]) -> Vec<&str> {
    let mut roles = Vec::new();
    for role in observations.iter().filter_map(|seen| seen.role.as_deref()) {
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    roles
}

/// Returns the rows of `role` that are of the type `R`.
#[must_use]
pub fn rows_of<R: DeserializeOwned>(observations: &[Observation], role: &str) -> Vec<R> {
    let of_role = observations.iter().filter(|seen| seen.role.as_deref() == Some(role));
    of_role.filter_map(Observation::row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Row {
        count: u64,
        time_ns: Option<u64>,
    }

    #[test]
    fn a_row_survives_being_told() {
        let row = Row { count: 3, time_ns: None };
        let told = Observation::from_row(Some("sender"), &row);
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(text, r#"{"role":"sender","count":3,"time_ns":null}"#);
        let read: Observation = serde_json::from_str(&text).unwrap();
        assert_eq!(read.row::<Row>(), Some(row));
        assert_eq!(Observation::from_row(None, &1).row::<Row>(), None);
    }
}
