//! Presentation of calls with their times, for the instruments that time each call.

use std::cmp::Reverse;

use serde::de::DeserializeOwned;

use crate::instrument_view::{InstrumentView, Log2Histogram, Table, Value};
use crate::observation::{Observation, roles, rows_of};

/// Presentation of one kind of calls, stored as rows of type `R`.
pub(super) struct CallView<R> {
    /// Kind of calls, for the titles of the tables: `system calls`.
    pub(super) kind: &'static str,
    /// Headings of the tables.
    pub(super) headings: &'static [&'static str],
    /// Maximum number of calls of each role whose time distribution is drawn: those with the largest total time.
    pub(super) max_drawn: usize,
    /// Function that converts a row.
    pub(super) call: fn(R) -> TimedCall,
}

/// One call of one role.
pub(super) struct TimedCall {
    /// Name of the call.
    pub(super) name: String,
    /// Number of calls that returned.
    pub(super) count: u64,
    /// Total time of the calls, ns.
    pub(super) total_ns: u64,
    /// Histogram of the times over powers of two: lower bound of each row, ns, and its count.
    pub(super) times_ns: Vec<(u64, u64)>,
    /// Row of the table, one cell for each heading.
    pub(super) cells: Vec<Value>,
}

impl<R: DeserializeOwned> CallView<R> {
    /// Builds a table for each role, and the time distributions of its costliest calls.
    pub(super) fn views(&self, observations: &[Observation]) -> Vec<InstrumentView> {
        let roles = roles(observations).into_iter();
        roles.flat_map(|role| self.views_of_role(role, observations)).collect()
    }

    fn views_of_role(&self, role: &str, observations: &[Observation]) -> Vec<InstrumentView> {
        let rows: Vec<R> = rows_of(observations, role);
        let mut calls: Vec<TimedCall> = rows.into_iter().map(self.call).collect();
        calls.sort_by_key(|call| Reverse(call.total_ns));
        let drawn = calls.iter().take(self.max_drawn).filter(|call| call.count > 0);
        let drawn: Vec<InstrumentView> =
            drawn.map(|call| InstrumentView::Log2Histogram(distribution(role, call))).collect();
        let cells = calls.into_iter().map(|call| call.cells).collect();
        let table = Table::new(format!("{} of the {role}", self.kind), self.headings, cells);
        std::iter::once(InstrumentView::Table(table)).chain(drawn).collect()
    }
}

fn distribution(role: &str, call: &TimedCall) -> Log2Histogram {
    Log2Histogram {
        title: format!("{} of the {role}: distribution of times", call.name),
        kind: Value::Ns(0),
        rows: call.times_ns.clone(),
    }
}
