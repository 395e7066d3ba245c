//! Reads the CPUs: their number and topology, and which of them may be used.

use std::fs;

use ipcperf_engine::placement::Topology;
use ipcperf_model::environment::Cpus;

use super::read::{KeyValues, count_cpus, count_distinct, read_flag, read_line};

/// CPU features that affect clocks, copying, waiting and virtual machines.
const FEATURES: [&str; 24] = [
    "atomics",
    "avx2",
    "avx512f",
    "constant_tsc",
    "ecv",
    "erms",
    "evtstrm",
    "fsrm",
    "hypervisor",
    "invpcid",
    "lrcpc",
    "monitor",
    "mops",
    "movdir64b",
    "nonstop_tsc",
    "pcid",
    "rdtscp",
    "rtm",
    "sve",
    "sve2",
    "tsc_known_freq",
    "tsc_reliable",
    "waitpkg",
    "wfxt",
];

/// Reads the CPUs.
pub(super) fn read() -> Cpus {
    let cpu = KeyValues::from_first_section("/proc/cpuinfo");
    let text = |key: &str| cpu.value(key).map(str::to_owned);
    let caches = caches();
    let size = |level: u64, kind: CacheKind| {
        caches.iter().find(|cache| cache.level == level && cache.kind == kind)?.bytes
    };
    let numbers = cpu_numbers();
    let topology = |name: &str| {
        count_distinct(numbers.iter().map(|cpu| format!("{CPUS}/cpu{cpu}/topology/{name}")))
    };
    let last = caches.iter().max_by_key(|cache| cache.level);
    let online = read_line(format!("{CPUS}/online"));
    Cpus {
        cpu_model: text("model name").or_else(|| arm_model(&cpu)),
        cpu_vendor: text("vendor_id").or_else(|| text("CPU implementer")),
        cpu_signature: signature(&cpu),
        cpu_microcode: text("microcode"),
        cpu_flags: text("flags").or_else(|| text("Features")).map(|flags| features(&flags)),
        allowed_cpus: Topology::read().ok().map(|topology| topology.allowed()),
        cpu_sockets: topology("core_siblings_list"),
        cpu_cores: topology("thread_siblings_list"),
        cpu_threads: online.as_deref().and_then(count_cpus),
        online_cpus: online,
        possible_cpus: read_line(format!("{CPUS}/possible")),
        smt_active: read_flag(format!("{CPUS}/smt/active")),
        smt_control: read_line(format!("{CPUS}/smt/control")),
        numa_nodes: read_line("/sys/devices/system/node/online").and_then(|list| count_cpus(&list)),
        cache_l1d_bytes: size(1, CacheKind::Data),
        cache_l1i_bytes: size(1, CacheKind::Instruction),
        cache_l2_bytes: size(2, CacheKind::Unified),
        cache_l3_bytes: size(3, CacheKind::Unified),
        cache_line_bytes: last.and_then(|cache| cache.line_bytes),
        last_level_cache_cpus: last.and_then(|cache| cache.cpus.clone()),
    }
}

const CPUS: &str = "/sys/devices/system/cpu";

/// Returns the CPUs that have a folder, in no order.
fn cpu_numbers() -> Vec<u64> {
    let entries = fs::read_dir(CPUS).into_iter().flatten().flatten();
    let numbers =
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix("cpu")?.parse().ok());
    numbers.collect()
}

/// Identifies an Arm CPU by numbers, because Linux has no names for them.
fn arm_model(cpu: &KeyValues) -> Option<String> {
    let (part, implementer) = (cpu.value("CPU part")?, cpu.value("CPU implementer")?);
    Some(format!("CPU part {part} of implementer {implementer}"))
}

fn signature(cpu: &KeyValues) -> Option<String> {
    if let (Some(architecture), Some(part)) = (cpu.value("CPU architecture"), cpu.value("CPU part"))
    {
        let variant = cpu.value("CPU variant")?.trim_start_matches("0x");
        return Some(format!("{architecture}/{part}/r{variant}p{}", cpu.value("CPU revision")?));
    }
    let (family, model) = (cpu.value("cpu family")?, cpu.value("model")?);
    Some(format!("{family}/{model}/{}", cpu.value("stepping")?))
}

fn features(flags: &str) -> Vec<String> {
    let has = |name: &&&str| flags.split(' ').any(|flag| flag == **name);
    FEATURES.iter().filter(has).map(|name| (*name).to_owned()).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CacheKind {
    Data,
    Instruction,
    Unified,
}

/// Cache of the first CPU.
struct Cache {
    level: u64,
    kind: CacheKind,
    bytes: Option<u64>,
    line_bytes: Option<u64>,
    cpus: Option<String>,
}

fn caches() -> Vec<Cache> {
    (0..8).map_while(|index| cache(&format!("{CPUS}/cpu0/cache/index{index}"))).collect()
}

fn cache(folder: &str) -> Option<Cache> {
    let file = |name: &str| read_line(format!("{folder}/{name}"));
    let kind = match file("type")?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        _ => CacheKind::Unified,
    };
    Some(Cache {
        level: file("level")?.parse().ok()?,
        kind,
        bytes: file("size").and_then(|size| cache_bytes(&size)),
        line_bytes: file("coherency_line_size").and_then(|bytes| bytes.parse().ok()),
        cpus: file("shared_cpu_list"),
    })
}

/// Parses a size such as `48K` into bytes.
fn cache_bytes(size: &str) -> Option<u64> {
    size.strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_that_matter_are_kept_and_no_other() {
        assert_eq!(features("fpu nonstop_tsc vme erms"), ["erms", "nonstop_tsc"]);
        assert_eq!(features("fp asimd evtstrm atomics"), ["atomics", "evtstrm"]);
        assert_eq!(features("avx2x"), [""; 0]);
    }

    fn cpuinfo(text: &str) -> KeyValues {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        KeyValues::from_first_section(file.path().to_str().unwrap())
    }

    #[test]
    fn a_cpu_without_a_name_is_told_by_its_number() {
        let arm = cpuinfo(
            "Features\t: fp atomics\nCPU implementer\t: 0x41\nCPU architecture: 8\n\
             CPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n",
        );
        assert_eq!(arm_model(&arm).as_deref(), Some("CPU part 0xd0c of implementer 0x41"));
        assert_eq!(signature(&arm).as_deref(), Some("8/0xd0c/r3p1"));
        let other = cpuinfo("cpu family\t: 6\nmodel\t\t: 143\nstepping\t: 8\n");
        assert_eq!((arm_model(&other), signature(&other).as_deref()), (None, Some("6/143/8")));
    }

    #[test]
    fn sizes_of_caches_are_in_kib() {
        assert_eq!(cache_bytes("48K"), Some(49_152));
        assert_eq!(cache_bytes("48"), None);
    }
}
