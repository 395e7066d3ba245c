//! Checks of a run specification before anything is opened. It may come from an edited file, so none of its values can
//! be assumed to be valid.

use ipcperf_model::peers::MAX_PEERS;
use ipcperf_model::{CustomKind, Failure, FailureKind, Gate, KernelBuffer, Mode, RunSpec};

use crate::channel::{ManyPeers, Mechanism, Setup};
use crate::workload::pool_bytes;

/// Maximum size of a message, bytes: no machine has memory for more.
const MAX_MESSAGE_BYTES: u64 = 1 << 40;

/// Rejects a `spec` that `mechanism` cannot carry out.
pub(super) fn validate(spec: &RunSpec, mechanism: &Mechanism) -> Result<(), Failure> {
    check_size("a message", spec.buffer_bytes)?;
    check_size("a reply", spec.reply_bytes().unwrap_or(1))?;
    check_mixture(spec)?;
    if spec.total_bytes == Some(0) {
        return Err(refused("a total of 0 bytes: the minimum is 1".to_owned()));
    }
    if let KernelBuffer::Bytes(0) | KernelBuffer::Plain(0) = spec.kernel_buffer {
        return Err(refused("a kernel buffer of 0 bytes: the minimum is 1".to_owned()));
    }
    // The command has checked the options of a custom mechanism; the worker has not queried it.
    if spec.mechanism.custom().is_none() {
        check_mode(spec, mechanism)?;
        check_options(spec, mechanism)?;
    }
    check_peers(spec, mechanism)?;
    check_memory(spec, mechanism)
}

/// Rejects a mixture of message sizes whose largest is not that of the buffer, and a mixture for a custom program, which has
/// one size.
fn check_mixture(spec: &RunSpec) -> Result<(), Failure> {
    let Some(sizes) = spec.message_options.sizes else { return Ok(()) };
    let custom = spec.mechanism.custom();
    let is_program = custom.is_some_and(|custom| custom.kind() == CustomKind::Program);
    if spec.has_fitting_sizes() && !is_program {
        return Ok(());
    }
    Err(refused(format!("messages of {sizes} in buffers of {} bytes", spec.buffer_bytes)))
}

/// Rejects peers that the mechanism cannot connect. Instruments observe two peers, so the gate is for these only.
fn check_peers(spec: &RunSpec, mechanism: &Mechanism) -> Result<(), Failure> {
    let Some(peers) = &spec.peers else { return Ok(()) };
    let has_several = peers.count > 1;
    let is_possible =
        spec.mode != Mode::OneThread && !matches!(mechanism.many_peers, ManyPeers::TwoPeersOnly(_));
    let is_valid = (1..=MAX_PEERS).contains(&peers.count)
        && spec.workload.takes_peers()
        && spec.gate == Gate::Open
        && (is_possible || !has_several);
    if is_valid {
        return Ok(());
    }
    Err(refused(format!("{} with {} peers", mechanism.name, peers.count)))
}

fn refused(place: String) -> Failure {
    Failure::new(FailureKind::SetUp, place)
        .with_remedy("if the plan comes from a file, the file was edited; create it again")
}

fn check_size(what: &str, bytes: u64) -> Result<(), Failure> {
    if (1..=MAX_MESSAGE_BYTES).contains(&bytes) {
        return Ok(());
    }
    Err(refused(format!(
        "{what} of {bytes} bytes: the minimum is 1, the maximum {MAX_MESSAGE_BYTES}"
    )))
}

fn check_mode(spec: &RunSpec, mechanism: &Mechanism) -> Result<(), Failure> {
    let can_meet = spec.mode != Mode::TwoPrograms || mechanism.meet.is_some();
    let is_observed = spec.mode == Mode::TwoPrograms && spec.gate != Gate::Open;
    if mechanism.modes.contains(&spec.mode) && can_meet && !is_observed {
        return Ok(());
    }
    Err(refused(format!("{} cannot run in {}", mechanism.name, spec.mode.name())))
}

fn check_options(spec: &RunSpec, mechanism: &Mechanism) -> Result<(), Failure> {
    for (name, value) in &spec.options {
        let known = mechanism.options.iter().find(|option| option.name == name);
        if !known.is_some_and(|option| option.accepts(value)) {
            // Values from a file may be long, or unsafe to print on a terminal.
            let shown: String = format!("{name}={value}").chars().take(80).collect();
            return Err(refused(format!("{} has no option {shown:?}", mechanism.name)));
        }
    }
    Ok(())
}

/// Rejects a run whose minimum memory is not available: the buffers of both peers and the messages the mechanism holds.
/// The check of a plan is stricter.
fn check_memory(spec: &RunSpec, mechanism: &Mechanism) -> Result<(), Failure> {
    let Some(available) = available_bytes() else { return Ok(()) };
    let bytes = spec.largest_bytes();
    let in_flight_bytes = (mechanism.in_flight_messages)(&Setup::new(spec)).saturating_mul(bytes);
    let needed = pool_bytes(bytes, 1, spec.message_options.buffers).saturating_mul(2);
    let needed = needed.saturating_add(in_flight_bytes).saturating_mul(spec.connections() as u64);
    if needed <= available {
        return Ok(());
    }
    let place = format!(
        "messages of {bytes} bytes need {needed} bytes of memory; {available} are available"
    );
    Err(Failure::new(FailureKind::SetUp, place).with_remedy("use smaller messages, or free memory"))
}

/// Memory available without swapping, bytes.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use ipcperf_model::message_options::Reply;
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::mechanism;

    fn validated(spec: &RunSpec) -> Result<(), Failure> {
        validate(spec, mechanism::find(&spec.mechanism).unwrap())
    }

    #[test]
    fn every_mechanism_is_admitted_as_it_usually_is() {
        for mechanism in mechanism::MECHANISMS {
            for &mode in mechanism.modes {
                let mut spec = RunSpec { mode, ..RunSpec::with_defaults(mechanism.name, 8) };
                validated(&spec).unwrap();
                for option in mechanism.options {
                    spec.options.insert(option.name.to_owned(), option.default.to_owned());
                }
                validated(&spec).unwrap();
            }
        }
    }

    #[test]
    fn what_no_plan_holds_is_refused_with_its_value() {
        let usual = || RunSpec::with_defaults("tcp", 8);
        let with = |name: &str, value: &str| RunSpec {
            options: [(name.to_owned(), value.to_owned())].into(),
            ..usual()
        };
        let reply = |bytes| {
            let mut spec = RunSpec { workload: WorkloadKind::RequestReply, ..usual() };
            spec.message_options.reply = Reply::Bytes(bytes);
            spec
        };
        for (spec, word) in [
            (RunSpec { buffer_bytes: 0, ..usual() }, "of 0 bytes"),
            (RunSpec { buffer_bytes: u64::MAX, ..usual() }, "18446744073709551615"),
            (RunSpec { buffer_bytes: MAX_MESSAGE_BYTES, ..usual() }, "of memory"),
            (RunSpec { total_bytes: Some(0), ..usual() }, "total of 0"),
            (RunSpec { kernel_buffer: KernelBuffer::Bytes(0), ..usual() }, "buffer of 0"),
            (RunSpec { kernel_buffer: KernelBuffer::Plain(0), ..usual() }, "buffer of 0"),
            (RunSpec { mode: Mode::OneThread, ..RunSpec::with_defaults("grpc", 8) }, "1thread"),
            (reply(u64::MAX), "a reply"),
            (reply(0), "a reply"),
            (with("port", "0"), "port=0"),
            (with("port", "65536"), "port=65536"),
            (with("port", ""), "port="),
            (with("nodelay", "perhaps"), "nodelay=perhaps"),
            (with("depth", "99999999999"), "depth=99999999999"),
            (with("port", "\u{1b}[31m"), "\\u{1b}"),
        ] {
            let failure = validated(&spec).expect_err(word);
            assert_eq!(failure.what, FailureKind::SetUp);
            assert!(failure.place.contains(word), "{word}: {failure}");
            assert!(failure.remedy.is_some(), "{failure}");
        }
    }
}
