//! The study that results are held against, and whether it is the one that they were measured for.

use ipcperf_results::analysis::Summarised;

use ipcperf_study::Study;

/// A study with what is to be said before its verdicts are believed.
pub struct Asked {
    /// The study.
    pub study: Study,
    /// What to know of it, such as another version in the file.
    pub warnings: Vec<String>,
}

impl Asked {
    /// The study `given`, or the one that the first of `files` that has any was measured for; `None` where
    /// there is none, or none that can be read.
    pub fn of(files: &[Summarised], given: Option<Study>) -> Option<Self> {
        let study = given.or_else(|| files.iter().find_map(measured_for))?;
        let warnings = files.iter().filter_map(|file| other_version(&study, file)).collect();
        Some(Self { study, warnings })
    }
}

/// The study that stands in a results file, with those of its claims that the file was measured for; `None`
/// where there is none, or none that can be read.
pub fn measured_for(file: &Summarised) -> Option<Study> {
    let header = &file.results.header;
    Study::read(header.study_text.as_deref()?).ok()?.only(&header.study_only).ok()
}

/// That `file` was measured for something other than `study`: a claim that was changed after the measurement
/// is none that was made beforehand.
pub fn other_version(study: &Study, file: &Summarised) -> Option<String> {
    let header = &file.results.header;
    if header.study_hash.as_ref() == Some(&study.hash) {
        return None;
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    let name = header.study.as_deref().unwrap_or("a study");
    let then = header
        .study_hash
        .as_deref()
        .map_or_else(|| "no study".to_owned(), |hash| format!("{name} as of {}", short(hash)));
    Some(format!(
        "{}: measured for {then}, judged against {} as of {}: what is claimed here was not written down \
         before this measurement",
        file.path.display(),
        study.name,
        short(&study.hash)
    ))
}
