//! Statistics for ipcperf: no input or output, no clock, no unsafe code, and no randomness except from the given seed.

#![forbid(unsafe_code)]

mod autocorrelation;
mod block_bootstrap;
mod bootstrap;
mod chebyshev;
mod correction;
mod curve;
mod degenerate;
mod density;
mod description;
mod dip;
mod effect;
mod equivalence;
mod hedges;
mod kendall;
mod mann_whitney;
mod modality;
mod moments;
mod normal;
mod power;
mod quantile;
mod ranks;
mod ratio;
mod root;
mod spearman;
mod spread;
mod steadiness;
mod student;
mod test_result;
mod trend;
mod wilcoxon;
mod wilson;

pub use autocorrelation::{Autocorrelation, LjungBox, autocorrelation};
pub use block_bootstrap::BlockInterval;
pub use bootstrap::{Bootstrap, Interval};
pub use chebyshev::{chebyshev, chebyshev_of_sample, chebyshev_quantile, quantile_bounds};
pub use correction::{benjamini_hochberg, holm};
pub use curve::{
    BlockSelection, ChangePoint, Course, Crossing, CrossingDirection, CrossingPoint, Curve,
    CurveError, CurveStatisticError, Inflection, LastingCrossing, LevelShape, LevelValue,
    LinearSlope, LocatedSlope, OpenInterval, PairedMeans, Peak, Plateau, Scalability, Slope,
    crossing, geometric_means, shapes,
};
pub use degenerate::Degenerate;
pub use description::{Description, describe, geometric_mean, mean_interval};
pub use dip::{Dip, dip_test};
pub use effect::{cliffs_delta, cliffs_delta_interval};
pub use equivalence::{
    Equivalence, Variances, equivalence, paired_equivalence, wilcoxon_equivalence,
};
pub use hedges::{StandardizedDifference, hedges_g, paired_hedges_g};
pub use kendall::{KendallMethod, kendall};
pub use mann_whitney::mann_whitney;
pub use modality::{Mode, modes};
pub use normal::normal_cdf;
pub use power::{Design, needed_n, power};
pub use quantile::{QuantileType, Quartiles, quantile, quantile_of_type, quartiles};
pub use ratio::{Ratio, paired_ratio, ratio_of_geometric_means, ratio_of_medians};
pub use spearman::spearman;
pub use spread::{interquartile_range, median, median_absolute_deviation};
pub use steadiness::{Steadiness, steadiness, warm_up};
pub use student::{one_sample_t, paired_t, student_t, welch_t};
pub use test_result::{Alternative, Method, NullDistribution, TestResult};
pub use trend::{Trend, trend};
pub use wilcoxon::{Zeros, rank_biserial, wilcoxon};
pub use wilson::wilson;
