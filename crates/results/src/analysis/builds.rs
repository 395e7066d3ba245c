//! Distinguishes custom mechanisms by the SHA-256 of their files: two files with one name are two mechanisms.

use std::collections::{BTreeMap, BTreeSet};

use super::AnalyzedFile;

/// Number of hexadecimal digits of a hash that are shown.
const DIGITS: usize = 12;

/// Renames custom mechanisms in `files` that have the same name but different files.
pub fn disambiguate(files: &mut [AnalyzedFile]) {
    let mut known: BTreeMap<String, BTreeSet<Option<String>>> = BTreeMap::new();
    for (name, sha256) in files.iter().filter_map(AnalyzedFile::hashes).flatten() {
        known.entry(name.clone()).or_default().insert(sha256.clone());
    }
    known.retain(|_, hashes| hashes.len() > 1);
    for file in files {
        for summary in &mut file.summaries {
            if known.contains_key(&summary.case.mechanism) {
                summary.build = describe_build(summary.mechanism_sha256.as_deref());
            }
        }
    }
}

fn describe_build(sha256: Option<&str>) -> String {
    let digits = sha256.map(|hash| hash.chars().take(DIGITS).collect::<String>());
    digits.map_or_else(|| " (unknown file)".to_owned(), |digits| format!(" (sha256 {digits})"))
}

#[cfg(test)]
mod tests {
    use ipcperf_model::workload::WorkloadKind;

    use super::*;
    use crate::CustomRecord;
    use crate::testing::analyzed_file;
    use crate::testing::sample;

    const NAME: &str = "lib:/data/x.so";

    fn file(path: &str, sha256: &str) -> AnalyzedFile {
        let samples = vec![sample(NAME, WorkloadKind::Stream, 64, 1, 1_000)];
        let mut file = analyzed_file(path, samples, Vec::new());
        let sha256 = BTreeMap::from([(NAME.to_owned(), Some(sha256.to_owned()))]);
        file.results.header.plan.custom = Some(CustomRecord { folder: None, sha256 });
        file.add_hashes();
        file
    }

    fn names(hashes: [&str; 2]) -> Vec<String> {
        let mut files = [file("one", hashes[0]), file("other", hashes[1])];
        disambiguate(&mut files);
        files.iter().map(|file| file.summaries[0].series()).collect()
    }

    #[test]
    fn two_files_of_one_name_are_named_apart_and_one_keeps_its_name() {
        let (one, other) = ("a".repeat(64), "b".repeat(64));
        assert_eq!(names([&one, &one]), [NAME, NAME]);
        let apart = ["aaaaaaaaaaaa", "bbbbbbbbbbbb"].map(|hash| format!("{NAME} (sha256 {hash})"));
        assert_eq!(names([&one, &other]), apart);
    }
}
