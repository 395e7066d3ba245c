//! What a word asks the kernel to count.

mod device;
mod generic;
mod lookup;

use std::path::Path;
use std::sync::OnceLock;

use device::Device;
use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{Known, Space};
use perf_event_open_sys::bindings;

use crate::counters::aliases::Core;

/// An event as the kernel is asked for it: the fields of its `perf_event_attr` of the same names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) config1: u64,
    pub(crate) config2: u64,
}

impl Code {
    const fn of(kind: u32, config: u64) -> Self {
        Self { kind, config, config1: 0, config2: 0 }
    }

    fn is_software(self, which: &[u32]) -> bool {
        let wanted = which.iter().any(|&one| u64::from(one) == self.config);
        self.kind == bindings::PERF_TYPE_SOFTWARE && wanted
    }

    /// Whether it is time on a CPU, which the kernel counts wherever the thread is.
    pub(crate) fn is_clock(self) -> bool {
        self.is_software(&[bindings::PERF_COUNT_SW_TASK_CLOCK, bindings::PERF_COUNT_SW_CPU_CLOCK])
    }

    /// Whether it is of the kernel alone, and is not had by who may not count there.
    pub(super) fn is_switch(self) -> bool {
        self.is_software(&[
            bindings::PERF_COUNT_SW_CONTEXT_SWITCHES,
            bindings::PERF_COUNT_SW_CPU_MIGRATIONS,
            bindings::PERF_COUNT_SW_CGROUP_SWITCHES,
        ])
    }

    /// The number by which the processor knows it, where it was given as that.
    pub(super) fn raw(self) -> Option<u64> {
        (self.kind == bindings::PERF_TYPE_RAW).then_some(self.config)
    }
}

/// What a word asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The word, without what it says of spaces.
    pub(super) name: String,
    pub(crate) code: Code,
    /// Where it is to be counted: one counter for each.
    pub(super) spaces: Vec<Space>,
}

impl Event {
    /// The word that asks for it in `space` alone.
    pub(super) fn word(&self, space: Space) -> String {
        let is_anywhere = self.code.is_clock() || self.code.is_switch();
        match space {
            Space::User => format!("{}:u", self.name),
            Space::Kernel => format!("{}:k", self.name),
            Space::Both if is_anywhere => self.name.clone(),
            Space::Both => format!("{}:uk", self.name),
        }
    }
}

/// Why a word asks for nothing that can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// It is no event, on any machine.
    NoEvent(Unavailable),
    /// It is none here.
    Absent(Unavailable),
}

impl Failed {
    /// Why.
    pub(crate) fn why(self) -> Unavailable {
        match self {
            Self::NoEvent(why) | Self::Absent(why) => why,
        }
    }
}

/// What words mean on a machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(super) core: Core,
    devices: Vec<Device>,
}

impl Machine {
    /// This one.
    pub(crate) fn here() -> &'static Self {
        static HERE: OnceLock<Machine> = OnceLock::new();
        HERE.get_or_init(|| Self {
            core: Core::here(),
            devices: device::all(Path::new("/sys/bus/event_source/devices")),
        })
    }

    /// Every word for an event, and what it is: not all of them can be had.
    pub(super) fn known(&self) -> impl Iterator<Item = Known> {
        lookup::known(self)
    }

    /// The processor's counters, as the kernel names them.
    pub(super) fn pmus(&self) -> Vec<String> {
        self.devices.iter().filter(|one| one.is_core).map(|one| one.name.clone()).collect()
    }

    /// Whether the processor says that it does not count its event `number`; of few it says anything.
    pub(super) fn lacks(&self, number: u64) -> bool {
        let known = |device: &&Device| device.is_core && device.name.starts_with("armv");
        let mut devices = self.devices.iter().filter(known).peekable();
        self.core == Core::Armv8
            && number < COMMON_ARM
            && devices.peek().is_some()
            && devices.all(|device| !device.has_number(number))
    }

    /// Whether the processor may count nothing of its event `number` and not say so.
    pub(super) fn may_count_nothing(&self, number: u64) -> bool {
        self.core == Core::Armv8 && number >= COMMON_ARM
    }

    /// The event that `word` asks for.
    ///
    /// # Errors
    /// That it is none, and what is near; or that this machine has no such event, and why.
    pub(crate) fn event(&self, word: &str) -> Result<Event, Failed> {
        let (name, asked) = spaces_of(word).map_err(Failed::NoEvent)?;
        let code = self.code(name)?;
        let is_anywhere = code.is_clock() || code.is_switch();
        let spaces = match asked {
            Some(spaces) if is_anywhere && spaces != [Space::Both] => {
                return Err(Failed::NoEvent(apart(name)));
            }
            _ if is_anywhere => vec![Space::Both],
            Some(spaces) => spaces,
            None => vec![Space::User, Space::Kernel],
        };
        Ok(Event { name: name.to_owned(), code, spaces })
    }

    fn code(&self, name: &str) -> Result<Code, Failed> {
        if let Some(line) = self.core.line(name) {
            let why = || Unavailable {
                reason: format!("{name}: {}", line.of),
                remedy: format!("ask for another event; this core is {}", self.core.name()),
            };
            let absent = || Failed::Absent(why());
            return self.plain_code(line.word.ok_or_else(absent)?);
        }
        self.plain_code(name)
    }

    /// Of a word that is in no table.
    fn plain_code(&self, name: &str) -> Result<Code, Failed> {
        if let Some((device, terms)) = name.strip_suffix('/').and_then(|name| name.split_once('/'))
        {
            let device = self.device(device).map_err(Failed::Absent)?;
            return device.code(terms, name).map_err(Failed::NoEvent);
        }
        let raw = || name.strip_prefix('r').and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let known = generic::code(name)
            .or_else(|| raw().map(|config| Code::of(bindings::PERF_TYPE_RAW, config)));
        if let Some(code) = known {
            return Ok(code);
        }
        let device = self.devices.iter().find(|device| device.event(name).is_some());
        let code = device
            .map_or_else(|| Err(lookup::no_word(name, self)), |device| device.code(name, name));
        code.map_err(Failed::NoEvent)
    }

    fn device(&self, name: &str) -> Result<&Device, Unavailable> {
        let known = || self.devices.iter().map(|device| device.name.as_str());
        self.devices.iter().find(|device| device.name == name).ok_or_else(|| Unavailable {
            reason: format!("the kernel has no source of events called {name} here"),
            remedy: format!("it has {}", known().collect::<Vec<_>>().join(", ")),
        })
    }
}

/// The first number of Arm's that a processor need not tell of.
const COMMON_ARM: u64 = 0x40;

/// What of `word` is the event, and where it is to be counted.
fn spaces_of(word: &str) -> Result<(&str, Option<Vec<Space>>), Unavailable> {
    // Names may have colons in slashes.
    let (name, letters) = match word.rsplit_once('/') {
        Some((name, letters)) if !letters.is_empty() => {
            (&word[..=name.len()], letters.trim_start_matches(':'))
        }
        Some(_) => return Ok((word, None)),
        None => match word.split_once(':') {
            Some(both) => both,
            None => return Ok((word, None)),
        },
    };
    let spaces = match letters {
        "u" => vec![Space::User],
        "k" => vec![Space::Kernel],
        "uk" | "ku" => vec![Space::Both],
        _ => {
            return Err(Unavailable {
                reason: format!("{letters} in {word} says nothing about where to count"),
                remedy: "write :u for the program, :k for the kernel, :uk for both in one"
                    .to_owned(),
            });
        }
    };
    Ok((name, Some(spaces)))
}

fn apart(name: &str) -> Unavailable {
    Unavailable {
        reason: format!("{name} is not counted in program and kernel apart"),
        remedy: format!("ask for {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(core: Core) -> Machine {
        Machine { core, devices: Vec::new() }
    }

    #[test]
    fn what_a_name_stands_for_is_the_cores() {
        let code = |core, word| machine(core).event(word).unwrap().code;
        assert_eq!(code(Core::Armv8, "MEM_READ"), Code::of(bindings::PERF_TYPE_RAW, 0x66));
        let loads = Code::of(bindings::PERF_TYPE_RAW, 0x81d0);
        assert_eq!(code(Core::IntelGoldenCove, "MEM_READ"), loads);
        let cycles =
            Code::of(bindings::PERF_TYPE_HARDWARE, bindings::PERF_COUNT_HW_CPU_CYCLES.into());
        assert_eq!(code(Core::AmdZen3, "CLOCK_CYCLES"), cycles);
        assert_eq!(code(Core::Unknown, "cycles"), cycles);
        let nothing = machine(Core::AmdZen2).event("AXI_WRITE").unwrap_err();
        let Failed::Absent(why) = &nothing else { panic!("{nothing:?}") };
        assert!(why.reason.contains("for all cores together"), "{why}");
    }

    #[test]
    fn every_line_of_every_table_means_something() {
        for core in crate::counters::aliases::CORES {
            for line in core.lines().filter(|line| line.word.is_some()) {
                assert!(machine(core).event(line.name).is_ok(), "{core:?} {line:?}");
            }
        }
    }

    #[test]
    fn what_is_counted_by_default_is_a_word_on_every_core() {
        for core in crate::counters::aliases::CORES {
            for word in super::super::perf::DEFAULT {
                let event = machine(core).event(word);
                assert!(!matches!(event, Err(Failed::NoEvent(_))), "{core:?} {event:?}");
            }
        }
    }

    #[test]
    fn a_letter_says_where() {
        let spaces =
            |word| machine(Core::Unknown).event(word).map(|event| (event.name, event.spaces));
        let named = |name: &str, spaces: &[Space]| Ok((name.to_owned(), spaces.to_vec()));
        assert_eq!(spaces("cycles"), named("cycles", &[Space::User, Space::Kernel]));
        assert_eq!(spaces("cycles:u"), named("cycles", &[Space::User]));
        assert_eq!(spaces("r1a:k"), named("r1a", &[Space::Kernel]));
        assert_eq!(spaces("cycles:uk"), named("cycles", &[Space::Both]));
        assert_eq!(spaces("task-clock"), named("task-clock", &[Space::Both]));
        assert_eq!(spaces("context-switches:uk"), named("context-switches", &[Space::Both]));
        assert!(spaces("task-clock:u").unwrap_err().why().reason.contains("apart"));
        assert!(spaces("cycles:x").unwrap_err().why().remedy.contains(":uk"));
    }

    #[test]
    fn the_word_of_a_space_asks_for_it() {
        for word in ["cycles:u", "cycles:k", "cycles:uk", "task-clock", "cpu-migrations"] {
            let event = machine(Core::Unknown).event(word).unwrap();
            assert_eq!(event.word(event.spaces[0]), word);
        }
    }
}
