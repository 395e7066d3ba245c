//! Claims of a study.

use std::fmt;
use std::sync::Arc;

use super::claim_table::ClaimTable;
use super::correction::Correction;
use super::figure_layout::FigureKeys;
use super::key_values::{KeyError, KeyValues};
use super::operand_cases::OperandCases;
use super::{Judge, Test};
use crate::section_keys::{
    ALPHA, CORRECTION, FIGURE_NUMBER, METRIC, MIN_FRACTION, OVER, PUBLISHED, WHERE,
};
use crate::selection::is_size;
use crate::{Metric, Mistakes, Selection, Values};

/// A hypothesis of a study.
#[derive(Clone)]
pub struct Claim {
    /// Identifier.
    pub id: String,
    /// The claim, as a sentence.
    pub claim: String,
    /// The test that judges it.
    pub test: &'static Test,
    metric: Metric,
    cases: Selection,
    over: String,
    published: Option<String>,
    figure_number: Option<String>,
    rules: ClaimRules,
    /// How the publication judged it.
    original_rules: Option<OriginalRules>,
}

/// Rules by which a claim is judged.
#[derive(Clone, Debug)]
struct ClaimRules {
    alpha: f64,
    correction: Correction,
    min_fraction: f64,
    judge: Arc<dyn Judge>,
    /// Values of the keys as given, for display.
    given: Values,
}

/// Rules by which a publication judged a claim. What it does not specify is as in [`ClaimRules`].
#[derive(Clone, Debug)]
struct OriginalRules {
    alpha: Option<f64>,
    correction: Option<Correction>,
    min_fraction: Option<f64>,
    judge: Arc<dyn Judge>,
    given: Values,
}

impl fmt::Debug for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.id, self.claim, self.test.name)
    }
}

impl ClaimRules {
    fn parse(table: &ClaimTable) -> Result<Self, KeyError> {
        let keys = KeyValues::new(&table.values);
        Ok(Self {
            alpha: keys.value(&ALPHA)?,
            correction: keys.value(&CORRECTION)?,
            min_fraction: keys.value(&MIN_FRACTION)?,
            judge: (table.test.parse)(&keys)?,
            given: table.values.clone(),
        })
    }
}

impl OriginalRules {
    /// Parses the rules of `table`, overridden by the values in `overrides`.
    fn parse(table: &ClaimTable, overrides: &Values) -> Result<Self, KeyError> {
        let given = table.values.with_overrides(overrides);
        let keys = KeyValues::new(overrides);
        Ok(Self {
            alpha: keys.optional(&ALPHA)?,
            correction: keys.optional(&CORRECTION)?,
            min_fraction: keys.optional(&MIN_FRACTION)?,
            judge: (table.test.parse)(&KeyValues::new(&given))?,
            given,
        })
    }

    /// Returns these rules, completed by those of the claim.
    fn with_defaults(&self, rules: &ClaimRules) -> ClaimRules {
        ClaimRules {
            alpha: self.alpha.unwrap_or(rules.alpha),
            correction: self.correction.unwrap_or(rules.correction),
            min_fraction: self.min_fraction.unwrap_or(rules.min_fraction),
            judge: Arc::clone(&self.judge),
            given: self.given.clone(),
        }
    }
}

impl Claim {
    /// Parses the keys of `table`. Returns `None`, and reports it, if one of them has no usable value.
    pub(crate) fn parse(table: &ClaimTable, mistakes: &mut Mistakes) -> Option<Self> {
        Self::from_table(table).map_err(|error| error.report(&table.values, mistakes)).ok()
    }

    fn from_table(table: &ClaimTable) -> Result<Self, KeyError> {
        let keys = KeyValues::new(&table.values);
        let original_rules =
            table.original_test.as_ref().map(|values| OriginalRules::parse(table, values));
        Ok(Self {
            id: table.id.clone(),
            claim: table.claim.clone(),
            test: table.test,
            metric: keys.optional(&METRIC)?.unwrap_or(Metric::MAIN),
            cases: keys.optional(&WHERE)?.unwrap_or_default(),
            over: keys.value(&OVER)?,
            published: keys.optional(&PUBLISHED)?,
            figure_number: keys.optional(&FIGURE_NUMBER)?,
            rules: ClaimRules::parse(table)?,
            original_rules: original_rules.transpose()?,
        })
    }

    /// Returns the parsed keys of its test.
    pub(super) fn judge(&self) -> &dyn Judge {
        self.rules.judge.as_ref()
    }

    /// Returns the metric that is compared.
    pub const fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Returns the result of the publication, verbatim.
    pub fn published(&self) -> Option<&str> {
        self.published.as_deref()
    }

    /// Returns the number of the p-value figure in the publication, if there is one.
    pub fn figure_number(&self) -> Option<&str> {
        self.figure_number.as_deref()
    }

    /// Returns the factor along which lines run.
    pub fn over(&self) -> &str {
        &self.over
    }

    /// Returns the unit of that factor: bytes for sizes, otherwise empty.
    pub fn over_unit(&self) -> &'static str {
        if is_size(self.over()) { "bytes" } else { "" }
    }

    /// Returns the significance level of the test.
    pub const fn alpha(&self) -> f64 {
        self.rules.alpha
    }

    /// Returns the same claim with another significance level.
    pub(super) fn with_alpha(&self, alpha: f64) -> Self {
        Self { rules: ClaimRules { alpha, ..self.rules.clone() }, ..self.clone() }
    }

    /// Returns the minimum share of its parts that must hold.
    pub(super) const fn min_fraction(&self) -> f64 {
        self.rules.min_fraction
    }

    /// Whether all of its parts must hold. Then support needs no correction: if the claim is false, at least one part
    /// is false, and chance supports that part with a probability of at most alpha (Berger 1982).
    pub fn needs_all(&self) -> bool {
        self.min_fraction() >= 1.0
    }

    /// Returns its correction for multiple comparisons.
    pub const fn correction(&self) -> Correction {
        self.rules.correction
    }

    /// Returns the cases to which it is restricted.
    pub(super) const fn cases(&self) -> &Selection {
        &self.cases
    }

    /// Returns the cases of the two sides, if its test compares two.
    pub(super) fn operands(&self) -> Option<&OperandCases> {
        self.rules.judge.operands()
    }

    /// Returns the values of its test's keys that its figure shows.
    pub fn figure_keys(&self) -> FigureKeys<'_> {
        self.rules.judge.figure_keys()
    }

    /// Returns the cases of both sides. For a claim without sides, returns its cases and those of its baseline.
    pub fn selections(&self) -> Vec<Selection> {
        match self.operands() {
            Some(operands) => operands.sides().map(|side| self.cases.intersection(side)).to_vec(),
            None => {
                let baseline = self.rules.judge.baseline().cloned();
                std::iter::once(self.cases.clone()).chain(baseline).collect()
            }
        }
    }

    /// Returns the word that the study file gives for `key`, for display.
    pub fn given_choice(&self, key: &str) -> Option<&'static str> {
        self.rules.given.choice(key)
    }

    /// Returns the cases that the study file gives for `key`, for display.
    pub fn given_cases(&self, key: &str) -> Option<&Selection> {
        self.rules.given.cases(key)
    }

    /// Whether its cases can include some of the matrix `name`.
    pub(crate) fn is_about(&self, name: &str) -> bool {
        let sides = self.rules.given.selections();
        let named: Vec<&Selection> = sides.filter(|side| side.has_factor("matrix")).collect();
        named.is_empty() || named.iter().any(|side| side.allows("matrix", name))
    }

    /// Returns the claim as the publication judged it, if the study specifies that.
    pub fn with_original_test(&self) -> Option<Self> {
        let rules = self.original_rules.as_ref()?.with_defaults(&self.rules);
        Some(Self { rules, original_rules: None, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::hypothesis::TESTS;
    use crate::hypothesis::test_data::{parse_study, study};
    use crate::section_keys::HYPOTHESIS;
    use crate::{Key, Requirement, ValueType};

    /// Returns the keys of a claim of `test`: those that it needs, with their examples, and `more`.
    fn keys(test: &Test, more: &str) -> String {
        let is_needed =
            |key: &&Key| key.requirement == Requirement::Required || key.name == "above";
        let needed = test.keys.iter().filter(is_needed);
        let needed: String =
            needed.map(|key| format!("{} = {}\n", key.name, key.example)).collect();
        format!("test = \"{}\"\n{needed}{more}", test.name)
    }

    fn claim(keys: &str) -> Claim {
        study(keys).hypotheses.remove(0)
    }

    /// Describes all that a claim is judged by.
    fn judged_by(claim: &Claim) -> String {
        let ClaimRules { alpha: level, correction, min_fraction: need, judge, .. } = &claim.rules;
        let Claim { metric, cases, over, .. } = claim;
        format!("{level} {correction:?} {need} {judge:?} {metric:?} {cases:?} {over}")
    }

    /// Returns the keys of a claim of `test` whose default is a value, with the default as it would be written.
    fn defaults(test: &Test) -> impl Iterator<Item = (&'static str, String)> {
        let keys = HYPOTHESIS.keys.iter().chain(test.keys);
        keys.filter_map(|key| {
            let default = key.default()?;
            let written = match key.value_type {
                ValueType::Number(..) | ValueType::Integer(..)
                    if default.parse::<f64>().is_ok() =>
                {
                    default.to_owned()
                }
                ValueType::Choice(_) => format!("\"{default}\""),
                _ if key.name == OVER.name => format!("\"{default}\""),
                _ => return None,
            };
            Some((key.name, written))
        })
    }

    /// A default that its key cannot parse is a mistake in every claim that leaves the key out.
    #[test]
    fn a_default_that_is_written_out_changes_nothing() {
        let mut checked = BTreeSet::new();
        for test in TESTS {
            let left_out = judged_by(&claim(&keys(test, "")));
            for (key, default) in defaults(test) {
                let given = claim(&keys(test, &format!("{key} = {default}\n")));
                assert_eq!(judged_by(&given), left_out, "{}: {key}", test.name);
                checked.insert(key);
            }
        }
        let all = [
            "alpha",
            "at",
            "correction",
            "levels",
            "margin",
            "max_differing",
            "min_fraction",
            "negligible",
            "of_second",
            "over",
            "rule",
            "statistic",
            "tolerance",
            "winner",
        ];
        assert_eq!(checked.into_iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn every_word_of_a_key_means_something_else() {
        for test in TESTS {
            for key in HYPOTHESIS.keys.iter().chain(test.keys) {
                let ValueType::Choice(words) = key.value_type else { continue };
                let rules_with = |word: &&str| {
                    let text = keys(test, &format!("{} = \"{word}\"\n", key.name));
                    let study =
                        parse_study(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
                    judged_by(&study.hypotheses[0])
                };
                let means: BTreeSet<String> = words.iter().map(rules_with).collect();
                assert_eq!(means.len(), words.len(), "{}: {}", test.name, key.name);
            }
        }
    }

    /// Returns a value of `key` other than its default. `None` for words, of which there is another test.
    fn other_value(key: &Key) -> Option<&'static str> {
        match key.value_type {
            ValueType::Choice(_) => None,
            ValueType::Number(..) => Some("0.07"),
            ValueType::Integer(..) => Some("5"),
            ValueType::Cases => Some("{ mechanism = \"fifo\" }"),
            _ => Some(key.example),
        }
    }

    #[test]
    fn every_optional_key_has_an_effect() {
        for test in TESTS {
            let left_out = judged_by(&claim(&keys(test, "")));
            for key in test.keys.iter().filter(|key| key.requirement != Requirement::Required) {
                let Some(value) = other_value(key) else { continue };
                let text = keys(test, "").replace("above = 1.5\n", "");
                let given = claim(&format!("{text}{} = {value}\n", key.name));
                assert_ne!(judged_by(&given), left_out, "{}: {}", test.name, key.name);
            }
        }
    }

    #[test]
    fn what_the_publication_leaves_open_is_as_in_the_claim() {
        let text = keys(TESTS[0], "alpha = 0.01\nnegligible = 0.03\n");
        let original = |beside: &str| {
            let claim = claim(&format!("{text}original_test = {{ {beside} }}\n"));
            let original = claim.with_alpha(0.002).with_original_test().expect("a judgement");
            (original.alpha(), original.correction(), judged_by(&original))
        };
        let (level, correction, by) = original("statistic = \"student\", correction = \"none\"");
        assert_eq!((level, correction), (0.002, Correction::None));
        assert!(by.contains("statistic: Student, negligible: 0.03"), "{by}");
        let (level, correction, by) = original("alpha = 0.1, first = { mechanism = \"fifo\" }");
        assert_eq!((level, correction), (0.1, Correction::Holm));
        assert!(by.contains("statistic: Wilcoxon") && by.contains("fifo"), "{by}");
    }
}
