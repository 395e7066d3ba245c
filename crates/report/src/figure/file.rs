//! Figures as separate files: SVG, and PDF and PNG converted from it.

use std::fs;
use std::path::{Path, PathBuf};

use ipcperf_results::folders;

use super::chart::{Chart, SeriesNames};
use super::converter::Converter;
use super::svg_document::svg_document;
use crate::error::Error;

/// The files written, and the reason if some could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenFiles {
    pub files: Vec<PathBuf>,
    /// Reason why there is no PDF or PNG, with the remedy.
    pub missing_formats: Option<String>,
}

/// Writes each of `charts` to `folder` as NAME.svg and, if this build can and there are fonts, as NAME.pdf and NAME.png.
/// Creates the folder if needed.
///
/// # Errors
/// Fails if a file cannot be written.
pub fn write_all<'c>(
    charts: impl Iterator<Item = &'c Chart>,
    names: &SeriesNames,
    folder: &Path,
) -> Result<WrittenFiles, Error> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::NotWritten { path, source }
    };
    folders::create_all(folder, 0o777).map_err(failed(folder))?;
    let converter = Converter::new();
    let mut written = WrittenFiles::default();
    for chart in charts {
        let svg = svg_document(chart, names);
        let mut kinds = vec![("svg", svg.clone().into_bytes())];
        if let Ok(converter) = &converter {
            kinds.extend(converter.convert(&svg).map_err(Error::Render)?);
        }
        for (kind, bytes) in kinds {
            let path = folder.join(format!("{}.{kind}", chart.name));
            fs::write(&path, bytes).map_err(failed(&path))?;
            written.files.push(path);
        }
    }
    written.missing_formats =
        converter.err().map(|reason| format!("cannot write PDF and PNG: {reason}"));
    Ok(written)
}
