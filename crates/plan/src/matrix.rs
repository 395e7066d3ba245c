//! Matrix of a request: a cell for every combination of the requested levels.

use std::collections::BTreeMap;

use ipcperf_engine::channel::Mechanism;
use ipcperf_engine::placement::Topology;
use ipcperf_model::RunSpec;
use ipcperf_model::message_options::MessageOptions;
use ipcperf_model::workload::WorkloadKind;

use super::cell::{self, Case, Naming, RefusedCell};
use super::request::Request;
use crate::cell_count::check_count;
use crate::error::Error;
use crate::message_options::for_workload;
use crate::peers::usual_pacer;
use crate::prefixes;
use crate::total::Total;

type OptionSet = BTreeMap<String, String>;

/// Returns every cell of the matrix, mechanisms first, in the order of the request.
pub(super) fn cells(
    request: &Request,
    mechanisms: &[Mechanism<'_>],
    naming: Naming,
    topology: &Topology,
) -> Result<Vec<Result<Case, RefusedCell>>, Error> {
    check_count(count(request, mechanisms.iter().copied()))?;
    let variants: Vec<(&Mechanism<'_>, OptionSet)> = mechanisms
        .iter()
        .flat_map(|mechanism| {
            option_sets(mechanism, request).into_iter().map(move |o| (mechanism, o))
        })
        .collect();
    let amount = naming.amount(request.total);
    let mut cells = Vec::new();
    for (mechanism, options) in &variants {
        for outline in unplaced_specs(mechanism, options, request) {
            for &placement in &request.placements {
                let levels = request.peers.levels(outline.workload);
                let usual = usual_pacer(&outline, &levels, placement, topology);
                for peers in levels {
                    let outline = RunSpec { peers, ..outline.clone() };
                    for pacing in request.pacing.levels(usual) {
                        let spec = RunSpec { pacing, ..outline.clone() };
                        cells.push(cell::resolve(mechanism, spec, placement, amount, topology)?);
                    }
                }
            }
        }
    }
    Ok(cells)
}

/// Number of cells of `request`, counted without generating them. It includes duplicates, from factors that do not
/// apply to a workload.
pub(super) fn count<'a>(
    request: &Request,
    mechanisms: impl Iterator<Item = Mechanism<'a>>,
) -> usize {
    let peers = request.workloads.iter().map(|&kind| request.peers.levels(kind).len());
    let factors = [
        peers.fold(0, usize::saturating_add),
        request.modes.len(),
        request.buffers.len(),
        request.kernel_buffers.len(),
        request.message_options.len(),
        request.placements.len(),
        request.pacing.level_count(),
        request.prefixes.len(),
    ];
    let sets = |mechanism: Mechanism<'a>| {
        let values = options(&mechanism, request).map(|(_, values)| values.len());
        values.fold(1, usize::saturating_mul)
    };
    let variants = mechanisms.map(sets).fold(0, usize::saturating_add);
    factors.into_iter().fold(variants, usize::saturating_mul)
}

/// Returns the cells of one mechanism with one set of options, without their placement.
fn unplaced_specs(
    mechanism: &Mechanism<'_>,
    options: &OptionSet,
    request: &Request,
) -> Vec<RunSpec> {
    let mut outlines = Vec::new();
    for workload in workloads(request) {
        let message_option_sets = for_workload(&request.message_options, workload);
        for &mode in &request.modes {
            for &buffer_bytes in &request.buffers {
                for &kernel_buffer in &request.kernel_buffers {
                    let outline = RunSpec {
                        options: options.clone(),
                        workload,
                        mode,
                        kernel_buffer,
                        check: request.check,
                        ..RunSpec::with_defaults(mechanism.name, buffer_bytes)
                    };
                    let total = request.total;
                    for prefixes in prefixes::levels(&request.prefixes, mode) {
                        let outline = RunSpec { prefixes, ..outline.clone() };
                        let handled = message_option_sets
                            .iter()
                            .map(|&options| handled(&outline, options, total));
                        outlines.extend(handled);
                    }
                }
            }
        }
    }
    outlines
}

/// Adds message options to `outline`. A mixture says how large the messages are.
fn handled(outline: &RunSpec, message_options: MessageOptions, total: Total) -> RunSpec {
    let sizes = message_options.sizes;
    let buffer_bytes = sizes.map_or(outline.buffer_bytes, |sizes| sizes.largest_bytes());
    let spec = RunSpec { message_options, buffer_bytes, ..outline.clone() };
    RunSpec { total_bytes: total.bytes(spec.mean_bytes()), ..spec }
}

/// Returns the workloads of `request`, each once: with a rate, a stream is a paced run.
fn workloads(request: &Request) -> Vec<WorkloadKind> {
    let mut kinds = Vec::new();
    for kind in request.workloads.iter().map(|&workload| request.pacing.workload(workload)) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// Returns the options of `mechanism` that were set, with their values.
fn options<'a>(
    mechanism: &'a Mechanism<'a>,
    request: &'a Request,
) -> impl Iterator<Item = (&'a str, &'a [String])> {
    let listed = mechanism.options.iter().map(|option| option.name);
    // Custom mechanisms list no options.
    let others = request.options.keys().filter(|(name, _)| *name == mechanism.name);
    let others = others.map(|(_, option)| option.as_str()).filter(|_| mechanism.options.is_empty());
    listed.chain(others).filter_map(|option| {
        let values = request.options.get(&(mechanism.name.to_owned(), option.to_owned()))?;
        Some((option, values.as_slice()))
    })
}

/// Returns every combination of the values that were set for the options of the mechanism.
fn option_sets(mechanism: &Mechanism<'_>, request: &Request) -> Vec<OptionSet> {
    let mut sets = vec![OptionSet::new()];
    for (option, values) in options(mechanism, request) {
        let with = |set: &OptionSet, value: &String| {
            let mut set = set.clone();
            set.insert(option.to_owned(), value.clone());
            set
        };
        sets = sets.iter().flat_map(|set| values.iter().map(|v| with(set, v))).collect();
    }
    sets
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ipcperf_engine::placement::Cpu;
    use ipcperf_model::PayloadCheck;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        CustomFiles, OptionSetting, Plan, TypedLevels, TypedMessageOptions, TypedPacing,
        TypedPeers, TypedPrefixes, TypedRequest,
    };

    fn two_cpus() -> Topology {
        let alone = |number| BTreeSet::from([number]);
        let cpu = |number| Cpu { number, core: alone(number), llc: alone(number), node: None };
        Topology { cpus: vec![cpu(0), cpu(1)] }
    }

    fn plan(typed: &TypedRequest<'_>) -> Result<Plan, Error> {
        Plan::resolve(&Request::parse(typed, PayloadCheck::Off)?, &two_cpus())
    }

    /// Wraps one text, as a flag passes it.
    const fn text(text: &str) -> Option<TypedLevels<'_>> {
        Some(TypedLevels::Text(text))
    }

    fn options<'t>(texts: &[&'t str]) -> Vec<OptionSetting<'t>> {
        texts.iter().map(|text| OptionSetting::parse(text).unwrap()).collect()
    }

    const NULL: TypedRequest<'_> = TypedRequest {
        mechanisms: text("null"),
        custom_files: CustomFiles::Inspect,
        workloads: None,
        buffers: text("64"),
        total: None,
        messages: None,
        modes: None,
        placements: None,
        kernel_buffers: None,
        pacing: TypedPacing {
            rate: None,
            arrivals: None,
            pacer: None,
            duration_s: None,
            knee: None,
        },
        peers: TypedPeers { peers: None, traffic: None },
        prefixes: TypedPrefixes { sender: None, receiver: None },
        message_options: USUAL,
        instruments: None,
        events: [None; 2],
        options: Vec::new(),
        repetitions: None,
        until_ci_percent: None,
        max_repetitions: None,
        max_time_s: None,
        attempts: None,
        seed: Some(1),
        timeout_s: None,
    };

    const USUAL: TypedMessageOptions<'_> = TypedMessageOptions {
        sizes: None,
        touch: None,
        payload: None,
        buffers: None,
        first_touch: None,
        reply: None,
    };

    fn words(typed: &TypedRequest<'_>) -> String {
        plan(typed).unwrap_err().to_string()
    }

    #[test]
    fn options_make_a_matrix_and_have_their_own_case() {
        let options = options(&["pipe.capacity=4KiB..16KiB,default"]);
        let typed = TypedRequest { mechanisms: text("pipe"), options, ..NULL };
        let ids: Vec<String> =
            plan(&typed).unwrap().cases.into_iter().map(|case| case.id).collect();
        assert_eq!(ids[0], "pipe[capacity=4096]/stream/2proc/same/64");
        assert_eq!(ids[3], "pipe[capacity=default]/stream/2proc/same/64");
        assert_eq!(ids.len(), 4);
    }

    #[test]
    fn mistakes_in_options_are_named() {
        let with = |set: &str, mechanisms| {
            words(&TypedRequest { mechanisms: text(mechanisms), options: options(&[set]), ..NULL })
        };
        let shape = OptionSetting::parse("tcp.nodelay").unwrap_err().to_string();
        assert_eq!(shape, "--set takes MECHANISM.OPTION=VALUES, not `tcp.nodelay`");
        let unmeasured = "--set names the mechanism tcp, but -m does not; add tcp to -m";
        assert_eq!(with("tcp.nodelay=on", "pipe"), unmeasured);
        assert!(with("tcp.nodely=on", "tcp").contains("did you mean `nodelay`?"));
        assert!(with("tcp.nodelay=of", "tcp").contains("did you mean `off`?"));
        assert_eq!(with("null.x=1", "null"), "the mechanism null has no options");
        assert!(with("pipe.capacity=0", "pipe").contains("at least 1 byte"));
    }

    #[test]
    fn a_message_above_the_limit_is_refused_and_the_rest_is_run() {
        let typed =
            TypedRequest { mechanisms: text("udp"), buffers: text("64,65507,65508"), ..NULL };
        let plan = plan(&typed).unwrap();
        assert_eq!(plan.cases.len(), 2);
        let reason = plan.refused[0].to_string();
        assert!(
            reason.starts_with("udp/stream/2proc/same/65508: udp carries at most 65507"),
            "{reason}"
        );
    }

    #[test]
    fn a_matrix_of_refusals_is_a_mistake() {
        let typed = TypedRequest { mechanisms: text("udp"), buffers: text("1MiB"), ..NULL };
        assert!(words(&typed).starts_with("the case is refused"));
        let typed = TypedRequest { modes: text("1thread"), placements: text("split"), ..NULL };
        let two_cpus = "one thread cannot be on two CPUs; use placement same, or another mode";
        assert!(words(&typed).ends_with(two_cpus));
        let typed = TypedRequest { buffers: text("1000000GiB"), ..NULL };
        assert!(words(&typed).contains("memory"));
    }

    #[test]
    fn what_a_mechanism_holds_counts_as_memory() {
        let Some(available) = crate::machine::available_memory_bytes() else { return };
        let tenth = format!("{}", available / 10);
        let mechanisms = text("pipe,bus-copy");
        let plan = plan(&TypedRequest { mechanisms, buffers: text(&tenth), ..NULL }).unwrap();
        assert_eq!(plan.cases.len(), 1, "a pipe holds no message");
        let reason = plan.refused[0].to_string();
        assert!(reason.contains("bus-copy keeps up to 20 messages in memory"), "{reason}");
    }

    #[test]
    fn what_a_mechanism_holds_counts_beside_many_buffers() {
        let Some(available) = crate::machine::available_memory_bytes() else { return };
        // 64 buffers, plus the 4 messages that are always assumed or the 16 messages of bus-copy.
        let part = format!("{}", available / 72);
        let message_options = TypedMessageOptions { buffers: text("rotate"), ..USUAL };
        let (mechanisms, buffers) = (text("pipe,bus-copy"), text(&part));
        let plan = plan(&TypedRequest { mechanisms, buffers, message_options, ..NULL }).unwrap();
        assert_eq!(plan.cases.len(), 1, "a pipe holds no message");
        let reason = plan.refused[0].to_string();
        assert!(reason.contains("--buffers rotate needs"), "{reason}");
    }

    fn handled(
        workloads: &'static str,
        message_options: TypedMessageOptions<'static>,
    ) -> TypedRequest<'static> {
        TypedRequest {
            mechanisms: text("pipe"),
            workloads: text(workloads),
            message_options,
            ..NULL
        }
    }

    #[test]
    fn what_is_done_with_messages_makes_a_matrix_and_stands_in_the_name_of_its_case() {
        let message_options = TypedMessageOptions {
            touch: text("none,both"),
            payload: text("compressible:2"),
            reply: text("echo,8"),
            ..USUAL
        };
        let cases = plan(&handled("stream,request-reply", message_options)).unwrap().cases;
        let ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        let stream = "pipe/stream/2proc/same/64";
        assert_eq!(ids[0], format!("{stream}/payload=compressible:2"));
        assert_eq!(ids[1], format!("{stream}/touch=both/payload=compressible:2"));
        let answered = "pipe/request-reply/2proc/same/64";
        assert_eq!(ids[3], format!("{answered}/payload=compressible:2/reply=8"));
        assert_eq!(ids.len(), 2 + 4, "a stream has no reply");
    }

    #[test]
    fn mistakes_in_what_is_done_with_messages_are_named() {
        let usual = USUAL;
        let told = |message_options| words(&handled("request-reply", message_options));
        let touch = told(TypedMessageOptions { touch: text("boht"), ..usual });
        assert_eq!(touch, "unknown value `boht` of --touch; did you mean `both`?");
        let payload = told(TypedMessageOptions { payload: text("compressible:0"), ..usual });
        assert!(payload.starts_with("--payload: compressible:R takes a factor"), "{payload}");
        let reply = told(TypedMessageOptions { reply: text("0"), ..usual });
        assert!(reply.starts_with("--reply takes echo or a size"), "{reply}");
        let first = told(TypedMessageOptions { first_touch: text("before-fork"), ..usual });
        assert!(first.contains("needs --total"), "{first}");
        let stream = handled("stream", TypedMessageOptions { reply: text("8"), ..usual });
        assert_eq!(words(&stream), "--reply requires -w request-reply or server");
    }

    #[test]
    fn a_reply_above_the_limit_is_refused_like_a_message() {
        let message_options = TypedMessageOptions { reply: text("65508"), ..USUAL };
        let typed =
            TypedRequest { mechanisms: text("udp"), ..handled("request-reply", message_options) };
        assert!(words(&typed).contains("udp carries at most 65507"), "{}", words(&typed));
    }

    #[test]
    fn a_cpu_outside_the_cpuset_is_a_mistake() {
        let typed = TypedRequest { placements: text("same,0:7"), ..NULL };
        assert_eq!(words(&typed), "placement 0:7: CPU 7 is outside the allowed CPUs (0-1)");
    }

    fn numbers(count: u32) -> String {
        (1..=count).map(|number| number.to_string()).collect::<Vec<_>>().join(",")
    }

    /// The test would not end, or would run out of memory, if one of these matrices were generated in order to
    /// count it.
    #[test]
    fn a_product_of_short_lists_is_counted_before_it_is_made() {
        let told = |typed: &TypedRequest<'_>, cells: &str| {
            let words = words(typed);
            assert_eq!(words, format!("the matrix has {cells} cells; the maximum is 100000"));
        };
        let (sizes, many) = (text("1..4096:4096"), numbers(4_096));
        let message_options = TypedMessageOptions {
            sizes: None,
            touch: text("none,write,read,both"),
            payload: text("constant,random,compressible:2"),
            buffers: text("hot,rotate,cold"),
            first_touch: None,
            reply: text(&many),
        };
        told(&TypedRequest { workloads: text("request-reply"), message_options, ..NULL }, "147456");
        let set = ["a", "b", "c", "d", "e", "f"].map(|name| format!("exec.{name}={many}"));
        let options = options(&set.each_ref().map(String::as_str));
        let custom = TypedRequest { mechanisms: text("exec:/bin/true"), options, ..NULL };
        told(&custom, &usize::MAX.to_string());
        told(&TypedRequest { buffers: sizes, kernel_buffers: text(&many), ..NULL }, "16777216");
        let places = (0..100).map(|cpu| format!("{cpu}:{cpu}")).collect::<Vec<_>>().join(",");
        told(&TypedRequest { buffers: sizes, placements: text(&places), ..NULL }, "409600");
    }

    #[test]
    fn matrices_of_a_study_are_counted_together() {
        let (buffers, kernel_buffers) = (text("1..4096:4096"), text("1,2,3,4,5,6,7,8"));
        let typed = TypedRequest { buffers, kernel_buffers, ..NULL };
        let request = Request::parse(&typed, PayloadCheck::Off).unwrap();
        let four = ["a", "b", "c", "d"].map(|name| (name.to_owned(), request.clone()));
        let told = Plan::resolve_all(&four, &two_cpus()).unwrap_err().to_string();
        assert_eq!(told, "the matrix has 131072 cells; the maximum is 100000");
    }

    #[test]
    fn an_absurd_matrix_is_refused_before_it_is_made() {
        let typed = TypedRequest {
            buffers: text("1..9999:4096"),
            kernel_buffers: text("1,2,3,4,5,6,7,8,9,10,11,12"),
            placements: text("same,split,free"),
            ..NULL
        };
        assert!(words(&typed).contains("147456 cells"), "{}", words(&typed));
    }

    proptest! {
        #[test]
        fn every_combination_is_there_once(sizes in 1_u64..6, modes in 1_usize..3, places in 1_usize..4) {
            let buffers = (1..=sizes).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
            let modes_text = ["2thread", "2proc"][..modes].join(",");
            let places_text = ["same", "split", "free"][..places].join(",");
            let (modes_text, places_text) = (text(&modes_text), text(&places_text));
            let buffers = text(&buffers);
            let typed = TypedRequest { buffers, modes: modes_text, placements: places_text, ..NULL };
            let cases = plan(&typed).unwrap().cases;
            let ids: BTreeSet<&String> = cases.iter().map(|case| &case.id).collect();
            prop_assert_eq!(cases.len(), usize::try_from(sizes).unwrap() * modes * places);
            prop_assert_eq!(ids.len(), cases.len());
        }
    }
}
