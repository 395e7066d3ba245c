//! Claims of a study.

use std::fmt;
use std::sync::Arc;

use super::claim_table::ClaimTable;
use super::key_values::{KeyError, KeyValues};
use super::operand_cases::OperandCases;
use super::outcome::Correction;
use super::picture::PictureKeys;
use super::{Judge, Test};
use crate::sections::{CORRECTION, FIGURE_NUMBER, LEVEL, METRIC, NEED, OVER, PUBLISHED, WHERE};
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
    figure: Option<String>,
    rules: ClaimRules,
    /// How the publication judged it.
    beside: Option<OriginalRules>,
}

/// Rules by which a claim is judged.
#[derive(Clone, Debug)]
struct ClaimRules {
    level: f64,
    correction: Correction,
    need: f64,
    judge: Arc<dyn Judge>,
    /// Values of the keys as given, for display.
    given: Values,
}

/// Rules by which a publication judged a claim. What it does not specify is as in [`ClaimRules`].
#[derive(Clone, Debug)]
struct OriginalRules {
    level: Option<f64>,
    correction: Option<Correction>,
    need: Option<f64>,
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
            level: keys.value(&LEVEL)?,
            correction: keys.value(&CORRECTION)?,
            need: keys.value(&NEED)?,
            judge: (table.test.parse)(&keys)?,
            given: table.values.clone(),
        })
    }
}

impl OriginalRules {
    /// Parses the rules of `table`, overridden by the values in `beside`.
    fn parse(table: &ClaimTable, beside: &Values) -> Result<Self, KeyError> {
        let given = table.values.with(beside);
        let own = KeyValues::new(beside);
        Ok(Self {
            level: own.optional(&LEVEL)?,
            correction: own.optional(&CORRECTION)?,
            need: own.optional(&NEED)?,
            judge: (table.test.parse)(&KeyValues::new(&given))?,
            given,
        })
    }

    /// Returns these rules, completed by those of the claim.
    fn or(&self, rules: &ClaimRules) -> ClaimRules {
        ClaimRules {
            level: self.level.unwrap_or(rules.level),
            correction: self.correction.unwrap_or(rules.correction),
            need: self.need.unwrap_or(rules.need),
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
        let beside = table.beside.as_ref().map(|beside| OriginalRules::parse(table, beside));
        Ok(Self {
            id: table.id.clone(),
            claim: table.claim.clone(),
            test: table.test,
            metric: keys.optional(&METRIC)?.unwrap_or(Metric::MAIN),
            cases: keys.optional(&WHERE)?.unwrap_or_default(),
            over: keys.value(&OVER)?,
            published: keys.optional(&PUBLISHED)?,
            figure: keys.optional(&FIGURE_NUMBER)?,
            rules: ClaimRules::parse(table)?,
            beside: beside.transpose()?,
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
    pub fn figure(&self) -> Option<&str> {
        self.figure.as_deref()
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
    pub const fn level(&self) -> f64 {
        self.rules.level
    }

    /// Returns the same claim with another significance level.
    pub(super) fn at_level(&self, level: f64) -> Self {
        Self { rules: ClaimRules { level, ..self.rules.clone() }, ..self.clone() }
    }

    /// Returns the minimum share of its parts that must hold.
    pub(super) const fn need(&self) -> f64 {
        self.rules.need
    }

    /// Whether all of its parts must hold. Then no correction is needed: chance would have to cause a false positive in
    /// every part.
    pub fn needs_all(&self) -> bool {
        self.need() >= 1.0
    }

    /// Returns the correction of its p-values.
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
    pub fn picture_keys(&self) -> PictureKeys<'_> {
        self.rules.judge.picture_keys()
    }

    /// Returns the cases of both sides. For a claim without sides, returns its cases and those of its baseline.
    pub fn selections(&self) -> Vec<Selection> {
        match self.operands() {
            Some(operands) => operands.sides().map(|side| self.cases.and(side)).to_vec(),
            None => {
                let baseline = self.rules.judge.baseline().cloned();
                std::iter::once(self.cases.clone()).chain(baseline).collect()
            }
        }
    }

    /// Returns the word that the study file gives for `key`, for display.
    pub fn given_word(&self, key: &str) -> Option<&'static str> {
        self.rules.given.word(key)
    }

    /// Returns the cases that the study file gives for `key`, for display.
    pub fn given_cases(&self, key: &str) -> Option<&Selection> {
        self.rules.given.cases(key)
    }

    /// Whether its cases can include some of the matrix `name`.
    pub(crate) fn is_about(&self, name: &str) -> bool {
        let sides = self.rules.given.selections();
        let named: Vec<&Selection> = sides.filter(|side| side.has("matrix")).collect();
        named.is_empty() || named.iter().any(|side| side.allows("matrix", name))
    }

    /// Returns the claim as the publication judged it, if the study specifies that.
    pub fn beside(&self) -> Option<Self> {
        let rules = self.beside.as_ref()?.or(&self.rules);
        Some(Self { rules, beside: None, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::hypothesis::TESTS;
    use crate::hypothesis::test_data::{read, study};
    use crate::sections::HYPOTHESIS;
    use crate::{Key, Need, Takes};

    /// Returns the keys of a claim of `test`: those that it needs, with their examples, and `more`.
    fn keys(test: &Test, more: &str) -> String {
        let is_needed = |key: &&Key| key.need == Need::Required || key.name == "above";
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
        let ClaimRules { level, correction, need, judge, .. } = &claim.rules;
        let Claim { metric, cases, over, .. } = claim;
        format!("{level} {correction:?} {need} {judge:?} {metric:?} {cases:?} {over}")
    }

    /// Returns the keys of a claim of `test` whose default is a value, with the default as it would be written.
    fn defaults(test: &Test) -> impl Iterator<Item = (&'static str, String)> {
        let keys = HYPOTHESIS.keys.iter().chain(test.keys);
        keys.filter_map(|key| {
            let default = key.default()?;
            let written = match key.takes {
                Takes::Number(..) | Takes::Whole(..) if default.parse::<f64>().is_ok() => {
                    default.to_owned()
                }
                Takes::OneOf(_) => format!("\"{default}\""),
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
            "at",
            "correction",
            "level",
            "levels",
            "margin",
            "most",
            "need",
            "negligible",
            "of_second",
            "over",
            "rule",
            "statistic",
            "tolerance",
            "who",
        ];
        assert_eq!(checked.into_iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn every_word_of_a_key_means_something_else() {
        for test in TESTS {
            for key in HYPOTHESIS.keys.iter().chain(test.keys) {
                let Takes::OneOf(words) = key.takes else { continue };
                let one = |word: &&str| {
                    let text = keys(test, &format!("{} = \"{word}\"\n", key.name));
                    let study = read(&text).unwrap_or_else(|mistakes| panic!("{mistakes:?}"));
                    judged_by(&study.hypotheses[0])
                };
                let means: BTreeSet<String> = words.iter().map(one).collect();
                assert_eq!(means.len(), words.len(), "{}: {}", test.name, key.name);
            }
        }
    }

    /// Returns a value of `key` other than its default. `None` for words, of which there is another test.
    fn other_value(key: &Key) -> Option<&'static str> {
        match key.takes {
            Takes::OneOf(_) => None,
            Takes::Number(..) => Some("0.07"),
            Takes::Whole(..) => Some("5"),
            Takes::Cases => Some("{ mechanism = \"fifo\" }"),
            _ => Some(key.example),
        }
    }

    #[test]
    fn every_optional_key_has_an_effect() {
        for test in TESTS {
            let left_out = judged_by(&claim(&keys(test, "")));
            for key in test.keys.iter().filter(|key| key.need != Need::Required) {
                let Some(value) = other_value(key) else { continue };
                let text = keys(test, "").replace("above = 1.5\n", "");
                let given = claim(&format!("{text}{} = {value}\n", key.name));
                assert_ne!(judged_by(&given), left_out, "{}: {}", test.name, key.name);
            }
        }
    }

    #[test]
    fn what_the_publication_leaves_open_is_as_in_the_claim() {
        let text = keys(TESTS[0], "level = 0.01\nnegligible = 0.03\n");
        let original = |beside: &str| {
            let claim = claim(&format!("{text}beside = {{ {beside} }}\n"));
            let original = claim.at_level(0.002).beside().expect("a judgement");
            (original.level(), original.correction(), judged_by(&original))
        };
        let (level, correction, by) = original("statistic = \"student\", correction = \"none\"");
        assert_eq!((level, correction), (0.002, Correction::None));
        assert!(by.contains("statistic: Student, negligible: 0.03"), "{by}");
        let (level, correction, by) = original("level = 0.1, first = { mechanism = \"fifo\" }");
        assert_eq!((level, correction), (0.1, Correction::Holm));
        assert!(by.contains("statistic: Wilcoxon") && by.contains("fifo"), "{by}");
    }
}
