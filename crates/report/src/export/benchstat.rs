//! Export in Go's benchmark format, which `benchstat` and many CI actions read.
//! <https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md>

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use ipcperf_model::Mode;
use ipcperf_model::printable::{is_unsafe, printable_line};
use ipcperf_results::analysis::{AnalyzedFile, ns_per_message};
use ipcperf_results::{Header, Sample};

use super::Exporter;
use crate::terminal::not_ranked;

/// Go's benchmark format.
pub(super) const EXPORTER: Exporter = Exporter {
    name: "benchstat",
    about: "valid repetitions in Go's benchmark format, for benchstat and CI actions",
    details: "The output is in Go's benchmark format. To compare two exports, run `benchstat old.txt new.txt`. The \
        output has one line for each valid run that no intrusive instrument observed. The fields of a line are:\n\n\
        1. The name of the benchmark, such as `BenchmarkPipe/workload=stream/.../buffer=4096-2`. The name contains \
        the mechanism and the parameters of the case. The number after the last `-` is the number of CPUs on which \
        the peers run (here 2).\n\
        2. The number of messages or round trips.\n\
        3. The time of one message or round trip, or the mean latency of [paced traffic](paced.md) from the schedule, in \
        `ns/op`.\n\
        4. The metrics that apply to the case: the bandwidth (`MB/s`), the median and the 99th percentile of the \
        round-trip time or of the latency of paced traffic (`p50-ns`, `p99-ns`), the number of lost messages (`lost-messages`), and, on two CPUs, the \
        round-trip time of a cache line between them (`cacheline-ns`).\n\n\
        Results of different CPU distance classes are not comparable. If a case was measured in several classes, \
        its name therefore contains the class (`/cpus=CLASS`). If fewer than half of the repetitions of a case are \
        valid, the output also names the case in a comment line, which starts with `#`.",
    instrument: None,
    write,
    #[cfg(test)]
    check: tests::check,
};

fn write(files: &[AnalyzedFile], out: &mut dyn Write) -> io::Result<()> {
    for file in files {
        write_configuration(&file.results.header, out)?;
        // Only with several files: benchstat does not compare benchmarks whose configuration differs.
        if files.len() > 1 {
            writeln!(out, "file: {}", one_line(&file.path.display().to_string()))?;
        }
        writeln!(out)?;
        write_file(file, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_configuration(header: &Header, out: &mut dyn Write) -> io::Result<()> {
    let target = header.environment.program.target.as_deref().unwrap_or_default();
    let mut parts = target.split('-');
    let architecture = match parts.next().filter(|part| !part.is_empty()) {
        Some("x86_64") => "amd64",
        Some("aarch64") => "arm64",
        Some(other) => other,
        None => "unknown",
    };
    let architecture = one_line(architecture);
    let cpu = header.environment.cpus.cpu_model.as_deref().unwrap_or("unknown");
    writeln!(out, "goos: linux\ngoarch: {architecture}\npkg: ipcperf\ncpu: {}", one_line(cpu))
}

fn write_file(file: &AnalyzedFile, out: &mut dyn Write) -> io::Result<()> {
    let mut cases: BTreeMap<&str, Vec<&Sample>> = BTreeMap::new();
    for sample in file.results.samples.iter().filter(|sample| sample.is_valid_uninstrumented()) {
        cases.entry(&sample.run.case.case_id).or_default().push(sample);
    }
    let planned = file.results.header.plan.cases.iter();
    for samples in planned.filter_map(|case| cases.get(case.as_str())) {
        write_case(samples, build_label(file, samples), out)?;
    }
    // Not a benchmark line, so benchstat ignores it.
    for line in not_ranked(&file.summaries) {
        writeln!(out, "# fewer than half of the repetitions are valid: {}", one_line(&line))?;
    }
    Ok(())
}

/// Returns a label for the file of the custom mechanism of `samples`, if other results have another file of its name.
fn build_label<'a>(file: &'a AnalyzedFile, samples: &[&Sample]) -> Option<&'a str> {
    let mechanism = &samples.first()?.run.case.mechanism;
    let summary = file.summaries.iter().find(|summary| summary.case.mechanism == *mechanism)?;
    Some(summary.build.trim()).filter(|build| !build.is_empty())
}

fn write_case(samples: &[&Sample], build: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    let classes: BTreeSet<_> = samples.iter().map(|sample| &sample.cpu_pair_class).collect();
    for sample in samples {
        let class = sample.cpu_pair_class.as_ref().filter(|_| classes.len() > 1);
        let latency_ns = sample.round_trip_ns_mean.or(sample.paced.one_way_ns_mean);
        if let Some(ns) = latency_ns.or_else(|| ns_per_message(sample)) {
            let (name, messages) = (benchmark_name(sample, class, build), sample.messages);
            writeln!(out, "{name} {messages} {ns} ns/op{}", extra_metrics(sample))?;
        }
    }
    Ok(())
}

/// Returns the name of a case in Go's form: key-value pairs, then the number of CPUs.
fn benchmark_name(sample: &Sample, class: Option<&String>, build: Option<&str>) -> String {
    let case = &sample.run.case;
    let mut parameters = vec![
        ("workload", case.workload.name().to_owned()),
        ("mode", case.mode.name().to_owned()),
        ("placement", case.placement.clone()),
        ("buffer", case.buffer_bytes.to_string()),
    ];
    parameters.extend(case.rate_per_s.map(|rate| ("rate", rate.to_string())));
    parameters.extend(case.options.iter().map(|(name, value)| (name.as_str(), value.clone())));
    let conditions = case.non_defaults().into_iter();
    parameters.extend(conditions.map(|one| (one.flag, one.value.to_string())));
    if case.verify {
        parameters.push(("verify", "yes".to_owned()));
    }
    parameters.extend(class.map(|class| ("cpus", class.clone())));
    parameters.extend(build.map(|build| ("file", build.to_owned())));
    let words = parameters
        .iter()
        .map(|(key, value)| format!("/{}={}", percent_encode(key), percent_encode(value)));
    let words = words.collect::<String>();
    format!(
        "Benchmark{}{words}-{}",
        percent_encode(&camel_case(&case.mechanism)),
        cpu_count(sample)
    )
}

/// Returns the number of CPUs of the case. If the scheduler chooses them, returns the number it can use at once.
fn cpu_count(sample: &Sample) -> usize {
    let case = &sample.run.case;
    match case.cpus.iter().collect::<BTreeSet<_>>().len() {
        0 if case.mode == Mode::OneThread => 1,
        0 => 2,
        several => several,
    }
}

/// Returns further metrics. Bandwidth is exact: whole bytes are written as millionths of a megabyte.
fn extra_metrics(sample: &Sample) -> String {
    let latency = |round_trip: Option<u64>, one_way: Option<u64>, unit| {
        round_trip.or(one_way).map(|ns| format!("{ns} {unit}"))
    };
    let bandwidth = sample
        .bandwidth_bytes_per_s
        .map(|bytes| format!("{}.{:06} MB/s", bytes / 1_000_000, bytes % 1_000_000));
    let parts = [
        bandwidth,
        latency(sample.round_trip_ns_p50, sample.paced.one_way_ns_p50, "p50-ns"),
        latency(sample.round_trip_ns_p99, sample.paced.one_way_ns_p99, "p99-ns"),
        sample.lost_messages.map(|lost| format!("{lost} lost-messages")),
        sample.cacheline_round_trip_ns.map(|ns| format!("{ns} cacheline-ns")),
    ];
    parts.into_iter().flatten().map(|part| format!(" {part}")).collect()
}

/// Converts `unix-stream` to `UnixStream`.
fn camel_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('-').map(word).collect()
}

/// Percent-encodes the characters of `text` that would end a name or a part of it.
fn percent_encode(text: &str) -> String {
    let quote = |letter: char| {
        let plain = !letter.is_whitespace() && !is_unsafe(letter) && !"/=%".contains(letter);
        let mut bytes = [0; 4];
        match plain {
            true => letter.to_string(),
            false => letter.encode_utf8(&mut bytes).bytes().map(|b| format!("%{b:02X}")).collect(),
        }
    };
    text.chars().map(quote).collect()
}

fn one_line(text: &str) -> String {
    printable_line(&text.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use ipcperf_results::Sample;
    use ipcperf_results::analysis::AnalyzedFile;

    /// A line of Go's benchmark format: name, count, and values by unit.
    type Benchmark<'a> = (&'a str, u64, Vec<(&'a str, &'a str)>);

    fn benchmark(line: &str) -> Option<Benchmark<'_>> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, rest) = words.split_first().filter(|(name, _)| name.starts_with("Benchmark"))?;
        let values = rest[1..].chunks(2).map(|pair| (pair[1], pair[0])).collect();
        Some((name, rest[0].parse().unwrap(), values))
    }

    /// Checks each line against its repetition.
    pub(in crate::export) fn check(text: &str, files: &[AnalyzedFile]) {
        for key in ["goos: linux\n", "goarch: ", "pkg: ipcperf\n", "cpu: "] {
            assert!(text.contains(key), "no {key}");
        }
        assert_eq!(text.contains("file: one.jsonl\n"), files.len() > 1);
        let read: Vec<_> = text.lines().filter_map(benchmark).collect();
        let kept = files.iter().flat_map(|file| &file.results.samples);
        let kept: Vec<&Sample> = kept.filter(|sample| sample.excluded.is_none()).collect();
        assert_eq!(read.len(), kept.len());
        let is_any = !kept.is_empty();
        for ((name, messages, values), sample) in read.into_iter().zip(kept) {
            assert_eq!(messages, sample.messages, "{name}");
            let value = |unit: &str| {
                let found = values.iter().find(|(known, _)| *known == unit);
                found.map(|(_, value)| value.parse::<f64>().unwrap())
            };
            #[allow(clippy::cast_precision_loss, reason = "as it was written")]
            let mean =
                sample.round_trip_ns_mean.unwrap_or(sample.elapsed_ns as f64 / messages as f64);
            assert_eq!(value("ns/op"), Some(mean), "{name}");
            assert_eq!(value("cacheline-ns"), sample.cacheline_round_trip_ns);
            let megabytes = values.iter().find(|(unit, _)| *unit == "MB/s");
            let bytes = megabytes.map(|(_, value)| value.replace('.', "").parse().unwrap());
            assert_eq!(bytes, sample.bandwidth_bytes_per_s, "{name}");
            assert_eq!(name.contains("/cpus="), sample.cpu_pair_class.is_some(), "{name}");
            assert!(name.ends_with("-1") && name.matches('/').count() < 8, "{name}");
        }
        let name = "BenchmarkUnixStreamNamed/workload=stream/mode=2proc/";
        assert_eq!(text.contains(name), is_any, "{text}");
    }
}
