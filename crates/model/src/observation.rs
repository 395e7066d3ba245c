//! What an instrument saw of one role in one run.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One row of what an instrument saw: a role, and the instrument's own fields, whose names end in their units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Whose; `None` where it is of the run as a whole.
    pub role: Option<String>,
    /// The instrument's own. What could not be had is null, never zero.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Observation {
    /// What `row`, an instrument's own type, says of `role`. A row that is no object, which no instrument
    /// makes, would be without fields.
    pub fn of(role: Option<&str>, row: &impl Serialize) -> Self {
        let fields = match serde_json::to_value(row) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        Self { role: role.map(str::to_owned), fields }
    }

    /// The row as the instrument's own type; `None` where it is of another, or of a later ipcperf.
    #[must_use]
    pub fn row<R: DeserializeOwned>(&self) -> Option<R> {
        serde_json::from_value(Value::Object(self.fields.clone())).ok()
    }
}

/// The roles of `observations`, in the order in which they occur.
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

/// What is told of `role`, where it is of the type `R`.
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
        let told = Observation::of(Some("sender"), &row);
        let text = serde_json::to_string(&told).unwrap();
        assert_eq!(text, r#"{"role":"sender","count":3,"time_ns":null}"#);
        let read: Observation = serde_json::from_str(&text).unwrap();
        assert_eq!(read.row::<Row>(), Some(row));
        assert_eq!(Observation::of(None, &1).row::<Row>(), None);
    }
}
