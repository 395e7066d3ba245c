//! The mechanisms under test and their variants.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};
use std::thread;

use ipcperf_engine::channel::{MULTIPLEX, ManyPeers, Mechanism, OptionSpec, OptionValues};
use ipcperf_engine::mechanism::{CustomMechanism, LibraryFacts, MECHANISMS, RequestedMechanism};
use ipcperf_engine::placement::Topology;
use ipcperf_model::mechanism::{Delivery, Helper};
use ipcperf_model::placement::Placement;
use ipcperf_model::workload::{Arrangement, WorkloadKind};
use ipcperf_model::{CustomKind, CustomName, Mode};

use crate::custom;
use crate::skip::skip;

/// Returns the mechanisms under test: those listed in `IPCPERF_MECHANISMS` (separated by commas), or all and the
/// example library.
pub(crate) fn under_test() -> Vec<&'static Mechanism<'static>> {
    static REQUESTED: LazyLock<Vec<RequestedMechanism>> = LazyLock::new(|| {
        let listed = |name: &str| MECHANISMS.iter().copied().find(|one| one.name == name);
        let named = |name: &str| {
            listed(name).map_or_else(|| library(name).into(), RequestedMechanism::from)
        };
        match std::env::var("IPCPERF_MECHANISMS") {
            Ok(names) => names.split(',').map(named).collect(),
            Err(_) => {
                let example = example().map(RequestedMechanism::from);
                MECHANISMS.iter().copied().map(Into::into).chain(example).collect()
            }
        }
    });
    static UNDER_TEST: LazyLock<Vec<Mechanism<'static>>> =
        LazyLock::new(|| REQUESTED.iter().map(RequestedMechanism::mechanism).collect());
    UNDER_TEST.iter().collect()
}

/// Returns the example library; `None` if there is no C compiler.
fn example() -> Option<CustomMechanism> {
    let path = custom::pipes();
    if path.is_none() {
        skip("the example of a library", "there is no cc");
    }
    path.map(|path| library(&format!("lib:{}", path.display())))
}

/// Returns the library `name` with the facts that it reports to the command.
fn library(name: &str) -> CustomMechanism {
    let name = CustomName::parse(name).unwrap_or_else(|| panic!("no mechanism {name}"));
    assert_eq!(name.kind(), CustomKind::Library, "{name}");
    let mut asked = Command::new(env!("CARGO_BIN_EXE_ipcperf"));
    let printed =
        asked.arg("library").arg(name.path()).output().expect("the command starts").stdout;
    let facts: Result<LibraryFacts, String> = serde_json::from_slice(&printed).expect("its answer");
    CustomMechanism::new_library(&name, Ok(facts.expect("a library")))
}

/// Returns the mechanisms under test that are available here; [`for_each`] reports the others.
pub(crate) fn available() -> &'static [&'static Mechanism<'static>] {
    static AVAILABLE: LazyLock<Vec<&'static Mechanism<'static>>> = LazyLock::new(|| {
        under_test().into_iter().filter(|mechanism| mechanism.available().is_ok()).collect()
    });
    &AVAILABLE
}

/// Applies `check` to each mechanism that is available here, and names all that fail.
pub(crate) fn for_each(check: impl Fn(&'static Mechanism<'static>) + Sync) {
    let (failed, mechanisms) = (Mutex::new(Vec::new()), under_test());
    in_parallel(mechanisms.len(), |index| {
        let mechanism = mechanisms[index];
        if let Some(reason) = missing(mechanism) {
            skip(mechanism.name, &reason);
        } else if catch_unwind(AssertUnwindSafe(|| check(mechanism))).is_err() {
            failed.lock().expect("no one panics with it").push(mechanism.name);
        }
    });
    let failed = failed.into_inner().expect("no one panics with it");
    assert!(failed.is_empty(), "failed for {failed:?}: see above");
}

/// Returns the reason why `mechanism`, with default options, cannot be used here.
fn missing(mechanism: &Mechanism) -> Option<String> {
    let lack = || mechanism.unavailable_value(&BTreeMap::new()).map(|lack| lack.missing);
    mechanism.available().err().or_else(lack).map(|why| why.reason)
}

/// Returns the number of processes in a run of `mechanism` in `mode`, with default options.
pub(crate) fn processes(mechanism: &Mechanism, mode: Mode) -> usize {
    1 + peer_processes(mode, 2) + usize::from(mechanism.helper == Helper::Broker)
}

/// Returns the number of processes of a run in `mode` that are peers, if it has `peers`.
fn peer_processes(mode: Mode, peers: usize) -> usize {
    if matches!(mode, Mode::TwoProcesses | Mode::TwoPrograms) { peers } else { 0 }
}

/// Returns the number of peers of a run with `count` on the side that has several, or with `count` pairs.
pub(crate) fn peers(workload: WorkloadKind, count: usize) -> usize {
    match workload.facts().arrangement {
        Arrangement::OnePair => 2,
        Arrangement::ManyToOne | Arrangement::OneToMany => count + 1,
        Arrangement::Pairs => 2 * count,
    }
}

/// Like [`processes`], with `count` peers on the side that has several, or with `count` pairs.
pub(crate) fn processes_with_peers(
    mechanism: &Mechanism,
    mode: Mode,
    workload: WorkloadKind,
    count: usize,
) -> usize {
    let others = processes(mechanism, mode) - peer_processes(mode, 2);
    others + peer_processes(mode, peers(workload, count))
}

/// Whether `mechanism` can run `workload` in `mode`, with several peers if it takes any.
pub(crate) fn can_run(mechanism: &Mechanism, mode: Mode, workload: WorkloadKind) -> bool {
    match (workload.facts().arrangement, mechanism.many_peers) {
        (Arrangement::OnePair, _) => true,
        _ if mode == Mode::OneThread => false,
        (_, ManyPeers::TwoPeersOnly(_)) | (Arrangement::ManyToOne, ManyPeers::OneByOne) => false,
        _ => true,
    }
}

/// Like [`for_each`], but without mechanisms that move no data.
pub(crate) fn for_each_that_moves(check: impl Fn(&'static Mechanism<'static>) + Sync) {
    for_each(|mechanism| {
        if mechanism.delivery != Delivery::Nothing {
            check(mechanism);
        }
    });
}

/// Calls `work` with each number below `count`, with as many threads as there are CPUs.
pub(crate) fn in_parallel(count: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    work(index);
                }
            });
        }
    });
}

/// Returns every mode of `mechanism`, as an argument.
pub(crate) fn modes(mechanism: &Mechanism) -> String {
    mechanism.modes.iter().map(|mode| mode.name()).collect::<Vec<_>>().join(",")
}

/// Returns every value of every option of `mechanism`, as arguments that form their matrix. If there are several other
/// options, `wait` is apart from them: its many values would multiply the cases.
pub(crate) fn every_option(mechanism: &Mechanism<'static>) -> Vec<String> {
    let is_wait = |option: &&OptionSpec| matches!(option.values, OptionValues::Waits(_));
    if options_of_two(mechanism).count() <= 2 {
        return vec![settings(mechanism).join(" ")];
    }
    let (wait, others): (Vec<_>, Vec<_>) = options_of_two(mechanism).partition(is_wait);
    let joined = |options: Vec<&'static OptionSpec>| {
        let all = options.into_iter().map(|option| setting(mechanism, option));
        all.collect::<Vec<_>>().join(" ")
    };
    [others, wait].map(joined).into_iter().filter(|settings| !settings.is_empty()).collect()
}

/// Returns every value of each option separately, as arguments that leave the other options at their defaults; a single
/// empty string if there are no options.
pub(crate) fn each_option(mechanism: &Mechanism<'static>) -> Vec<String> {
    let settings = settings(mechanism);
    if settings.is_empty() { vec![String::new()] } else { settings }
}

/// Returns the options of `mechanism` that have an effect between two peers.
pub(crate) fn options_of_two(
    mechanism: &Mechanism<'static>,
) -> impl Iterator<Item = &'static OptionSpec> {
    mechanism.options.iter().filter(|option| option.name != MULTIPLEX.name)
}

fn settings(mechanism: &Mechanism<'static>) -> Vec<String> {
    options_of_two(mechanism).map(|option| setting(mechanism, option)).collect()
}

fn setting(mechanism: &Mechanism<'static>, option: &OptionSpec) -> String {
    format!("--set {}.{}={}", mechanism.name, option.name, values(option).join(","))
}

/// Returns the values of `option` to test: all of them for a choice.
pub(crate) fn values(option: &OptionSpec) -> Vec<String> {
    match &option.values {
        OptionValues::OneOf(words) => owned(*words),
        OptionValues::Waits(words) => {
            let window = words.contains(&"spin").then_some(&"spin:20us");
            owned(words.iter().chain(window))
        }
        OptionValues::Choices(choices) => choices
            .iter()
            .map(|choice| choice.value)
            .filter(|word| is_here(option, word))
            .map(str::to_owned)
            .collect(),
        OptionValues::Bytes => owned(&[option.default, "4KiB", "1MiB"]),
        OptionValues::BytesOr(words) => owned(words.iter().chain(&["4KiB"])),
        OptionValues::BytesUpTo(_) => owned(&[option.default, "4KiB"]),
        // If the default is a word, numbers are for experts and are not tested.
        OptionValues::Number(_) if option.default.parse::<u64>().is_err() => {
            owned(&[option.default])
        }
        OptionValues::Number(range) => vec![option.default.to_owned(), range.end().to_string()],
        OptionValues::Folder => owned(&[option.default, "/dev/shm"]),
    }
}

fn is_here(option: &OptionSpec, value: &str) -> bool {
    let lack = option.unavailable_values().into_iter().find(|lack| lack.value == value);
    if let Some(lack) = &lack {
        skip(&format!("{}={value}", option.name), &lack.missing.reason);
    }
    lack.is_none()
}

fn owned<'a>(words: impl IntoIterator<Item = &'a &'a str>) -> Vec<String> {
    words.into_iter().map(|&word| word.to_owned()).collect()
}

/// Returns the placements available on this machine.
pub(crate) fn placements() -> Vec<&'static str> {
    ["same", "free"].into_iter().chain(apart()).collect()
}

/// Returns the placement on two CPUs; `None` on a machine with a single CPU.
pub(crate) fn apart() -> Option<&'static str> {
    let topology = Topology::read().expect("the allowed CPUs");
    if topology.resolve(Placement::Split).is_ok() {
        return Some("split");
    }
    skip("placement split", "there is but one CPU");
    None
}
