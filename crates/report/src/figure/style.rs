//! Style of a series by its number: color, mark and dashes. The eight colors are distinguishable with color vision
//! deficiencies, in light and dark mode. Marks and dashes are for grayscale print, and for more series than colors.

/// Colors on white.
pub const LIGHT_COLORS: [&str; 8] =
    ["#002baf", "#ff1907", "#28796c", "#9b4ccf", "#00091c", "#6d8439", "#2297a5", "#50403a"];
/// Their counterparts on [`DARK_BACKGROUND`].
pub const DARK_COLORS: [&str; 8] =
    ["#1e68c4", "#ff5a15", "#11b199", "#b786ff", "#f5ffc9", "#f0c55a", "#61e0ff", "#995169"];
/// Background color of the page in dark mode.
pub const DARK_BACKGROUND: &str = "#15181c";

/// Outlines of the marks, centered at 0, 0.
pub(super) const MARKS: [&str; 8] = [
    "M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
    "M-2.7 -2.7h5.4v5.4h-5.4z",
    "M0 -3.6L3.4 2.5H-3.4z",
    "M0 -3.8L3.8 0L0 3.8L-3.8 0z",
    "M0 3.6L3.4 -2.5H-3.4z",
    "M-1.1 -3.6h2.2v2.5h2.5v2.2h-2.5v2.5h-2.2v-2.5h-2.5v-2.2h2.5z",
    "M-3.6 -2.2L0 -0.6L3.6 -2.2L1.2 3.4H-1.2z",
    "M0 -3.9L1 -1H3.8L1.6 0.9L2.4 3.6L0 2L-2.4 3.6L-1.6 0.9L-3.8 -1H-1z",
];
const DASHES: [&str; 4] = ["none", "6 2", "2 2", "7 2 2 2"];

/// Style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// Index of the color.
    pub color: usize,
    /// Index of the mark.
    pub mark: usize,
    /// Index of the dashes.
    dash: usize,
}

impl Style {
    /// Returns the style of series `number`. The first 32 are all different.
    pub(super) const fn from_number(number: usize) -> Self {
        let round = number / LIGHT_COLORS.len();
        Self {
            color: number % LIGHT_COLORS.len(),
            mark: (number + round) % MARKS.len(),
            dash: round % DASHES.len(),
        }
    }

    /// Returns the color on white, for print.
    pub(super) const fn print_color(self) -> &'static str {
        LIGHT_COLORS[self.color]
    }

    /// Returns the SVG `stroke-dasharray`.
    pub(super) const fn dashes(self) -> &'static str {
        DASHES[self.dash]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Color = [f64; 3];
    /// Colors as perceived without one of the three kinds of cones, in linear light: Machado, Oliveira and Fernandes
    /// (2009), *A Physiologically-based Model for Simulation of Color Vision Deficiency*, IEEE TVCG 15(6), severity 1.
    const COLOR_VISIONS: [[Color; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    fn linear(hex: &str) -> Color {
        let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
        [part(1), part(3), part(5)]
            .map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) })
    }

    fn times(matrix: &[Color; 3], color: Color) -> Color {
        matrix.map(|row| row.iter().zip(color).map(|(m, c)| m * c).sum())
    }

    /// Converts to Oklab (Ottosson 2020), in which equal distances look equal.
    fn oklab(linear: Color) -> Color {
        let cones = times(
            &[
                [0.412_221, 0.536_333, 0.051_446],
                [0.211_903, 0.680_700, 0.107_397],
                [0.088_302, 0.281_719, 0.629_979],
            ],
            linear.map(|c| c.clamp(0.0, 1.0)),
        );
        times(
            &[
                [0.210_454, 0.793_618, -0.004_072],
                [1.977_998, -2.428_592, 0.450_594],
                [0.025_904, 0.782_772, -0.808_676],
            ],
            cones.map(f64::cbrt),
        )
    }

    fn luminance(hex: &str) -> f64 {
        let [r, g, b] = linear(hex);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Returns the contrast ratio of WCAG 2.
    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
        one.max(other) / one.min(other)
    }

    fn min_distance(colors: &[&str], sight: &[Color; 3]) -> f64 {
        let seen: Vec<Color> = colors.iter().map(|c| oklab(times(sight, linear(c)))).collect();
        let distance = |a: &Color, b: &Color| {
            a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
        };
        let pairs = (0..seen.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| distance(&seen[i], &seen[j])).fold(f64::INFINITY, f64::min)
    }

    /// In Oklab, a distance of 0.02 is about the threshold of perception.
    #[test]
    fn colors_are_distinguishable_with_any_color_vision() {
        for (colors, ground) in [(LIGHT_COLORS, "#ffffff"), (DARK_COLORS, DARK_BACKGROUND)] {
            for sight in &COLOR_VISIONS {
                let least = min_distance(&colors, sight);
                assert!(least >= 0.08, "{colors:?}: {least}");
            }
            for color in colors {
                assert!(contrast(color, ground) >= 3.0, "{color} on {ground}");
            }
        }
    }

    #[test]
    fn no_two_of_many_series_look_the_same_even_in_gray() {
        let looks: Vec<Style> = (0..32).map(Style::from_number).collect();
        for (k, look) in looks.iter().enumerate() {
            assert!(!looks[..k].contains(look), "{k}");
        }
        let shapes = |k: usize| (Style::from_number(k).mark, Style::from_number(k).dash);
        assert!((0..32).all(|k| (0..k).all(|other| shapes(k) != shapes(other))));
    }
}
