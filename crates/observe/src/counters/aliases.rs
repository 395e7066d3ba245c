//! Event names used by vendors and publications, and the event that counts them on this core: one file per
//! architecture, one line per name.

mod amd;
mod arm;
mod intel;

use std::fs;

/// An event name and its meaning on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventAlias {
    pub(super) name: &'static str,
    /// Event to count, which is not an alias itself; `None` if this core has no such event.
    pub(super) event: Option<&'static str>,
    /// The vendor's description of the event, or why there is none.
    pub(super) description: &'static str,
}

/// A line of a table: name, event, the vendor's description.
const fn alias(name: &'static str, event: &'static str, description: &'static str) -> EventAlias {
    EventAlias { name, event: Some(event), description }
}

/// A name without an event: name, reason.
const fn no_event(name: &'static str, why: &'static str) -> EventAlias {
    EventAlias { name, event: None, description: why }
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
    pub(super) fn detect() -> Self {
        if cfg!(target_arch = "aarch64") {
            return Self::Armv8;
        }
        Self::from_cpuinfo(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// Returns the core of the first processor in the `cpuinfo` of an x86.
    fn from_cpuinfo(cpuinfo: &str) -> Self {
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
            Self::Unknown => "unknown",
        }
    }

    /// Returns the lines of its table.
    pub(super) fn aliases(self) -> impl Iterator<Item = &'static EventAlias> + Clone {
        let [common, specific] = match self {
            Self::Armv8 => [arm::COMMON, arm::RECOMMENDED],
            Self::IntelSkylake => [intel::COMMON, intel::SKYLAKE],
            Self::IntelIceLake => [intel::COMMON, intel::ICE_LAKE],
            Self::IntelGoldenCove => [intel::COMMON, intel::GOLDEN_COVE],
            Self::AmdZen1 => [amd::COMMON, amd::ZEN1],
            Self::AmdZen2 => [amd::COMMON, amd::ZEN2],
            Self::AmdZen3 => [amd::COMMON, amd::ZEN3],
            Self::Unknown => [UNKNOWN_CORE, &[]],
        };
        common.iter().chain(specific)
    }

    /// Returns the line of `name`.
    pub(super) fn alias(self, name: &str) -> Option<&'static EventAlias> {
        self.aliases().find(|line| line.name.eq_ignore_ascii_case(name))
    }
}

/// Table for unknown cores: only events that the kernel maps itself.
const UNKNOWN_CORE: &[EventAlias] = &[
    alias("INSTR_EXECUTED", "instructions", "the kernel's generic event"),
    alias("INST_RETIRED", "instructions", "the kernel's generic event"),
    alias("CLOCK_CYCLES", "cycles", "the kernel's generic event"),
    alias("CPU_CYCLES", "cycles", "the kernel's generic event"),
    alias("MEM_READ", "L1-dcache-loads", "the kernel's generic event"),
    alias("MEM_WRITE", "L1-dcache-stores", "the kernel's generic event"),
    alias("L1_DCACHE_ACCESS", "L1-dcache-loads", "the kernel's generic event: loads only"),
    alias("L1_DCACHE_REFILL", "L1-dcache-load-misses", "the kernel's generic event: loads only"),
    alias("L1D_CACHE", "L1-dcache-loads", "the kernel's generic event: loads only"),
    alias("L1D_CACHE_REFILL", "L1-dcache-load-misses", "the kernel's generic event: loads only"),
    alias("L1_ICACHE_REFILL", "L1-icache-load-misses", "the kernel's generic event"),
    alias("L1I_CACHE", "L1-icache-loads", "the kernel's generic event"),
    alias("L1I_CACHE_REFILL", "L1-icache-load-misses", "the kernel's generic event"),
    alias("ITLB_REFILL", "iTLB-load-misses", "the kernel's generic event"),
    alias("DTLB_REFILL", "dTLB-load-misses", "the kernel's generic event"),
    alias("L1I_TLB_REFILL", "iTLB-load-misses", "the kernel's generic event"),
    alias("L1D_TLB_REFILL", "dTLB-load-misses", "the kernel's generic event"),
    alias("BR_MIS_PRED", "branch-misses", "the kernel's generic event"),
    alias("BR_PRED", "branches", "the kernel's generic event"),
    alias("BUS_ACCESS", "node-loads", "the kernel's generic event"),
    alias("LD_SPEC", "L1-dcache-loads", "the kernel's generic event"),
    alias("ST_SPEC", "L1-dcache-stores", "the kernel's generic event"),
    no_event("MEM_ACCESS", UNKNOWN_NUMBER),
    no_event("L2_ACCESS", UNKNOWN_NUMBER),
    no_event("L2_CACHE_MISS", UNKNOWN_NUMBER),
    no_event("L2D_CACHE", UNKNOWN_NUMBER),
    no_event("L2D_CACHE_REFILL", UNKNOWN_NUMBER),
    no_event("AXI_READ", UNKNOWN_NUMBER),
    no_event("AXI_WRITE", UNKNOWN_NUMBER),
    no_event("EXC_RETURN", UNKNOWN_NUMBER),
    no_event("BR_RETURN_SPEC", UNKNOWN_NUMBER),
];

const UNKNOWN_NUMBER: &str = "its event number on this core is unknown";

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
    use crate::counters::EVENT_SETS;

    #[test]
    fn a_name_occurs_once_and_says_what_it_is() {
        for core in CORES {
            let lines: Vec<_> = core.aliases().collect();
            for (index, line) in lines.iter().enumerate() {
                assert!(!line.description.is_empty(), "{core:?} {}", line.name);
                assert!(lines[..index].iter().all(|other| other.name != line.name), "{line:?}");
            }
        }
    }

    #[test]
    fn every_core_has_a_line_for_each_event_of_the_documents() {
        for core in CORES {
            for name in EVENT_SETS.iter().flat_map(|set| set.events) {
                assert!(core.alias(name).is_some(), "{core:?} {name}");
            }
        }
    }

    #[test]
    fn a_core_is_known_by_its_family_and_model() {
        let core = |vendor: &str, family: u32, model: u32| {
            Core::from_cpuinfo(&format!(
                "processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n\
                 model name\t: Some CPU\n"
            ))
        };
        assert_eq!(core("GenuineIntel", 6, 0x55), Core::IntelSkylake);
        assert_eq!(core("GenuineIntel", 6, 0x6a), Core::IntelIceLake);
        assert_eq!(core("GenuineIntel", 6, 0x8f), Core::IntelGoldenCove);
        assert_eq!(core("GenuineIntel", 6, 0x3f), Core::Unknown);
        assert_eq!(core("AuthenticAMD", 0x17, 0x08), Core::AmdZen1);
        assert_eq!(core("AuthenticAMD", 0x17, 0x31), Core::AmdZen2);
        assert_eq!(core("AuthenticAMD", 0x1a, 0x02), Core::AmdZen3);
        assert_eq!(Core::from_cpuinfo(""), Core::Unknown);
    }
}
