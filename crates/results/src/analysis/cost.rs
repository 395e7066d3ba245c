//! CPU time of a message, by role.

use std::collections::BTreeMap;

use ipcperf_model::Role;
use schemars::JsonSchema;
use serde::Serialize;

use super::Spread;
use crate::sample::cpu_per_message;
use crate::{Sample, role_key};

/// Key of the CPU time of a role.
const CPU_TIME: &str = "cpu_ns";

/// CPU time of one role: user and system time together, as counted by the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RoleCost {
    /// CPU time divided by the number of messages, or round trips, that arrived, ns.
    pub cpu_ns_per_message: Spread,
    /// CPU time divided by the payload that arrived, ns per byte; only for streams.
    pub cpu_ns_per_byte: Option<Spread>,
}

/// Returns the CPU time over the `samples` of one case, by role.
pub(super) fn by_role(samples: &[&Sample]) -> BTreeMap<String, RoleCost> {
    let costs = Role::ALL.map(|role| Some((role.name().to_owned(), cost(samples, role)?)));
    costs.into_iter().flatten().collect()
}

/// Returns the CPU time of a message, or round trip, of a run, ns: as stored, or, in files of older versions, computed from
/// the CPU time of the roles and of the kernel threads. `None` if that of a role is unknown.
pub fn cpu_ns_per_message(sample: &Sample) -> Option<f64> {
    sample.cpu_ns_per_message.or_else(|| {
        let keys = Role::ALL.map(|role| role_key(role, CPU_TIME));
        let of_roles = keys.iter().filter_map(|key| sample.roles.get(key).copied());
        cpu_per_message(of_roles, sample.kernel_thread_ns, 0, sample.messages)
    })
}

#[allow(clippy::cast_precision_loss, reason = "rates, good to 53 bits")]
fn cost(samples: &[&Sample], role: Role) -> Option<RoleCost> {
    let key = role_key(role, CPU_TIME);
    // The CPU time of the pacer, which only a sender has, is no cost of the mechanism.
    let pacer_ns = |sample: &Sample| match role {
        Role::Receiver | Role::Broker => 0,
        _ => sample.paced.pacer_cpu_ns.unwrap_or(0),
    };
    let cpu_ns = |sample: &Sample| {
        let cpu_ns = (*sample.roles.get(&key)?)?;
        Some(cpu_ns.saturating_sub(pacer_ns(sample)) as f64)
    };
    let per = |unit: &dyn Fn(&Sample) -> Option<f64>| -> Option<Spread> {
        let costs = samples.iter().map(|sample| Some(cpu_ns(sample)? / unit(sample)?));
        Spread::from_values(&costs.collect::<Option<Vec<f64>>>()?)
    };
    Some(RoleCost {
        cpu_ns_per_message: per(&|sample| Some(sample.messages as f64).filter(|n| *n > 0.0))?,
        cpu_ns_per_byte: per(&arrived_bytes),
    })
}

/// Returns the payload of a stream that arrived, bytes. `None` for round trips, which carry the payload twice, so
/// that a cost per byte would be ambiguous, and if messages of different sizes were lost: it is not known which.
#[allow(clippy::cast_precision_loss, reason = "bytes, good to 53 bits")]
fn arrived_bytes(sample: &Sample) -> Option<f64> {
    let (arrived, lost) = (sample.messages as f64, sample.lost_messages.unwrap_or(0) as f64);
    if lost > 0.0 && sample.run.case.message_sizes.is_some() {
        return None;
    }
    let bytes = sample.total_bytes as f64 * arrived / (arrived + lost);
    (sample.run.case.workload.is_streamed() && bytes > 0.0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::testing::sample;

    fn spending(workload: WorkloadKind, cpu_ns: Option<u64>) -> Sample {
        let mut sample = sample("pipe", workload, 64, 1, 1_000_000);
        sample.roles.insert("sender_cpu_ns".to_owned(), cpu_ns);
        sample
    }

    #[test]
    fn cpu_time_is_told_by_message_and_for_streams_by_byte() {
        let costs = by_role(&[&spending(WorkloadKind::Stream, Some(320_000))]);
        let sender = &costs["sender"];
        assert!((sender.cpu_ns_per_message.median - 320.0).abs() < 1e-9);
        assert!((sender.cpu_ns_per_byte.unwrap().median - 5.0).abs() < 1e-9);
        let costs = by_role(&[&spending(WorkloadKind::RoundTrip, Some(320_000))]);
        assert_eq!(costs["sender"].cpu_ns_per_byte, None);
    }

    #[test]
    fn what_was_lost_was_paid_for_but_did_not_arrive() {
        let mut sample = spending(WorkloadKind::Stream, Some(320_000));
        (sample.messages, sample.lost_messages) = (500, Some(500));
        let sender = by_role(&[&sample])["sender"];
        assert!((sender.cpu_ns_per_byte.unwrap().median - 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_cpu_time_of_a_message_includes_all_roles_and_kernel_threads() {
        let mut sample = spending(WorkloadKind::RoundTrip, Some(320_000));
        sample.roles.insert("receiver_cpu_ns".to_owned(), Some(180_000));
        assert_eq!(cpu_ns_per_message(&sample), Some(500.0));
        sample.kernel_thread_ns = Some(100_000);
        assert_eq!(cpu_ns_per_message(&sample), Some(600.0));
        sample.roles.insert("broker_cpu_ns".to_owned(), None);
        assert_eq!(cpu_ns_per_message(&sample), None, "a part is unknown");
    }

    #[test]
    fn unknown_cpu_time_has_no_cost() {
        assert!(by_role(&[&spending(WorkloadKind::Stream, None)]).is_empty());
        assert!(by_role(&[]).is_empty());
    }
}
