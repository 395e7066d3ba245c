//! Configuration of the machine and the benchmark, under FreeBSD's names, as far as Linux has counterparts.

use ipcperf_model::environment::Environment;

use super::arguments::IpcArguments;
use super::datum::{Field, FieldValue, Fields};
use super::emitter::Emitter;
use crate::build_info::environment;

/// The configuration, part by part.
#[derive(Debug)]
pub(super) struct Configuration {
    hardware: Fields,
    system: Fields,
    network: Fields,
    benchmark: Fields,
}

impl Configuration {
    /// Returns the configuration of this machine and of a benchmark with `iterations` iterations.
    pub(super) fn new(parsed: &IpcArguments, iterations: u64) -> Self {
        let environment = environment();
        Self {
            hardware: hardware(&environment),
            system: system(),
            network: network(&environment),
            benchmark: benchmark(parsed, iterations),
        }
    }

    /// Passes its parts to `emitter`, each with its heading.
    pub(super) fn emit(&self, emitter: &mut Emitter) {
        let parts = [
            ("hardware_configuration", "Hardware configuration:", &self.hardware),
            ("os_configuration", "OS configuration:", &self.system),
            ("network_ipc_configuration", "Network and IPC configuration:", &self.network),
            ("benchmark_configuration", "Benchmark configuration:", &self.benchmark),
        ];
        for (name, heading, fields) in parts {
            emitter.container(name, heading, fields);
        }
    }
}

fn hardware(environment: &Environment) -> Fields {
    let (cpus, memory) = (&environment.cpus, &environment.memory);
    let uname = rustix::system::uname();
    let pages = [Some(memory.page_bytes), memory.hugepage_bytes];
    let pages = FieldValue::List("pagesize", pages.into_iter().flatten().collect());
    let mut fields = vec![Field::text("hw.machine", &uname.machine().to_string_lossy())];
    fields.extend(cpus.cpu_model.as_ref().map(|model| Field::text("hw.model", model)));
    fields.extend(cpus.cpu_threads.map(|count| Field::count("hw.ncpu", count, "")));
    fields.extend(memory.memory_bytes.map(|bytes| Field::count("hw.physmem", bytes, "")));
    fields.push(Field { name: "hw.pagesizes".to_owned(), value: pages, unit: "" });
    Fields(fields)
}

fn system() -> Fields {
    let uname = rustix::system::uname();
    Fields(vec![
        Field::text("kern.ostype", &uname.sysname().to_string_lossy()),
        Field::text("kern.osrelease", &uname.release().to_string_lossy()),
        Field::text("kern.ident", &uname.version().to_string_lossy()),
        Field::text("kern.hostname", &uname.nodename().to_string_lossy()),
    ])
}

fn network(environment: &Environment) -> Fields {
    let network = &environment.network;
    let count = |name, value: Option<u64>| value.map(|value| Field::count(name, value, ""));
    let algorithm = network.tcp_congestion_control.as_ref();
    let fields = [
        count("kern.ipc.maxsockbuf", network.wmem_max_bytes),
        Some(Field::text("ifnet.name", "lo")),
        count("ifnet.mtu", network.loopback_mtu_bytes),
        algorithm.map(|name| Field::text("net.inet.tcp.cc.algorithm", name)),
        count("net.isr.defaultqlimit", network.netdev_max_backlog),
    ];
    Fields(fields.into_iter().flatten().collect())
}

fn benchmark(parsed: &IpcArguments, iterations: u64) -> Fields {
    Fields(vec![
        Field::count("buffersize", parsed.buffer_bytes(), ""),
        Field::count("totalsize", parsed.total_bytes(), ""),
        Field::count("msgcount", parsed.block_count(), ""),
        Field::text("mode", parsed.mode()),
        Field::text("ipctype", parsed.ipc_type()),
        Field::text("pmctype", parsed.set().map_or("none", |set| set.name)),
        Field::count("iterations", iterations, ""),
    ])
}
