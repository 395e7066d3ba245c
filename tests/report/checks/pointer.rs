//! Pointing at a point shows its text, only while it is pointed at.

use std::time::{Duration, Instant};

use super::{Spot, name_of, readout};
use crate::page::Page;

/// Position outside all figures.
const EMPTY_POSITION: (f64, f64) = (1.0, 1.0);
/// Time limit; the readout may appear and disappear with a delay.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tests one point of every panel.
pub(super) fn hover(page: &Page) -> Vec<String> {
    (0..page.panels()).flat_map(|panel| hover_in(page, panel)).collect()
}

fn hover_in(page: &Page, panel: usize) -> Vec<String> {
    let Some(spot) = Spot::find(page, panel, None) else {
        return vec![format!("{}: no point to point at", name_of(page, panel))];
    };
    let mut offenders = shows(page, &spot).err().into_iter().collect::<Vec<_>>();
    page.browser.point_at(EMPTY_POSITION);
    if let Err(said) = becomes(page, |said| said.is_none()) {
        offenders.push(format!("{}: stays when left: {said:?}", spot.panel));
    }
    offenders
}

/// Points at `spot`; any other text than that of its points is an offence.
pub(super) fn shows(page: &Page, spot: &Spot) -> Result<(), String> {
    page.browser.point_at(spot.at);
    let answer = becomes(page, |said| spot.is_shown_by(said));
    answer.map_err(|said| format!("{}: {:?} is told as {said:?}", spot.panel, spot.accepted))
}

/// Moves the pointer away from all figures.
pub(super) fn leave(page: &Page) {
    page.browser.point_at(EMPTY_POSITION);
}

/// Waits until `wanted` accepts the readout; otherwise returns the readout.
pub(super) fn becomes(
    page: &Page,
    wanted: impl Fn(Option<&str>) -> bool,
) -> Result<(), Option<String>> {
    let end = Instant::now() + PATIENCE;
    loop {
        let said = readout(page);
        if wanted(said.as_deref()) {
            return Ok(());
        }
        if Instant::now() > end {
            return Err(said);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
