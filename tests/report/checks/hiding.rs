//! Legend check boxes: clearing one hides its series in that figure only, both visually and for the pointer; ticking it
//! shows the series again.

use serde_json::{Value, json};

use super::{Spot, pointer};
use crate::page::Page;

/// Script that returns the first box of each figure: the figure, the series, and a panel in which the series has
/// points.
const BOXES: &str = "
    return [...document.querySelectorAll('figure.chart')].flatMap(figure => {
        const box = figure.querySelector('.legend input[data-series]');
        const holds = panel => pointsOf(panel).some(point => seriesOf(point) === box.dataset.series);
        const panel = box ? panels.findIndex(panel => figure.contains(panel) && holds(panel)) : -1;
        return panel < 0 ? [] : [{ figure: figure.id, series: box.dataset.series, panel }];
    });
";
/// Script that returns where to click on the box.
const BOX: &str = "
    const figure = document.getElementById(arguments[0]);
    const box = [...figure.querySelectorAll('input')].find(box => box.dataset.series === arguments[1]);
    box.scrollIntoView({ block: 'center', behavior: 'instant' });
    const { x, y } = centreOf(box);
    return [x, y];
";
/// Script that returns parts of series that are wrongly visible or hidden; `arguments[2]` says whether the series
/// should be visible.
const MISPLACED: &str = "
    const [figure, series, wanted] = arguments;
    const parts = [...document.querySelectorAll('g.series .point, g.series .line, g.series .band')];
    const isIts = part => part.closest('figure').id === figure && part.closest('g.series').dataset.series === series;
    const wrong = parts.filter(part => isSeen(part) !== (wanted || !isIts(part)));
    return [...new Set(wrong.map(part => {
        const state = isSeen(part) ? 'is seen' : 'is not seen';
        return `${part.getAttribute('class')} of ${part.closest('g.series').dataset.series} in ${nameOf(part.closest('svg'))} ${state}`;
    }))];
";

/// A box, and the panel in which its series is drawn.
struct SeriesBox {
    figure: String,
    series: String,
    panel: usize,
}

/// Tests the first box of every figure.
pub(super) fn hiding(page: &Page) -> Vec<String> {
    let boxes = page.ask(BOXES, &[]);
    let boxes: Vec<SeriesBox> =
        boxes.as_array().into_iter().flatten().filter_map(SeriesBox::read).collect();
    if boxes.is_empty() {
        return vec!["no box for any series".into()];
    }
    boxes.iter().flat_map(|ticked| ticked.hide_and_show(page)).collect()
}

impl SeriesBox {
    fn read(value: &Value) -> Option<Self> {
        Some(Self {
            figure: value["figure"].as_str()?.to_owned(),
            series: value["series"].as_str()?.to_owned(),
            panel: usize::try_from(value["panel"].as_u64()?).ok()?,
        })
    }

    fn hide_and_show(&self, page: &Page) -> Vec<String> {
        let Some(spot) = Spot::find(page, self.panel, Some(&self.series)) else {
            return vec![format!("{}: no point of {}", self.figure, self.series)];
        };
        self.click(page);
        let mut offenders = self.misplaced(page, "unticked", json!(false));
        offenders.extend(self.still_shown(page, &spot));
        self.click(page);
        offenders.extend(self.misplaced(page, "ticked again", json!(true)));
        scroll_to(page, &spot);
        offenders.extend(pointer::shows(page, &spot).err());
        pointer::leave(page);
        offenders
    }

    fn click(&self, page: &Page) {
        let at = page.ask(BOX, &[json!(self.figure), json!(self.series)]);
        let at = serde_json::from_value(at).expect("a place to click on");
        page.browser.click(at);
    }

    fn misplaced(&self, page: &Page, state: &str, wanted: Value) -> Vec<String> {
        let found = page.find(MISPLACED, &[json!(self.figure), json!(self.series), wanted]);
        let box_of = format!("{}, box of {} {state}", self.figure, self.series);
        found.into_iter().map(|one| format!("{box_of}: {one}")).collect()
    }

    /// Returns an offence if the pointer still finds a hidden point.
    fn still_shown(&self, page: &Page, spot: &Spot) -> Option<String> {
        pointer::leave(page);
        scroll_to(page, spot);
        page.browser.point_at(spot.at);
        let said = super::readout(page);
        let own = spot.accepted.first().filter(|_| spot.accepted.len() == 1)?;
        let is_told = said.is_some_and(|said| said.contains(own.as_str()));
        is_told.then(|| format!("{}: {own:?} is hidden, and told", spot.panel))
    }
}

fn scroll_to(page: &Page, spot: &Spot) {
    page.ask(
        "scrollTo({ left: arguments[0][0], top: arguments[0][1], behavior: 'instant' })",
        std::slice::from_ref(&spot.scrolled),
    );
}
