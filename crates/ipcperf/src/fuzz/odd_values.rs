//! Unexpected values.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde_json::{Value, json};

/// Returns a value that does not belong where it is put.
pub(super) fn value(random: &mut ChaCha8Rng) -> Value {
    match random.random_range(0..13) {
        0..=4 => number(random),
        5..=7 => text(random).into(),
        8 => json!(null),
        9 => nested(random.random_range(1..120)),
        10 => numbers(random),
        11 => json!({"a": {}}),
        _ => json!(random.random_ratio(1, 2)),
    }
}

/// Returns a number at the end of some range, or of any magnitude.
pub(super) fn number(random: &mut ChaCha8Rng) -> Value {
    match random.random_range(0..16) {
        0..=3 => json!(0),
        4 => json!(-1),
        5 => json!(1),
        6..=7 => json!(u64::MAX),
        8 => json!(i64::MIN),
        9 => json!(u32::MAX),
        10 => json!(1e308),
        11 => json!(5e-324),
        12 => json!(-1e308),
        13 => json!(random.random::<u64>() >> random.random_range(0..64)),
        14 => json!(10_f64.powi(random.random_range(-300..300))),
        _ => json!(random.random::<f64>()),
    }
}

/// Returns text that controls terminals, closes tags, is very long, or has a special meaning elsewhere.
pub(super) fn text(random: &mut ChaCha8Rng) -> String {
    const TEXTS: [&str; 16] = [
        "",
        " ",
        "<script>alert(1)</script>",
        "</script><!--",
        "\"><img src=x onerror=alert(1)>",
        "\u{0}\u{1b}[2J\u{1b}]0;x\u{7}\r\n\t\u{7f}",
        "a\nb",
        "\u{202e}\u{feff}\u{200b}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
        "../../../etc/passwd",
        "null",
        "nan",
        "same",
        "stream",
        "=1+1,;|\\",
        "%s%n{}{{",
    ];
    match random.random_range(0..20) {
        0 => "x".repeat(random.random_range(1..200_000)),
        1 => "\u{4e2d}\u{301} ".repeat(random.random_range(1..2_000)),
        _ => TEXTS[random.random_range(0..TEXTS.len())].to_owned(),
    }
}

/// Returns nested arrays, at most deeper than a reader accepts.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

fn numbers(random: &mut ChaCha8Rng) -> Value {
    (0..random.random_range(0..300)).map(|_| number(random)).collect()
}
