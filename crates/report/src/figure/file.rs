//! Figures as separate files: SVG, and PDF and PNG converted from it.

use std::fs;
use std::path::{Path, PathBuf};

use ipcperf_results::folders;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use svg2pdf::{ConversionOptions, PageOptions};

use super::chart::{Chart, SeriesNames};
use super::svg_document::svg_document;
use crate::error::Error;

/// Pixels per unit of the figure, for sharp display on any screen.
const PIXELS_PER_UNIT: f32 = 2.0;

/// The files written, and the reason if some could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenFiles {
    pub files: Vec<PathBuf>,
    /// Reason why there is no PDF or PNG, with the remedy.
    pub missing_formats: Option<String>,
}

/// Writes each of `charts` to `folder` as NAME.svg, NAME.pdf and NAME.png. Creates the folder if needed.
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
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    let has_fonts = !options.fontdb.is_empty();
    let mut written = WrittenFiles::default();
    for chart in charts {
        let svg = svg_document(chart, names);
        let mut kinds = vec![("svg", svg.clone().into_bytes())];
        if has_fonts {
            kinds.extend(convert(&svg, &options).map_err(Error::Render)?);
        }
        for (kind, bytes) in kinds {
            let path = folder.join(format!("{}.{kind}", chart.name));
            fs::write(&path, bytes).map_err(failed(&path))?;
            written.files.push(path);
        }
    }
    written.missing_formats = (!has_fonts).then(|| {
        "cannot write PDF and PNG: no font was found; install one, such as fonts-dejavu".to_owned()
    });
    Ok(written)
}

/// Converts a figure to PDF and PNG.
fn convert(svg: &str, options: &Options) -> Result<Vec<(&'static str, Vec<u8>)>, String> {
    let tree = Tree::from_str(svg, options).map_err(|error| error.to_string())?;
    let pdf = svg2pdf::to_pdf(&tree, ConversionOptions::default(), PageOptions::default())
        .map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(PIXELS_PER_UNIT).ok_or("too large")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("too large")?;
    resvg::render(
        &tree,
        Transform::from_scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT),
        &mut pixels.as_mut(),
    );
    let png = pixels.encode_png().map_err(|error| error.to_string())?;
    Ok(vec![("pdf", pdf), ("png", png)])
}
