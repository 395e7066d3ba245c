//! Workloads with several peers: every message of every peer arrives, and each peer has a line.

use ipcperf_engine::channel::{MULTIPLEX, Mechanism, Multiplexing};
use ipcperf_model::mechanism::Delivery;
use ipcperf_model::peers::MAX_PEERS;
use ipcperf_model::workload::{Arrangement, WORKLOADS, WorkloadKind};
use ipcperf_model::{Mode, Role};
use serde_json::Value;

use crate::max_message::largest_message;
use crate::mechanisms::{apart, can_run, for_each, for_each_that_moves, peers, values};
use crate::results::{ResultsFile, lines, number};
use crate::sandbox::Sandbox;

/// Numbers of peers, one of which leaves two peers in all.
const COUNTS: [u64; 2] = [1, 3];
/// Sizes of messages, with their number: short ones, and some that the kernel passes on in parts.
const SIZES: [(u64, u64); 2] = [(64, 60), (200_003, 4)];
/// Schedule of so many messages of each sender.
const SCHEDULE: (u64, &str) = (20, "--rate 2k --duration 0.01001");

/// Returns the workloads with several peers that `mechanism` can run.
fn workloads(mechanism: &Mechanism) -> Vec<WorkloadKind> {
    let kinds = WORKLOADS.iter().map(|facts| facts.kind).filter(|kind| kind.takes_peers());
    kinds.filter(|kind| can_run(mechanism, Mode::TwoProcesses, *kind)).collect()
}

#[test]
fn every_message_of_every_peer_arrives_whole_and_in_order() {
    let placements = ["free"].into_iter().chain(apart()).collect::<Vec<_>>().join(",");
    for_each_that_moves(|mechanism| {
        for (bytes, messages) in SIZES {
            if largest_message(mechanism, bytes) < bytes {
                continue;
            }
            let amount = format!("-b {bytes} --total {}", bytes * messages);
            let workloads = workloads(mechanism);
            let all = format!("{amount} --verify --mode {}", modes(mechanism).join(","));
            check(mechanism, &workloads, &format!("{all} --placement same"), messages);
            let processes = format!("{amount} --verify --mode 2proc");
            let apart = format!("{processes} --placement {placements}");
            check(mechanism, &workloads, &apart, messages);
        }
    });
}

#[test]
fn every_paced_message_of_every_peer_arrives_and_is_timed() {
    let (messages, schedule) = SCHEDULE;
    for_each_that_moves(|mechanism| {
        let workloads = workloads(mechanism);
        let bytes = largest_message(mechanism, 64);
        let with_threads =
            format!("--placement same --verify --mode {}", modes(mechanism).join(","));
        for settings in ["--placement free", &with_threads] {
            let arguments = format!("-b {bytes} {schedule} {settings}");
            for sample in check(mechanism, &workloads, &arguments, messages) {
                let is_answered = workload_of(&workloads, &sample).is_answered();
                let kind = if is_answered { "round_trip" } else { "one_way" };
                assert!(sample[format!("{kind}_ns_max")].is_u64(), "{sample}");
                assert!(sample[format!("{kind}_from_send_ns_max")].is_u64(), "{sample}");
            }
        }
    });
}

/// Names, keys and descriptors suffice for the largest number of peers.
#[test]
fn as_many_pairs_as_are_allowed_can_be_opened() {
    for_each_that_moves(|mechanism| {
        if !can_run(mechanism, Mode::TwoProcesses, WorkloadKind::Pairs) {
            return;
        }
        let sandbox = Sandbox::open();
        let bytes = largest_message(mechanism, 64);
        let arguments = format!(
            "-m {} -w pairs --peers {MAX_PEERS} -b {bytes} --total {} --verify --repetitions 1",
            mechanism.name,
            5 * bytes
        );
        sandbox.finish(sandbox.measuring(&arguments)).expect(0);
        for sample in ResultsFile::read(&sandbox.results()).samples {
            assert_complete(mechanism, &sample, 5);
        }
        sandbox.assert_nothing_left();
    });
}

#[test]
fn every_way_to_wait_for_several_is_used() {
    for_each_that_moves(|mechanism| {
        let has_choice = mechanism.options.iter().any(|option| option.name == MULTIPLEX.name);
        let ways = values(&MULTIPLEX);
        let mut workloads = workloads(mechanism);
        workloads.retain(|workload| workload.facts().arrangement == Arrangement::ManyToOne);
        if has_choice {
            let set = format!("--set {}.{}={}", mechanism.name, MULTIPLEX.name, ways.join(","));
            let bytes = largest_message(mechanism, 64);
            let arguments = format!("-b {bytes} --total {} --verify {set}", 40 * bytes);
            check(mechanism, &workloads, &arguments, 40);
        }
        assert!(ways.iter().all(|way| {
            let options = [(MULTIPLEX.name.to_owned(), way.clone())].into();
            (Multiplexing::from_options(&options) == Multiplexing::Poll) == (way == "poll")
        }));
    });
}

#[test]
fn what_cannot_have_several_peers_is_refused_with_the_reason() {
    let sandbox = Sandbox::open();
    for_each(|mechanism| {
        let possible = workloads(mechanism);
        for facts in WORKLOADS.iter().filter(|facts| facts.kind.takes_peers()) {
            if possible.contains(&facts.kind) {
                continue;
            }
            let arguments = format!("plan -m {} -b 1 -w {} --peers 3", mechanism.name, facts.name);
            let refused = sandbox.run(&arguments).expect(2);
            assert!(refused.stderr.contains(mechanism.name), "{}", refused.stderr);
            let words = ["connects two peers only", "cannot wait for messages of several peers"];
            assert!(words.iter().any(|words| refused.stderr.contains(words)), "{}", refused.stderr);
        }
    });
}

/// Returns the modes of `mechanism` in which several peers can run.
fn modes(mechanism: &Mechanism) -> Vec<&'static str> {
    let modes = mechanism.modes.iter().filter(|mode| **mode != Mode::OneThread);
    modes.map(|mode| mode.name()).collect()
}

/// Measures `workloads` and returns the samples. Each connection has `messages`.
fn check(
    mechanism: &Mechanism,
    workloads: &[WorkloadKind],
    arguments: &str,
    messages: u64,
) -> Vec<Value> {
    if workloads.is_empty() {
        return Vec::new();
    }
    let sandbox = Sandbox::open();
    let counts = COUNTS.map(|count| count.to_string()).join(",");
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name()).collect();
    let arguments = format!(
        "-m {} -w {} --peers {counts} {arguments} --repetitions 1",
        mechanism.name,
        names.join(","),
    );
    sandbox.finish(sandbox.measuring(&arguments)).expect(0);
    let file = ResultsFile::read(&sandbox.results());
    let cases = file.header["plan"]["cases"].as_array().expect("the cases");
    assert_eq!(file.samples.len(), 2 * cases.len());
    let lines = lines(&sandbox.results());
    for sample in &file.samples {
        let is_own = |line: &&Value| line["kind"] == "peer" && line["run_id"] == sample["run_id"];
        let own: Vec<&Value> = lines.iter().filter(is_own).collect();
        assert_complete(mechanism, sample, messages);
        assert_peers(workload_of(workloads, sample), sample, &own);
    }
    let is_measured = |name: &&str| file.samples.iter().any(|sample| sample["workload"] == *name);
    assert!(names.iter().all(is_measured), "{names:?}");
    sandbox.assert_nothing_left();
    file.samples
}

/// Returns which of `workloads` is that of `sample`.
fn workload_of(workloads: &[WorkloadKind], sample: &Value) -> WorkloadKind {
    let found = workloads.iter().find(|workload| sample["workload"] == workload.name());
    *found.expect("one of the workloads")
}

/// Checks that `messages` arrived over each connection, or were lost. A paced run may have ended early.
fn assert_complete(mechanism: &Mechanism, sample: &Value, messages: u64) {
    let lost = sample["lost_messages"].as_u64().unwrap_or(0);
    let all = messages * number(sample, "peers");
    let arrived = number(sample, "messages") + lost;
    let may_end_early = sample["saturated"] == true;
    assert!(arrived == all || (may_end_early && arrived < all), "{sample}");
    assert!(lost == 0 || mechanism.delivery == Delivery::Lossy, "{sample}");
}

/// Checks the lines of the peers of the run of `sample`.
fn assert_peers(workload: WorkloadKind, sample: &Value, own: &[&Value]) {
    let count = number(sample, "peers");
    let wanted = peers(workload, usize::try_from(count).expect("a number of peers"));
    assert_eq!(own.len(), wanted, "{sample}");
    let of_role = |role: Role| own.iter().filter(move |peer| peer["role"] == role.name());
    let several = match workload.facts().arrangement {
        Arrangement::OneToMany => Role::Receiver,
        _ => Role::Sender,
    };
    assert_eq!(of_role(several).count() as u64, count, "{sample}");
    let numbers: Vec<u64> = of_role(several).map(|peer| number(peer, "peer")).collect();
    assert_eq!(numbers, (0..count).collect::<Vec<_>>(), "{sample}");
    let arrived: u64 = of_role(several).map(|peer| number(peer, "messages")).sum();
    assert_eq!(arrived, number(sample, "messages"), "{own:?}");
    let cpu_ns: u64 = own.iter().map(|peer| number(peer, "cpu_ns")).sum();
    let roles = ["sender_cpu_ns", "receiver_cpu_ns"];
    assert_eq!(cpu_ns, roles.map(|key| number(sample, key)).iter().sum::<u64>(), "{sample}");
    let fairness = sample["fairness"].as_f64().expect("a ratio");
    assert!(fairness > 0.0 && fairness <= 1.0, "{sample}");
}
