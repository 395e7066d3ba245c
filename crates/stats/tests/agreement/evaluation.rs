//! Runs a recorded case through this crate.

use ipcperf_stats::{
    Alternative, Degenerate, Design, Equivalence, Interval, KendallMethod, Method, Ratio,
    StandardizedDifference, TestResult, Variances, Zeros, benjamini_hochberg, cliffs_delta,
    cliffs_delta_interval, describe, equivalence, hedges_g, holm, kendall, mann_whitney,
    mean_interval, needed_n, one_sample_t, paired_equivalence, paired_hedges_g, paired_ratio,
    paired_t, power, ratio_of_geometric_means, spearman, student_t, welch_t, wilcoxon,
    wilcoxon_equivalence,
};

use crate::Case;

type Computed = Result<Vec<Option<f64>>, Degenerate>;

impl Case {
    fn number(&self, option: usize) -> f64 {
        self.options[option].as_f64().unwrap()
    }

    fn word(&self, option: usize) -> &str {
        self.options[option].as_str().unwrap()
    }

    fn alternative(&self, option: usize) -> Alternative {
        match self.word(option) {
            "two-sided" => Alternative::TwoSided,
            "less" => Alternative::Less,
            "greater" => Alternative::Greater,
            other => panic!("no alternative {other}"),
        }
    }

    fn method(&self, option: usize) -> Method {
        match self.word(option) {
            "auto" => Method::Auto,
            "exact" => Method::Exact,
            "permutation" => Method::Permutation,
            "asymptotic" => Method::Normal,
            "corrected" => Method::NormalCorrected,
            other => panic!("no method {other}"),
        }
    }

    fn zeros(&self) -> Zeros {
        match self.word(1) {
            "wilcox" => Zeros::Drop,
            "pratt" => Zeros::Pratt,
            "zsplit" => Zeros::Split,
            other => panic!("no way with zeros {other}"),
        }
    }

    fn bounds(&self) -> Interval {
        Interval { low: self.number(0), high: self.number(1) }
    }

    fn variances(&self) -> Variances {
        if self.word(2) == "pooled" { Variances::Equal } else { Variances::Unequal }
    }
}

pub(crate) fn evaluate(case: &Case) -> Computed {
    let first = case.sets.first().map_or(&[][..], Vec::as_slice);
    match case.sets.get(1) {
        Some(second) => two_samples(case, first, second),
        None if case.sets.is_empty() => design_power(case),
        None => one_sample(case, first),
    }
}

fn one_sample(case: &Case, values: &[f64]) -> Computed {
    match case.what.as_str() {
        "one-sample-t" => tested(one_sample_t(values, case.number(1), case.alternative(0))),
        "wilcoxon" => tested(wilcoxon(values, case.alternative(0), case.zeros(), case.method(2))),
        "wilcoxon-tost" => equivalence_values(wilcoxon_equivalence(
            values,
            case.bounds(),
            Zeros::Drop,
            Method::Auto,
        )),
        "description" => description(values),
        "mean-interval" => {
            let interval = mean_interval(values, case.number(0))?;
            Ok(all([interval.low, interval.high]))
        }
        "holm" => corrected(holm(values)),
        "benjamini-hochberg" => corrected(benjamini_hochberg(values)),
        other => panic!("nothing called {other}"),
    }
}

fn two_samples(case: &Case, first: &[f64], second: &[f64]) -> Computed {
    match case.what.as_str() {
        "student-t" => tested(student_t(first, second, case.alternative(0))),
        "welch-t" => tested(welch_t(first, second, case.alternative(0))),
        "paired-t" => tested(paired_t(first, second, case.alternative(0))),
        "mann-whitney" => tested(mann_whitney(first, second, case.alternative(0), case.method(1))),
        "kendall" => tested(kendall(first, second, case.alternative(0), kendall_method(case))),
        "spearman" => tested(spearman(first, second, case.alternative(0))),
        "tost" => equivalence_values(equivalence(first, second, case.bounds(), case.variances())),
        "paired-tost" => equivalence_values(paired_equivalence(first, second, case.bounds())),
        "hedges" => standardized(hedges_g(first, second, case.number(0))),
        "paired-hedges" => standardized(paired_hedges_g(first, second, case.number(0))),
        "cliff" => {
            let delta = cliffs_delta(first, second).unwrap();
            let interval = cliffs_delta_interval(first, second, case.number(0))?;
            Ok(all([delta, interval.low, interval.high]))
        }
        "paired-ratio" => ratio(paired_ratio(first, second, case.number(0))),
        "ratio" => ratio(ratio_of_geometric_means(first, second, case.number(0))),
        other => panic!("nothing called {other}"),
    }
}

fn design_power(case: &Case) -> Computed {
    let paired = case.what.starts_with("paired");
    let design = if paired { Design::PairedT } else { Design::TwoSampleT };
    let (effect, alternative) = (case.number(0), case.alternative(3));
    if case.what.ends_with("needed") {
        let n = needed_n(design, effect, case.number(1), case.number(2), alternative)?;
        return Ok(all([n as f64]));
    }
    let n = usize::try_from(case.options[1].as_u64().unwrap()).unwrap();
    Ok(all([power(design, effect, n, case.number(2), alternative)?]))
}

fn kendall_method(case: &Case) -> KendallMethod {
    match case.word(1) {
        "auto" => KendallMethod::Auto,
        "exact" => KendallMethod::Exact,
        "asymptotic" => KendallMethod::Normal,
        other => panic!("no method {other}"),
    }
}

fn all<const N: usize>(values: [f64; N]) -> Vec<Option<f64>> {
    values.map(Some).to_vec()
}

fn tested(answer: Result<TestResult, Degenerate>) -> Computed {
    answer.map(|tested| all([tested.statistic, tested.p_value]))
}

fn equivalence_values(answer: Result<Equivalence, Degenerate>) -> Computed {
    answer.map(|same| all([same.p_value(), same.above.p_value, same.below.p_value]))
}

fn standardized(answer: Result<StandardizedDifference, Degenerate>) -> Computed {
    answer.map(|StandardizedDifference { g, interval, .. }| all([g, interval.low, interval.high]))
}

fn ratio(answer: Result<Ratio, Degenerate>) -> Computed {
    answer.map(|Ratio { ratio, low, high }| vec![Some(ratio), low, high])
}

fn corrected(answer: Result<Vec<f64>, Degenerate>) -> Computed {
    answer.map(|values| values.into_iter().map(Some).collect())
}

fn description(values: &[f64]) -> Computed {
    let described = describe(values)?;
    Ok(vec![
        Some(described.mean),
        described.standard_deviation,
        described.coefficient_of_variation,
        described.geometric_mean,
        Some(described.median),
        Some(described.semi_interquartile_range),
    ])
}
