//! An HTML page that is open in a browser.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::browser::{Browser, Medium, Scheme, Screen};
use crate::checks::Check;

/// Start of all scripts of checks.
const COMMON: &str = include_str!("checks/common.js");

/// Screen and colour scheme that a page is viewed with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) screen: Screen,
    pub(crate) scheme: Scheme,
}

/// All views in which a page must look right.
pub(crate) const VIEWS: [View; 4] = [
    View { screen: Screen::Desktop, scheme: Scheme::Light },
    View { screen: Screen::Desktop, scheme: Scheme::Dark },
    View { screen: Screen::Phone, scheme: Scheme::Light },
    View { screen: Screen::Phone, scheme: Scheme::Dark },
];

/// A page, its browser and its folder.
pub(crate) struct Page {
    pub(crate) browser: Browser,
    folder: TempDir,
}

impl View {
    pub(crate) fn name(self) -> String {
        format!("{:?}-{:?}", self.screen, self.scheme).to_lowercase()
    }
}

impl Page {
    /// Opens `html` in a new browser; if there is none, reports that `what` was skipped.
    pub(crate) fn open(what: &str, html: &str) -> Option<Self> {
        let browser = Browser::start(what)?;
        let folder = tempfile::tempdir().expect("a folder for the page");
        let page = Self { browser, folder };
        page.turn_to(html);
        Some(page)
    }

    /// Replaces the page by `html`, in the first view.
    pub(crate) fn turn_to(&self, html: &str) {
        let path = self.path("report.html");
        fs::write(&path, html).expect("a file for the page");
        self.look(VIEWS[0]);
        self.browser.open(&path);
    }

    /// Returns the path of `name` in the folder of the page.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Changes the view.
    pub(crate) fn look(&self, view: View) {
        self.browser.show_on(view.screen);
        self.browser.style_for(view.scheme, Medium::Screen);
    }

    /// Returns the result of `script`, which may use the common part of all scripts.
    pub(crate) fn ask(&self, script: &str, arguments: &[Value]) -> Value {
        self.browser.execute(&format!("{COMMON}\n{script}"), arguments)
    }

    /// Returns the violations that `script` finds.
    pub(crate) fn find(&self, script: &str, arguments: &[Value]) -> Vec<String> {
        let found = self.ask(script, arguments);
        let found = found.as_array().expect("a list of offenders");
        found.iter().map(|one| one.as_str().unwrap_or("?").to_owned()).collect()
    }

    /// Returns the violations that `script`, which is given the window width, finds in any view.
    pub(crate) fn find_in_views(&self, script: &str) -> Vec<String> {
        let in_view = |view: View| {
            self.look(view);
            let found = self.find(script, &[view.screen.width().into()]);
            found.into_iter().map(move |one| format!("{}: {one}", view.name()))
        };
        let found = VIEWS.into_iter().flat_map(in_view).collect();
        self.look(VIEWS[0]);
        found
    }

    pub(crate) fn panels(&self) -> usize {
        let panels = self.ask("return panels.length", &[]);
        usize::try_from(panels.as_u64().expect("a number of panels")).expect("not that many")
    }

    /// Asserts that the page passes all `checks`, and lists all violations.
    pub(crate) fn assert_keeps(&self, checks: &[&[Check]]) {
        let broken: Vec<String> =
            checks.iter().copied().flatten().flat_map(|c| c.violations(self)).collect();
        assert!(broken.is_empty(), "{} offenders:\n{}", broken.len(), broken.join("\n"));
    }

    /// Keeps a screenshot of every view, if requested.
    pub(crate) fn keep_pictures(&self, name: &str) {
        let Some(folder) = pictures() else { return };
        let page = fs::read(self.path("report.html")).expect("the page");
        keep(&folder, &format!("{name}.html"), &page);
        for view in VIEWS {
            self.look(view);
            keep(
                &folder,
                &format!("{name}-{}.png", view.name()),
                &self.browser.screenshot(view.screen),
            );
        }
        self.look(VIEWS[0]);
        keep(&folder, &format!("{name}.pdf"), &self.browser.print());
    }
}

/// Returns the folder for screenshots; a relative path is resolved from the root of the repository.
fn pictures() -> Option<PathBuf> {
    let folder = std::env::var_os("IPCPERF_SCREENSHOTS").filter(|folder| !folder.is_empty())?;
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder))
}

fn keep(folder: &Path, name: &str, contents: &[u8]) {
    fs::create_dir_all(folder).expect("a folder for pictures");
    fs::write(folder.join(name), contents).expect("a picture");
}
