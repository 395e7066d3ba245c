//! Resolves an event name to what the kernel is asked to count.

mod device;
mod generic;
mod lookup;

use std::path::Path;
use std::sync::OnceLock;

use device::Device;
use ipcperf_model::Unavailable;
use ipcperf_model::instrument::counters::{KnownEvent, PrivilegeLevel};
use perf_event_open_sys::bindings;

use super::aliases::Core;

/// Event as passed to the kernel: the fields of `perf_event_attr` with the same names (`kind` is `type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventCode {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) config1: u64,
    pub(crate) config2: u64,
}

impl EventCode {
    const fn new(kind: u32, config: u64) -> Self {
        Self { kind, config, config1: 0, config2: 0 }
    }

    fn is_software(self, which: &[u32]) -> bool {
        let wanted = which.iter().any(|&one| u64::from(one) == self.config);
        self.kind == bindings::PERF_TYPE_SOFTWARE && wanted
    }

    /// Whether the event is CPU time, which the kernel counts whether the thread is in the program or in the kernel.
    pub(crate) fn is_cpu_time(self) -> bool {
        self.is_software(&[bindings::PERF_COUNT_SW_TASK_CLOCK, bindings::PERF_COUNT_SW_CPU_CLOCK])
    }

    /// Whether the event occurs only in the kernel, so that a user who may not count there cannot count it.
    pub(super) fn is_kernel_only(self) -> bool {
        self.is_software(&[
            bindings::PERF_COUNT_SW_CONTEXT_SWITCHES,
            bindings::PERF_COUNT_SW_CPU_MIGRATIONS,
            bindings::PERF_COUNT_SW_CGROUP_SWITCHES,
        ])
    }

    /// Returns the processor's event number, if the event was given as a raw number.
    pub(super) fn raw_number(self) -> Option<u64> {
        (self.kind == bindings::PERF_TYPE_RAW).then_some(self.config)
    }
}

/// A resolved event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Event name without its suffix for spaces (`:u`, `:k`, `:uk`).
    pub(super) name: String,
    pub(crate) code: EventCode,
    /// Spaces in which it is counted, with one counter each.
    pub(super) spaces: Vec<PrivilegeLevel>,
}

impl Event {
    /// Returns the event name that requests it in `space` only.
    pub(super) fn name_with_modifier(&self, space: PrivilegeLevel) -> String {
        let is_anywhere = self.code.is_cpu_time() || self.code.is_kernel_only();
        match space {
            PrivilegeLevel::User => format!("{}:u", self.name),
            PrivilegeLevel::Kernel => format!("{}:k", self.name),
            PrivilegeLevel::Both if is_anywhere => self.name.clone(),
            PrivilegeLevel::Both => format!("{}:uk", self.name),
        }
    }
}

/// Reason why an event name cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EventError {
    /// The name is not an event on any machine.
    UnknownEvent(Unavailable),
    /// The event exists, but not on this machine.
    NotSupported(Unavailable),
}

impl EventError {
    /// Returns the reason.
    pub(crate) fn into_unavailable(self) -> Unavailable {
        match self {
            Self::UnknownEvent(why) | Self::NotSupported(why) => why,
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
    pub(crate) fn current() -> &'static Self {
        static CURRENT: OnceLock<Machine> = OnceLock::new();
        CURRENT.get_or_init(|| Self {
            core: Core::detect(),
            devices: device::read_all(Path::new("/sys/bus/event_source/devices")),
        })
    }

    /// Returns every event name with its description, including events that are unavailable.
    pub(super) fn known_events(&self) -> impl Iterator<Item = KnownEvent> {
        lookup::known_events(self)
    }

    /// Returns the kernel's names of the processor's PMUs.
    pub(super) fn pmus(&self) -> Vec<String> {
        self.devices.iter().filter(|one| one.is_core).map(|one| one.name.clone()).collect()
    }

    /// Whether the processor reports that it does not implement its event `number`. Only Arm's common events are
    /// reported.
    pub(super) fn is_unimplemented(&self, number: u64) -> bool {
        let is_arm_core = |device: &&Device| device.is_core && device.name.starts_with("armv");
        let mut devices = self.devices.iter().filter(is_arm_core).peekable();
        self.core == Core::Armv8
            && number < ARM_COMMON_EVENTS_END
            && devices.peek().is_some()
            && devices.all(|device| !device.has_number(number))
    }

    /// Whether the processor may accept its event `number` and silently count nothing.
    pub(super) fn may_count_nothing(&self, number: u64) -> bool {
        self.core == Core::Armv8 && number >= ARM_COMMON_EVENTS_END
    }

    /// Returns the event called `word`.
    ///
    /// # Errors
    /// The name is not an event, with suggestions; or this machine does not have the event, with the reason.
    pub(crate) fn resolve(&self, event: &str) -> Result<Event, EventError> {
        let (name, requested) = split_modifier(event).map_err(EventError::UnknownEvent)?;
        let code = self.resolve_alias(name)?;
        let is_anywhere = code.is_cpu_time() || code.is_kernel_only();
        let spaces = match requested {
            Some(spaces) if is_anywhere && spaces != [PrivilegeLevel::Both] => {
                return Err(EventError::UnknownEvent(not_separable(name)));
            }
            _ if is_anywhere => vec![PrivilegeLevel::Both],
            Some(spaces) => spaces,
            None => vec![PrivilegeLevel::User, PrivilegeLevel::Kernel],
        };
        Ok(Event { name: name.to_owned(), code, spaces })
    }

    fn resolve_alias(&self, name: &str) -> Result<EventCode, EventError> {
        if let Some(line) = self.core.alias(name) {
            let why = || Unavailable {
                reason: format!("{name}: {}", line.description),
                remedy: format!("use another event (core: {})", self.core.name()),
            };
            let absent = || EventError::NotSupported(why());
            return self.resolve_plain(line.event.ok_or_else(absent)?);
        }
        self.resolve_plain(name)
    }

    /// Resolves a name that is not an alias.
    fn resolve_plain(&self, name: &str) -> Result<EventCode, EventError> {
        if let Some((device, terms)) = name.strip_suffix('/').and_then(|name| name.split_once('/'))
        {
            let device = self.device(device).map_err(EventError::NotSupported)?;
            return device.code(terms, name).map_err(EventError::UnknownEvent);
        }
        let raw = || name.strip_prefix('r').and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let known = generic::code(name)
            .or_else(|| raw().map(|config| EventCode::new(bindings::PERF_TYPE_RAW, config)));
        if let Some(code) = known {
            return Ok(code);
        }
        let device = self.devices.iter().find(|device| device.event(name).is_some());
        let code = device.map_or_else(
            || Err(lookup::unknown_event(name, self)),
            |device| device.code(name, name),
        );
        code.map_err(EventError::UnknownEvent)
    }

    fn device(&self, name: &str) -> Result<&Device, Unavailable> {
        let known = || self.devices.iter().map(|device| device.name.as_str());
        self.devices.iter().find(|device| device.name == name).ok_or_else(|| Unavailable {
            reason: format!("there is no event source (PMU) `{name}` on this machine"),
            remedy: format!("available: {}", known().collect::<Vec<_>>().join(", ")),
        })
    }
}

/// First of Arm's event numbers whose implementation a processor need not report.
const ARM_COMMON_EVENTS_END: u64 = 0x40;

/// Splits `word` into the event name and the spaces to count in.
fn split_modifier(event: &str) -> Result<(&str, Option<Vec<PrivilegeLevel>>), Unavailable> {
    // Terms between slashes may contain colons.
    let (name, letters) = match event.rsplit_once('/') {
        Some((name, letters)) if !letters.is_empty() => {
            (&event[..=name.len()], letters.trim_start_matches(':'))
        }
        Some(_) => return Ok((event, None)),
        None => match event.split_once(':') {
            Some(both) => both,
            None => return Ok((event, None)),
        },
    };
    let spaces = match letters {
        "u" => vec![PrivilegeLevel::User],
        "k" => vec![PrivilegeLevel::Kernel],
        "uk" | "ku" => vec![PrivilegeLevel::Both],
        _ => {
            return Err(Unavailable {
                reason: format!("unknown modifier `{letters}` in {event}"),
                remedy: "use :u for user space, :k for the kernel, or :uk for both in one count"
                    .to_owned(),
            });
        }
    };
    Ok((name, Some(spaces)))
}

fn not_separable(name: &str) -> Unavailable {
    Unavailable {
        reason: format!("{name} cannot be counted separately in user space and in the kernel"),
        remedy: format!("use {name}"),
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
        let code = |core, word| machine(core).resolve(word).unwrap().code;
        assert_eq!(code(Core::Armv8, "MEM_READ"), EventCode::new(bindings::PERF_TYPE_RAW, 0x66));
        let loads = EventCode::new(bindings::PERF_TYPE_RAW, 0x81d0);
        assert_eq!(code(Core::IntelGoldenCove, "MEM_READ"), loads);
        let cycles =
            EventCode::new(bindings::PERF_TYPE_HARDWARE, bindings::PERF_COUNT_HW_CPU_CYCLES.into());
        assert_eq!(code(Core::AmdZen3, "CLOCK_CYCLES"), cycles);
        assert_eq!(code(Core::Unknown, "cycles"), cycles);
        let nothing = machine(Core::AmdZen2).resolve("AXI_WRITE").unwrap_err();
        let EventError::NotSupported(why) = &nothing else { panic!("{nothing:?}") };
        assert!(why.reason.contains("for all cores together"), "{why}");
    }

    #[test]
    fn every_line_of_every_table_means_something() {
        for core in crate::counters::aliases::CORES {
            for line in core.aliases().filter(|line| line.event.is_some()) {
                assert!(machine(core).resolve(line.name).is_ok(), "{core:?} {line:?}");
            }
        }
    }

    #[test]
    fn what_is_counted_by_default_is_a_word_on_every_core() {
        for core in crate::counters::aliases::CORES {
            for word in super::super::perf::DEFAULT_EVENTS {
                let event = machine(core).resolve(word);
                assert!(!matches!(event, Err(EventError::UnknownEvent(_))), "{core:?} {event:?}");
            }
        }
    }

    #[test]
    fn a_letter_says_where() {
        let spaces =
            |word| machine(Core::Unknown).resolve(word).map(|event| (event.name, event.spaces));
        let named = |name: &str, spaces: &[PrivilegeLevel]| Ok((name.to_owned(), spaces.to_vec()));
        assert_eq!(
            spaces("cycles"),
            named("cycles", &[PrivilegeLevel::User, PrivilegeLevel::Kernel])
        );
        assert_eq!(spaces("cycles:u"), named("cycles", &[PrivilegeLevel::User]));
        assert_eq!(spaces("r1a:k"), named("r1a", &[PrivilegeLevel::Kernel]));
        assert_eq!(spaces("cycles:uk"), named("cycles", &[PrivilegeLevel::Both]));
        assert_eq!(spaces("task-clock"), named("task-clock", &[PrivilegeLevel::Both]));
        assert_eq!(
            spaces("context-switches:uk"),
            named("context-switches", &[PrivilegeLevel::Both])
        );
        assert!(
            spaces("task-clock:u").unwrap_err().into_unavailable().reason.contains("separately")
        );
        assert!(spaces("cycles:x").unwrap_err().into_unavailable().remedy.contains(":uk"));
    }

    #[test]
    fn the_word_of_a_space_asks_for_it() {
        for word in ["cycles:u", "cycles:k", "cycles:uk", "task-clock", "cpu-migrations"] {
            let event = machine(Core::Unknown).resolve(word).unwrap();
            assert_eq!(event.name_with_modifier(event.spaces[0]), word);
        }
    }
}
