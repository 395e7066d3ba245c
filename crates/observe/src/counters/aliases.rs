//! Event names used by vendors and publications, and the event that counts them on this core: one file per
//! architecture, one line per name.

mod amd;
mod arm;
mod intel;

use std::fs;

/// An event name and its meaning on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) name: &'static str,
    /// Event to count, which is not an alias itself; `None` if this core has no such event.
    pub(super) word: Option<&'static str>,
    /// The vendor's description of the event, or why there is none.
    pub(super) of: &'static str,
}

/// A line of a table: name, event, the vendor's description.
const fn line(name: &'static str, word: &'static str, of: &'static str) -> Line {
    Line { name, word: Some(word), of }
}

/// A name without an event: name, reason.
const fn none(name: &'static str, why: &'static str) -> Line {
    Line { name, word: None, of: why }
}

/// Families of cores that share event numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Core {
    Armv8,
    IntelSkylake,
    IntelIceLake,
    IntelGoldenCove,
    AmdZen1,
    AmdZen2,
    AmdZen3,
    /// A core in none of the tables: only the kernel's own event mapping is used.
    Unknown,
}

impl Core {
    /// Returns the core of this machine.
    pub(super) fn here() -> Self {
        if cfg!(target_arch = "aarch64") {
            return Self::Armv8;
        }
        Self::of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// Returns the core of the first processor in the `cpuinfo` of an x86.
    fn of(cpuinfo: &str) -> Self {
        let value = |key: &str| {
            cpuinfo.lines().find_map(|line| {
                let (found, value) = line.split_once(':')?;
                (found.trim() == key).then(|| value.trim())
            })
        };
        let number = |key| value(key).and_then(|value| value.parse::<u32>().ok());
        let (family, model) = (number("cpu family").unwrap_or(0), number("model").unwrap_or(0));
        match value("vendor_id") {
            Some("GenuineIntel") if family == 6 => intel::core(model),
            Some("AuthenticAMD" | "HygonGenuine") => amd::core(family, model),
            _ => Self::Unknown,
        }
    }

    /// Returns the name of the core family.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Armv8 => "Armv8",
            Self::IntelSkylake => "Intel Skylake or Cascade Lake",
            Self::IntelIceLake => "Intel Ice Lake or Tiger Lake",
            Self::IntelGoldenCove => "Intel Alder Lake, Sapphire Rapids or later",
            Self::AmdZen1 => "AMD Zen",
            Self::AmdZen2 => "AMD Zen 2",
            Self::AmdZen3 => "AMD Zen 3 or later",
            Self::Unknown => "not in the tables",
        }
    }

    /// Returns the lines of its table.
    pub(super) fn lines(self) -> impl Iterator<Item = &'static Line> + Clone {
        let [one, other] = match self {
            Self::Armv8 => [arm::COMMON, arm::RECOMMENDED],
            Self::IntelSkylake => [intel::COMMON, intel::SKYLAKE],
            Self::IntelIceLake => [intel::COMMON, intel::ICE_LAKE],
            Self::IntelGoldenCove => [intel::COMMON, intel::GOLDEN_COVE],
            Self::AmdZen1 => [amd::COMMON, amd::ZEN1],
            Self::AmdZen2 => [amd::COMMON, amd::ZEN2],
            Self::AmdZen3 => [amd::COMMON, amd::ZEN3],
            Self::Unknown => [UNKNOWN, &[]],
        };
        one.iter().chain(other)
    }

    /// Returns the line of `name`.
    pub(super) fn line(self, name: &str) -> Option<&'static Line> {
        self.lines().find(|line| line.name.eq_ignore_ascii_case(name))
    }
}

/// Table for unknown cores: only events that the kernel maps itself.
const UNKNOWN: &[Line] = &[
    line("INSTR_EXECUTED", "instructions", "the kernel's choice"),
    line("INST_RETIRED", "instructions", "the kernel's choice"),
    line("CLOCK_CYCLES", "cycles", "the kernel's choice"),
    line("CPU_CYCLES", "cycles", "the kernel's choice"),
    line("MEM_READ", "L1-dcache-loads", "the kernel's choice"),
    line("MEM_WRITE", "L1-dcache-stores", "the kernel's choice"),
    line("L1_DCACHE_ACCESS", "L1-dcache-loads", "the kernel's choice: loads alone"),
    line("L1_DCACHE_REFILL", "L1-dcache-load-misses", "the kernel's choice: loads alone"),
    line("L1D_CACHE", "L1-dcache-loads", "the kernel's choice: loads alone"),
    line("L1D_CACHE_REFILL", "L1-dcache-load-misses", "the kernel's choice: loads alone"),
    line("L1_ICACHE_REFILL", "L1-icache-load-misses", "the kernel's choice"),
    line("L1I_CACHE", "L1-icache-loads", "the kernel's choice"),
    line("L1I_CACHE_REFILL", "L1-icache-load-misses", "the kernel's choice"),
    line("ITLB_REFILL", "iTLB-load-misses", "the kernel's choice"),
    line("DTLB_REFILL", "dTLB-load-misses", "the kernel's choice"),
    line("L1I_TLB_REFILL", "iTLB-load-misses", "the kernel's choice"),
    line("L1D_TLB_REFILL", "dTLB-load-misses", "the kernel's choice"),
    line("BR_MIS_PRED", "branch-misses", "the kernel's choice"),
    line("BR_PRED", "branches", "the kernel's choice"),
    line("BUS_ACCESS", "node-loads", "the kernel's choice"),
    line("LD_SPEC", "L1-dcache-loads", "the kernel's choice"),
    line("ST_SPEC", "L1-dcache-stores", "the kernel's choice"),
    none("MEM_ACCESS", NOT_KNOWN),
    none("L2_ACCESS", NOT_KNOWN),
    none("L2_CACHE_MISS", NOT_KNOWN),
    none("L2D_CACHE", NOT_KNOWN),
    none("L2D_CACHE_REFILL", NOT_KNOWN),
    none("AXI_READ", NOT_KNOWN),
    none("AXI_WRITE", NOT_KNOWN),
    none("EXC_RETURN", NOT_KNOWN),
    none("BR_RETURN_SPEC", NOT_KNOWN),
];

const NOT_KNOWN: &str = "which number it has on this core is in no table";

/// All cores with a table.
#[cfg(test)]
pub(super) const CORES: [Core; 8] = [
    Core::Armv8,
    Core::IntelSkylake,
    Core::IntelIceLake,
    Core::IntelGoldenCove,
    Core::AmdZen1,
    Core::AmdZen2,
    Core::AmdZen3,
    Core::Unknown,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::SETS;

    #[test]
    fn a_name_occurs_once_and_says_what_it_is() {
        for core in CORES {
            let lines: Vec<_> = core.lines().collect();
            for (index, line) in lines.iter().enumerate() {
                assert!(!line.of.is_empty(), "{core:?} {}", line.name);
                assert!(lines[..index].iter().all(|other| other.name != line.name), "{line:?}");
            }
        }
    }

    #[test]
    fn every_core_has_a_line_for_each_event_of_the_documents() {
        for core in CORES {
            for name in SETS.iter().flat_map(|set| set.events) {
                assert!(core.line(name).is_some(), "{core:?} {name}");
            }
        }
    }

    #[test]
    fn a_core_is_known_by_its_family_and_model() {
        let of = |vendor: &str, family: u32, model: u32| {
            Core::of(&format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
                 model name\t: Some CPU\n"
            ))
        };
        assert_eq!(of("GenuineIntel", 6, 0x55), Core::IntelSkylake);
        assert_eq!(of("GenuineIntel", 6, 0x6a), Core::IntelIceLake);
        assert_eq!(of("GenuineIntel", 6, 0x8f), Core::IntelGoldenCove);
        assert_eq!(of("GenuineIntel", 6, 0x3f), Core::Unknown);
        assert_eq!(of("AuthenticAMD", 0x17, 0x08), Core::AmdZen1);
        assert_eq!(of("AuthenticAMD", 0x17, 0x31), Core::AmdZen2);
        assert_eq!(of("AuthenticAMD", 0x1a, 0x02), Core::AmdZen3);
        assert_eq!(Core::of(""), Core::Unknown);
    }
}
