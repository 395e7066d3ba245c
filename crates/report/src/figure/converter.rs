//! Conversion of figures to PDF and PNG, by libraries that only some builds have.

#[cfg(feature = "pdf-png")]
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree},
};
#[cfg(feature = "pdf-png")]
use svg2pdf::{ConversionOptions, PageOptions};

/// Pixels per unit of the figure, for sharp display on any screen.
#[cfg(feature = "pdf-png")]
const PIXELS_PER_UNIT: f32 = 2.0;

/// Files of one figure: the extension of each, and its content.
type ConvertedFiles = Vec<(&'static str, Vec<u8>)>;

/// Converts figures, with the fonts of the system.
#[cfg(feature = "pdf-png")]
pub(super) struct Converter(Options<'static>);

/// A converter that this build does not have.
#[cfg(not(feature = "pdf-png"))]
pub(super) enum Converter {}

#[cfg(feature = "pdf-png")]
impl Converter {
    /// Loads the fonts of the system.
    ///
    /// # Errors
    /// Returns the reason and the remedy if there are none.
    pub(super) fn new() -> Result<Self, &'static str> {
        let mut options = Options::default();
        options.fontdb_mut().load_system_fonts();
        if options.fontdb.is_empty() {
            return Err("no font was found; install one, such as fonts-dejavu");
        }
        Ok(Self(options))
    }

    /// Converts a figure to PDF and PNG.
    ///
    /// # Errors
    /// Returns the message of a library.
    pub(super) fn convert(&self, svg: &str) -> Result<ConvertedFiles, String> {
        let tree = Tree::from_str(svg, &self.0).map_err(|error| error.to_string())?;
        let pdf = svg2pdf::to_pdf(&tree, ConversionOptions::default(), PageOptions::default())
            .map_err(|error| error.to_string())?;
        let size = tree.size().to_int_size().scale_by(PIXELS_PER_UNIT).ok_or("too large")?;
        let mut pixels = Pixmap::new(size.width(), size.height()).ok_or("too large")?;
        let scale = Transform::from_scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT);
        resvg::render(&tree, scale, &mut pixels.as_mut());
        let png = pixels.encode_png().map_err(|error| error.to_string())?;
        Ok(vec![("pdf", pdf), ("png", png)])
    }
}

#[cfg(not(feature = "pdf-png"))]
impl Converter {
    /// Returns the reason and the remedy.
    pub(super) fn new() -> Result<Self, &'static str> {
        Err("this ipcperf was built without them: cargo build --release --features pdf-png")
    }

    /// Never called: there is no converter.
    pub(super) fn convert(&self, _: &str) -> Result<ConvertedFiles, String> {
        match *self {}
    }
}
