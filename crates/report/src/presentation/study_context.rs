//! The study that results are judged by, and whether it is the one for which they were measured.

use ipcperf_results::analysis::AnalyzedFile;

use ipcperf_study::Study;

/// A study with warnings about its verdicts.
pub struct StudyContext {
    /// The study.
    pub study: Study,
    /// Warnings, for example that a file was measured for another version.
    pub warnings: Vec<String>,
}

impl StudyContext {
    /// Returns the study `given`, or otherwise the first study that one of `files` was measured for. `None` if there is
    /// none or it cannot be read.
    pub fn from_files(files: &[AnalyzedFile], given: Option<Study>) -> Option<Self> {
        let study = given.or_else(|| files.iter().find_map(stored_study))?;
        let warnings = files.iter().filter_map(|file| version_warning(&study, file)).collect();
        Some(Self { study, warnings })
    }
}

/// Returns the study stored in a results file, narrowed down to the claims for which the file was measured. `None` if
/// there is none or it cannot be read.
pub fn stored_study(file: &AnalyzedFile) -> Option<Study> {
    let header = &file.results.header;
    Study::parse(header.study_text.as_deref()?).ok()?.with_only(&header.study_only).ok()
}

/// Returns a warning if `file` was not measured for this version of `study`. A claim that was changed after the
/// measurement was not made beforehand.
pub fn version_warning(study: &Study, file: &AnalyzedFile) -> Option<String> {
    let header = &file.results.header;
    if header.study_hash.as_ref() == Some(&study.hash) {
        return None;
    }
    let short = |hash: &str| hash.chars().take(12).collect::<String>();
    let name = header.study.as_deref().unwrap_or("a study");
    let then = header
        .study_hash
        .as_deref()
        .map_or_else(|| "no study".to_owned(), |hash| format!("{name} version {}", short(hash)));
    Some(format!(
        "{}: measured for {then}, but judged by {} version {}, whose claims were not written down before this \
         measurement",
        file.path.display(),
        study.name,
        short(&study.hash)
    ))
}
