//! Event sources that the kernel describes in `/sys/bus/event_source/devices`: their events, and the bits of the
//! configuration that each term sets.

use std::fs;
use std::path::Path;

use ipcperf_model::Unavailable;

use super::EventCode;

/// An event source (PMU).
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) name: String,
    kind: u32,
    /// Whether it is part of the core, and so can count a single thread.
    pub(super) is_core: bool,
    /// Whether it counts for everything that shares it, such as all cores of a package.
    is_shared: bool,
    formats: Vec<(String, Format)>,
    events: Vec<(String, String)>,
}

/// Bits that a term sets: the field, and the ranges within it, the low bits first.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Format {
    field: usize,
    ranges: Vec<(u32, u32)>,
}

/// Names of the fields, in the order of [`Format::field`].
const FIELDS: [&str; 3] = ["config", "config1", "config2"];
/// Sources of the kernel that do not belong to a processor.
const NON_PROCESSOR_SOURCES: [&str; 6] =
    ["breakpoint", "kprobe", "software", "tracepoint", "uprobe", "msr"];
/// Suffixes of files that describe an event rather than define one.
const NON_EVENT_SUFFIXES: [&str; 4] = [".scale", ".unit", ".snapshot", ".per-pkg"];

/// Reads the sources below `root`, ordered by name.
pub(super) fn read_all(root: &Path) -> Vec<Device> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut devices: Vec<_> = entries.filter_map(|entry| Device::read(&entry.path())).collect();
    devices.sort_by(|one, other| one.name.cmp(&other.name));
    devices
}

impl Device {
    fn read(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_owned();
        let kind = fs::read_to_string(path.join("type")).ok()?.trim().parse().ok()?;
        let formats = files(&path.join("format"));
        let formats =
            formats.into_iter().filter_map(|(name, text)| Some((name, Format::parse(&text)?)));
        let mut events = files(&path.join("events"));
        events.retain(|(name, _)| !NON_EVENT_SUFFIXES.iter().any(|end| name.ends_with(end)));
        let is_shared = path.join("cpumask").exists();
        let is_core = name == "cpu"
            || name.starts_with("cpu_")
            || path.join("cpus").exists()
                && !is_shared
                && !NON_PROCESSOR_SOURCES.contains(&name.as_str());
        Some(Self { name, kind, is_core, is_shared, formats: formats.collect(), events })
    }

    /// Returns the terms of the event `name`.
    pub(super) fn event(&self, name: &str) -> Option<&str> {
        let found = self.events.iter().find(|event| event.0.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// Returns the names of the events.
    pub(super) fn events(&self) -> impl Iterator<Item = &str> {
        self.events.iter().map(|event| event.0.as_str())
    }

    /// Whether the terms of one of its events are exactly `event=number`.
    pub(super) fn has_number(&self, number: u64) -> bool {
        let has_number =
            |terms: &str| terms.strip_prefix("event=").and_then(parse_number) == Some(number);
        self.events.iter().any(|event| has_number(&event.1))
    }

    /// Returns the code for comma-separated `terms`: event names, or terms with values.
    pub(super) fn code(&self, terms: &str, event: &str) -> Result<EventCode, Unavailable> {
        if self.is_shared {
            return Err(Unavailable {
                reason: format!(
                    "{event}: the event source {} counts all processes together",
                    self.name
                ),
                remedy: "use an event of the CPU cores, such as cycles".to_owned(),
            });
        }
        let mut fields = [0; 3];
        for term in terms.split(',').filter(|term| !term.is_empty()) {
            match self.event(term) {
                Some(inner) => inner.split(',').try_for_each(|term| self.set(&mut fields, term)),
                None => self.set(&mut fields, term),
            }
            .map_err(|why| self.unknown_term(event, &why))?;
        }
        let [config, config1, config2] = fields;
        Ok(EventCode { kind: self.kind, config, config1, config2 })
    }

    /// Sets the bits of one term.
    fn set(&self, fields: &mut [u64; 3], term: &str) -> Result<(), String> {
        let (name, value) = term.split_once('=').unwrap_or((term, "1"));
        let value =
            parse_number(value).ok_or_else(|| format!("{value} in {term} is not a number"))?;
        if let Some(field) = FIELDS.iter().position(|field| *field == name) {
            fields[field] |= value;
            return Ok(());
        }
        let format = self.formats.iter().find(|format| format.0 == name);
        let format = &format.ok_or_else(|| format!("it has no term {name}"))?.1;
        fields[format.field] |=
            format.scatter_bits(value).ok_or_else(|| format!("{term} is too large"))?;
        Ok(())
    }

    fn unknown_term(&self, event: &str, why: &str) -> Unavailable {
        let terms: Vec<_> = self.formats.iter().map(|format| format.0.as_str()).collect();
        let known = if terms.is_empty() { "none".to_owned() } else { terms.join(", ") };
        Unavailable {
            reason: format!("{} has no event {event}: {why}", self.name),
            remedy: format!("its terms: {known}; `perf list` shows its events"),
        }
    }
}

impl Format {
    /// Parses a file in `format`, such as `config:0-7,32-35`.
    fn parse(text: &str) -> Option<Self> {
        let (field, ranges) = text.trim().split_once(':')?;
        let field = FIELDS.iter().position(|known| *known == field)?;
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last && last < u64::BITS).then_some((first, last))
        };
        let ranges = ranges.split(',').map(range).collect::<Option<Vec<_>>>()?;
        Some(Self { field, ranges })
    }

    /// Moves the bits of `value` to their positions; `None` if there are too many.
    fn scatter_bits(&self, mut value: u64) -> Option<u64> {
        let mut placed = 0;
        for &(first, last) in &self.ranges {
            let width = last - first + 1;
            let mask = u64::MAX >> (u64::BITS - width);
            placed |= (value & mask) << first;
            value = value.checked_shr(width).unwrap_or(0);
        }
        (value == 0).then_some(placed)
    }
}

/// Reads the files of a folder: name and content, ordered by name.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let text = fs::read_to_string(entry.path()).ok()?;
            Some((entry.file_name().into_string().ok()?, text.trim().to_owned()))
        })
        .collect();
    files.sort_unstable();
    files
}

/// Parses a decimal number, or a hexadecimal number with the prefix `0x`.
fn parse_number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device() -> Device {
        let pairs = |pairs: &[(&str, &str)]| {
            let owned = pairs.iter().map(|pair| (pair.0.to_owned(), pair.1.to_owned()));
            owned.collect::<Vec<_>>()
        };
        let formats = pairs(&[
            ("event", "config:0-7,32-35"),
            ("umask", "config:8-15"),
            ("inv", "config:23"),
            ("ldlat", "config1:0-15"),
        ]);
        Device {
            name: "cpu".to_owned(),
            kind: 4,
            is_core: true,
            is_shared: false,
            formats: formats
                .into_iter()
                .map(|(name, text)| (name, Format::parse(&text).unwrap()))
                .collect(),
            events: pairs(&[
                ("mem-loads", "event=0xcd,umask=0x1,ldlat=3"),
                ("l1d_cache", "event=0x0004"),
            ]),
        }
    }

    #[test]
    fn bits_go_where_the_format_says() {
        let code = |terms| device().code(terms, terms).unwrap();
        assert_eq!(code("event=0x18e,umask=0x1f").config, 0x1_0000_1f8e);
        assert_eq!(code("event=60,inv").config, 0x80_003c);
        assert_eq!(
            code("config=0x12,config2=7"),
            EventCode { kind: 4, config: 0x12, config1: 0, config2: 7 }
        );
        let loads = code("mem-loads");
        assert_eq!((loads.config, loads.config1), (0x1cd, 3));
        assert!(device().has_number(4) && !device().has_number(5));
    }

    #[test]
    fn what_a_term_cannot_be_is_said() {
        let why = |terms| device().code(terms, terms).unwrap_err().reason;
        assert!(why("evnt=1").contains("it has no term evnt"));
        assert!(why("event=0x1000").contains("too large"));
        assert!(why("event=many").contains("not a number"));
        let shared = Device { is_shared: true, ..device() };
        assert!(shared.code("event=1", "x").unwrap_err().reason.contains("all processes"));
    }

    #[test]
    fn no_range_of_bits_is_made_up() {
        for text in ["config:8-7", "config:0-64", "config3:0", "config", "config:a"] {
            assert_eq!(Format::parse(text), None, "{text}");
        }
        let whole = Format::parse("config:0-63\n").unwrap();
        assert_eq!(whole.scatter_bits(u64::MAX), Some(u64::MAX));
    }

    #[test]
    fn a_folder_of_the_kernels_is_read() {
        let software = read_all(Path::new("/sys/bus/event_source/devices"))
            .into_iter()
            .find(|device| device.name == "software");
        assert_eq!(software.map(|device| (device.kind, device.is_core)), Some((1, false)));
    }
}
