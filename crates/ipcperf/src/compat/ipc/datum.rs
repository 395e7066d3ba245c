//! Named values, in the formats of the editions.

/// A named value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: FieldValue,
    /// Printed after the value, in text only.
    pub(super) unit: &'static str,
}

/// Type of a value, for printing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldValue {
    /// A number, with all its digits.
    Number(String),
    /// A string in libxo's output. Includes numbers that are printed in two parts, such as seconds.
    Text(String),
    /// A list of whole numbers, each with this name.
    List(&'static str, Vec<u64>),
}

impl Field {
    /// Creates a number with `digits` digits after the decimal point.
    pub(super) fn number(name: &str, value: f64, digits: usize, unit: &'static str) -> Self {
        Self { name: name.to_owned(), value: FieldValue::Number(format!("{value:.digits$}")), unit }
    }

    /// Creates the quotient of two numbers, with six decimal places; `None` if it is not finite.
    pub(super) fn ratio(name: &str, dividend: f64, divisor: f64) -> Option<Self> {
        let ratio = dividend / divisor;
        ratio.is_finite().then(|| Self::number(name, ratio, 6, ""))
    }

    /// Creates a whole number.
    pub(super) fn count(name: &str, value: u64, unit: &'static str) -> Self {
        Self { name: name.to_owned(), value: FieldValue::Number(value.to_string()), unit }
    }

    /// Creates a time in seconds from `ns`, with nine decimal places.
    pub(super) fn seconds(name: &str, ns: u64, unit: &'static str) -> Self {
        let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
        Self { name: name.to_owned(), value: FieldValue::Text(text), unit }
    }

    /// Creates a time in seconds from `ns`, truncated to microseconds, the resolution of getrusage(2).
    pub(super) fn microseconds(name: &str, ns: u64, unit: &'static str) -> Self {
        let text = format!("{}.{:06}", ns / 1_000_000_000, ns / 1_000 % 1_000_000);
        Self { name: name.to_owned(), value: FieldValue::Text(text), unit }
    }

    /// Creates a string.
    pub(super) fn text(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: FieldValue::Text(value.to_owned()), unit: "" }
    }

    /// Returns its line of text, indented by two spaces.
    pub(super) fn line(&self) -> String {
        let value = match &self.value {
            FieldValue::Number(text) | FieldValue::Text(text) => text.clone(),
            FieldValue::List(_, all) => {
                all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            }
        };
        format!("  {}: {value}{}\n", self.name, self.unit)
    }
}

/// Fields, in the order of output.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fields(pub(super) Vec<Field>);

impl Fields {
    /// Returns their lines, below `heading`.
    pub(super) fn text(&self, heading: &str) -> String {
        let lines: String = self.0.iter().map(Field::line).collect();
        format!("{heading}\n{lines}")
    }
}

/// Converts `ns` to seconds.
#[allow(clippy::cast_precision_loss, reason = "nine digits behind the point are printed")]
pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Returns the rate in units of 1,024 bytes per second.
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
            Field::text("mode", "2thread"),
            Field {
                name: "sizes".to_owned(),
                value: FieldValue::List("size", vec![1, 2]),
                unit: "",
            },
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
