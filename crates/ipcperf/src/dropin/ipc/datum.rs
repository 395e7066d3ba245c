//! A figure or a word by its name, as the editions print it.

/// A figure or a word by its name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: Shown,
    /// Behind the value in text alone.
    pub(super) unit: &'static str,
}

/// How a value is printed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown {
    /// A number with all its digits.
    Number(String),
    /// A word, or what is one to libxo: a number that is printed in two parts, such as seconds.
    Word(String),
    /// Whole numbers, each by this name, one after the other.
    List(&'static str, Vec<u64>),
}

impl Field {
    /// A number with so many digits behind its point.
    pub(super) fn number(name: &str, value: f64, digits: usize, unit: &'static str) -> Self {
        Self { name: name.to_owned(), value: Shown::Number(format!("{value:.digits$}")), unit }
    }

    /// One number by another, six digits of which are shown; none where that is no number.
    pub(super) fn ratio(name: &str, dividend: f64, divisor: f64) -> Option<Self> {
        let ratio = dividend / divisor;
        ratio.is_finite().then(|| Self::number(name, ratio, 6, ""))
    }

    /// A whole number.
    pub(super) fn count(name: &str, value: u64, unit: &'static str) -> Self {
        Self { name: name.to_owned(), value: Shown::Number(value.to_string()), unit }
    }

    /// Seconds of `ns`, with all their digits.
    pub(super) fn seconds(name: &str, ns: u64, unit: &'static str) -> Self {
        let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
        Self { name: name.to_owned(), value: Shown::Word(text), unit }
    }

    /// Seconds of `ns`, to the microsecond, as getrusage(2) has them.
    pub(super) fn microseconds(name: &str, ns: u64, unit: &'static str) -> Self {
        let text = format!("{}.{:06}", ns / 1_000_000_000, ns / 1_000 % 1_000_000);
        Self { name: name.to_owned(), value: Shown::Word(text), unit }
    }

    /// A word.
    pub(super) fn word(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: Shown::Word(value.to_owned()), unit: "" }
    }

    /// Its line of text, indented by two.
    pub(super) fn line(&self) -> String {
        let value = match &self.value {
            Shown::Number(text) | Shown::Word(text) => text.clone(),
            Shown::List(_, all) => all.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        };
        format!("  {}: {value}{}\n", self.name, self.unit)
    }
}

/// Fields in their order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fields(pub(super) Vec<Field>);

impl Fields {
    /// Their lines, below `heading`.
    pub(super) fn text(&self, heading: &str) -> String {
        let lines: String = self.0.iter().map(Field::line).collect();
        format!("{heading}\n{lines}")
    }
}

/// Seconds of `ns`.
#[allow(clippy::cast_precision_loss, reason = "nine digits behind the point are printed")]
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Units of 1,024 bytes in a second.
#[allow(clippy::cast_precision_loss, reason = "a rate, good to 53 bits")]
pub(super) fn kilobytes_per_second(bytes: u64, elapsed_ns: u64) -> f64 {
    bytes as f64 / seconds(elapsed_ns) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_lines_below_a_heading() {
        let fields = Fields(vec![
            Field::number("bandwidth", 1234.567, 2, " KBytes/sec"),
            Field::count("nvcsw", 3, " voluntary context switches"),
            Field::word("mode", "2thread"),
            Field { name: "sizes".to_owned(), value: Shown::List("size", vec![1, 2]), unit: "" },
        ]);
        let text = "datum:\n  bandwidth: 1234.57 KBytes/sec\n  nvcsw: 3 voluntary context switches\n  \
                    mode: 2thread\n  sizes: 1, 2\n";
        assert_eq!(fields.text("datum:"), text);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        assert_eq!(Field::ratio("a/b", 3.0, 0.0), None);
        assert_eq!(Field::ratio("a/b", 0.0, 0.0), None);
        assert_eq!(Field::ratio("a/b", 3.0, 2.0).unwrap().line(), "  a/b: 1.500000\n");
    }

    #[test]
    fn a_kilobyte_has_1024_bytes_and_a_second_nine_digits() {
        let time = Field::seconds("time", 1_000_000_007, " seconds").line();
        assert_eq!(time, "  time: 1.000000007 seconds\n");
        let time = Field::microseconds("stime", 2_000_001_999, " seconds").line();
        assert_eq!(time, "  stime: 2.000001 seconds\n");
        assert!((kilobytes_per_second(1 << 20, 500_000_000) - 2048.0).abs() < 1e-9);
    }
}
