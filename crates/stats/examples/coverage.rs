//! Prints `docs/coverage.md`: the coverage of intervals over simulated sets.
//!
//!     cargo run --release -p ipcperf-stats --example coverage > docs/coverage.md
//!
//! It takes minutes, and prints the same every time: the seeds are fixed.

#[path = "../tests/draws/mod.rs"]
mod draws;
#[path = "../tests/planted/mod.rs"]
mod planted;

use ipcperf_stats::{Bootstrap, autocorrelation, mean_interval, median};
use planted::{Held, KNOWN, Known, Noise, Planting, mean, of_values};

/// Number of simulated sets of values; the Monte Carlo error of a share of 95 % is 0.2 %.
const SETS: u32 = 10_000;
/// Number of simulated sets of curves, which take longer; the error is 0.7 %.
const CURVE_SETS: u32 = 1_000;
/// Number of resamples for curves; a few at the ends of an interval suffice for its coverage.
const CURVE_RESAMPLES: u32 = 400;
const COUNTS: [usize; 3] = [10, 30, 100];
/// Sizes for medians, for which figures have intervals from six values on.
const MEDIAN_COUNTS: [usize; 6] = [6, 7, 8, 10, 30, 100];
const BLOCKS: [usize; 2] = [10, 30];

fn main() {
    print!("{}", include_str!("coverage/head.md"));
    medians();
    means();
    print!("{}", include_str!("coverage/curves.md"));
    places();
    heights();
    hinges();
    print!("{}", include_str!("coverage/noise.md"));
    white_noise();
}

/// Formats a share, followed by a width.
fn cell(held: &Held) -> String {
    format!("{:.1} %, {:.2}", 100.0 * held.share, held.width)
}

/// Prints a row for each of `rows`, which are computed in parallel.
fn print_rows<T: Sync>(rows: &[T], line: impl Fn(&T) -> String + Sync) {
    let lines: Vec<String> = std::thread::scope(|scope| {
        let makers: Vec<_> = rows.iter().map(|row| scope.spawn(|| line(row))).collect();
        makers.into_iter().map(|maker| maker.join().expect("a simulation panicked")).collect()
    });
    for line in lines {
        println!("| {line} |");
    }
}

fn of_known(counts: &[usize], line: impl Fn(&Known, usize) -> String + Sync) {
    for known in &KNOWN {
        print_rows(counts, |&n| format!("{} | {n} | {}", known.name, line(known, n)));
    }
}

fn medians() {
    println!("| values | n | order statistics | percentile bootstrap |\n|---|---|---|---|");
    let bootstrap = Bootstrap { resamples: 1000, ..Bootstrap::default() };
    of_known(&MEDIAN_COUNTS, |known, n| {
        let order = of_values(SETS, n, known, known.median, |v| bootstrap.median(v));
        let percentile = of_values(SETS, n, known, known.median, |values| {
            bootstrap.percentile(values, |drawn| median(drawn).unwrap_or(f64::NAN))
        });
        format!("{} | {}", cell(&order), cell(&percentile))
    });
}

fn means() {
    print!("{}", include_str!("coverage/means.md"));
    println!("| values | n | Student's t | percentile bootstrap | BCa |\n|---|---|---|---|---|");
    let bootstrap = Bootstrap { resamples: 1000, ..Bootstrap::default() };
    of_known(&COUNTS, |known, n| {
        let percentile =
            of_values(SETS, n, known, known.mean, |values| bootstrap.percentile(values, mean));
        let bca = of_values(SETS, n, known, known.mean, |values| bootstrap.bca(values, mean));
        let t = of_values(SETS, n, known, known.mean, |values| mean_interval(values, 0.95).ok());
        format!("{} | {} | {}", cell(&t), cell(&percentile), cell(&bca))
    });
}

fn of_curves(line: impl Fn(&Planting) -> String + Sync) {
    for noise in Noise::ALL {
        print_rows(&BLOCKS, |&blocks| {
            let bootstrap = Bootstrap { resamples: CURVE_RESAMPLES, ..Bootstrap::default() };
            let planting = Planting { sets: CURVE_SETS, blocks, noise, bootstrap };
            format!("{} | {blocks} | {}", noise.name(), line(&planting))
        });
    }
}

fn places() {
    println!(
        "| noise | blocks | crossing, steep | crossing, shallow | peak, clear | peak, ambiguous | hinge |"
    );
    println!("|---|---|---|---|---|---|---|");
    of_curves(|planting| {
        let all = [
            planting.crossing(13.3, 0.2),
            planting.crossing(13.3, 0.04),
            planting.peak(14.0, 0.05),
            planting.peak(14.3, 0.02),
            planting.hinge(14.3),
        ];
        all.iter().map(cell).collect::<Vec<_>>().join(" | ")
    });
}

fn heights() {
    println!("\n## Slopes and plateau heights\n");
    println!(
        "The curves for the slope have a true slope of 0.3. `slope, median` and `slope, mean` are the median\n\
         and the mean of the slopes of the blocks. The curves for the plateau rise up to the level 2^14, and\n\
         have a true height of 1 from there on. The plateau that `Curve::plateau` finds is the range of the\n\
         highest levels at which all medians are within 10 % of the same height. Widths are absolute: an\n\
         interval of a slope from 0.298 to 0.302 has a width of 0.004.\n"
    );
    println!("| noise | blocks | slope, median | slope, mean | height of a plateau |");
    println!("|---|---|---|---|---|");
    of_curves(|planting| {
        let fine = |held: &Held| format!("{:.1} %, {:.4}", 100.0 * held.share, held.width);
        let (of_median, of_mean) = planting.slope();
        format!("{} | {} | {}", fine(&of_median), fine(&of_mean), fine(&planting.plateau()))
    });
}

fn hinges() {
    println!("\n## Hinges on straight lines\n");
    println!(
        "A *hinge* (a change of slope) counts as found if the p-value that `change_point` returns is below\n\
         5 %. The table shows how often a hinge is found:\n\n\
         - on straight lines with a slope of 0.3, where each hinge is a false alarm (limit: 5 %)\n\
         - on curves whose slope is 0.3 up to 2^14.3, and 0 above it\n"
    );
    println!(
        "| noise | blocks | straight lines: hinges found | curves with a hinge: hinges found |"
    );
    println!("|---|---|---|---|");
    of_curves(|planting| {
        let (wrong, right) = (planting.false_hinges(), planting.hinges_found(14.3));
        format!("{:.1} % | {:.1} %", 100.0 * wrong, 100.0 * right)
    });
}

fn white_noise() {
    println!("| n | lags tested | lag 1 outside the bound | Ljung-Box p below 5 % |");
    println!("|---|---|---|---|");
    for n in COUNTS {
        for lags in [1, 5] {
            let found = || {
                let mut random = draws::seeded();
                move || {
                    let values: Vec<f64> = (0..n).map(|_| draws::normal(&mut random)).collect();
                    autocorrelation(&values, lags).unwrap()
                }
            };
            let mut next = found();
            let beyond = draws::share(SETS, || {
                let found = next();
                found.by_lag[0].abs() > found.bound
            });
            let mut next = found();
            let unlikely = draws::share(SETS, || next().ljung_box.p_value < 0.05);
            println!("| {n} | {lags} | {:.1} % | {:.1} % |", 100.0 * beyond, 100.0 * unlikely);
        }
    }
}
