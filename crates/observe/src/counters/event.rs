//! Resolves an event name to what the kernel is asked to count.

mod device;
mod generic;
mod lookup;

use std::path::Path;
use std::sync::OnceLock;

use device::Device;
use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{Known, Space};
use perf_event_open_sys::bindings;

use super::aliases::Core;

/// Event as passed to the kernel: the fields of `perf_event_attr` with the same names (`kind` is `type`).
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

    /// Whether the event is CPU time, which the kernel counts whether the thread is in the program or in the kernel.
    pub(crate) fn is_clock(self) -> bool {
        self.is_software(&[bindings::PERF_COUNT_SW_TASK_CLOCK, bindings::PERF_COUNT_SW_CPU_CLOCK])
    }

    /// Whether the event occurs only in the kernel, so that a user who may not count there cannot count it.
    pub(super) fn is_switch(self) -> bool {
        self.is_software(&[
            bindings::PERF_COUNT_SW_CONTEXT_SWITCHES,
            bindings::PERF_COUNT_SW_CPU_MIGRATIONS,
            bindings::PERF_COUNT_SW_CGROUP_SWITCHES,
        ])
    }

    /// Returns the processor's event number, if the event was given as a raw number.
    pub(super) fn raw(self) -> Option<u64> {
        (self.kind == bindings::PERF_TYPE_RAW).then_some(self.config)
    }
}

/// A resolved event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Event name without its suffix for spaces (`:u`, `:k`, `:uk`).
    pub(super) name: String,
    pub(crate) code: Code,
    /// Spaces in which it is counted, with one counter each.
    pub(super) spaces: Vec<Space>,
}

impl Event {
    /// Returns the event name that requests it in `space` only.
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

/// Reason why an event name cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// The name is not an event on any machine.
    NoEvent(Unavailable),
    /// The event exists, but not on this machine.
    Absent(Unavailable),
}

impl Failed {
    /// Returns the reason.
    pub(crate) fn why(self) -> Unavailable {
        match self {
            Self::NoEvent(why) | Self::Absent(why) => why,
        }
    }
}

/// Cores and event sources of a machine, which determine the meaning of event names.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(super) core: Core,
    devices: Vec<Device>,
}

impl Machine {
    /// Returns this machine.
    pub(crate) fn here() -> &'static Self {
        static HERE: OnceLock<Machine> = OnceLock::new();
        HERE.get_or_init(|| Self {
            core: Core::here(),
            devices: device::all(Path::new("/sys/bus/event_source/devices")),
        })
    }

    /// Returns every event name with its description, including events that are unavailable.
    pub(super) fn known(&self) -> impl Iterator<Item = Known> {
        lookup::known(self)
    }

    /// Returns the kernel's names of the processor's PMUs.
    pub(super) fn pmus(&self) -> Vec<String> {
        self.devices.iter().filter(|one| one.is_core).map(|one| one.name.clone()).collect()
    }

    /// Whether the processor reports that it does not implement its event `number`. Only Arm's common events are
    /// reported.
    pub(super) fn lacks(&self, number: u64) -> bool {
        let known = |device: &&Device| device.is_core && device.name.starts_with("armv");
        let mut devices = self.devices.iter().filter(known).peekable();
        self.core == Core::Armv8
            && number < COMMON_ARM
            && devices.peek().is_some()
            && devices.all(|device| !device.has_number(number))
    }

    /// Whether the processor may accept its event `number` and silently count nothing.
    pub(super) fn may_count_nothing(&self, number: u64) -> bool {
        self.core == Core::Armv8 && number >= COMMON_ARM
    }

    /// Returns the event called `word`.
    ///
    /// # Errors
    /// The name is not an event, with suggestions; or this machine does not have the event, with the reason.
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

    /// Resolves a name that is not an alias.
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

/// First of Arm's event numbers whose implementation a processor need not report.
const COMMON_ARM: u64 = 0x40;

/// Splits `word` into the event name and the spaces to count in.
fn spaces_of(word: &str) -> Result<(&str, Option<Vec<Space>>), Unavailable> {
    // Terms between slashes may contain colons.
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
