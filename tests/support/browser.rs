//! A real browser, Chromium without a window, controlled over W3C WebDriver.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::chromedriver::{self, Chromedriver};
use crate::skip::skip;

/// Flags of Chromium. It ends with chromedriver, because their pipe breaks.
const CM_PER_INCH: f64 = 2.54;
const FLAGS: [&str; 11] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-breakpad",
    "--remote-debugging-pipe",
];

/// Maximum height in CSS pixels: at two device pixels each, taller screenshots do not fit into one texture.
const TALLEST_PICTURE_PX: u64 = 8_000;

/// A browser session, ended when dropped.
pub(crate) struct Browser {
    driver: Chromedriver,
    session: String,
}

/// Screen size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Screen {
    Desktop,
    Phone,
}

/// Preferred colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Light,
    Dark,
}

/// CSS media type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    Screen,
    Print,
}

/// Keys, with their WebDriver code points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Key {
    Tab = 0xE004,
    Escape = 0xE00C,
    Left = 0xE012,
    Up = 0xE013,
    Right = 0xE014,
    Down = 0xE015,
}

impl Screen {
    /// Returns the width in CSS pixels.
    pub(crate) fn width(self) -> u32 {
        match self {
            Self::Desktop => 1280,
            Self::Phone => 390,
        }
    }

    fn metrics(self) -> Value {
        let (height, scale) = match self {
            Self::Desktop => (900, 1),
            Self::Phone => (844, 2),
        };
        let mobile = self == Self::Phone;
        json!({"width": self.width(), "height": height, "deviceScaleFactor": scale, "mobile": mobile})
    }
}

impl Key {
    fn code(self) -> String {
        char::from_u32(self as u32).map(String::from).unwrap_or_default()
    }
}

impl Browser {
    /// Starts a browser; if there is none, reports that `what` was skipped.
    pub(crate) fn start(what: &str) -> Option<Self> {
        if let Some(program) = chromedriver::missing() {
            skip(what, &format!("no {program} here"));
            return None;
        }
        let driver = Chromedriver::start();
        let answer = driver.post("session", &capabilities(&driver));
        let session = answer["sessionId"].as_str().expect("a session").to_owned();
        let browser = Self { driver, session };
        browser.show_on(Screen::Desktop);
        Some(browser)
    }

    /// Returns the folder for all files of the browser.
    pub(crate) fn folder(&self) -> &Path {
        self.driver.folder()
    }

    /// Opens the file at `path` and discards earlier log entries.
    pub(crate) fn open(&self, path: &Path) {
        self.console();
        self.requests();
        self.post("url", &json!({"url": format!("file://{}", path.display())}));
    }

    /// Runs the function body `script` in the page with `arguments` and returns its result.
    pub(crate) fn execute(&self, script: &str, arguments: &[Value]) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": arguments}))
    }

    /// Resizes the page for `screen`.
    pub(crate) fn show_on(&self, screen: Screen) {
        self.devtools("Emulation.setDeviceMetricsOverride", &screen.metrics());
    }

    /// Selects styles for the colour scheme `scheme` and the media type `medium`.
    pub(crate) fn style_for(&self, scheme: Scheme, medium: Medium) {
        let preferred = if scheme == Scheme::Dark { "dark" } else { "light" };
        // The empty string resets the emulation: "screen" would apply its styles in print too.
        let media = if medium == Medium::Print { "print" } else { "" };
        let features = json!([{"name": "prefers-color-scheme", "value": preferred}]);
        let parameters = json!({"media": media, "features": features});
        self.devtools("Emulation.setEmulatedMedia", &parameters);
    }

    /// Moves the pointer to a position in the window, in CSS pixels.
    pub(crate) fn point_at(&self, (x, y): (f64, f64)) {
        self.act_with_pointer(&json!([move_to(x, y)]));
    }

    /// Moves the pointer to a position in the window and clicks.
    pub(crate) fn click(&self, (x, y): (f64, f64)) {
        let down = json!({"type": "pointerDown", "button": 0});
        let up = json!({"type": "pointerUp", "button": 0});
        self.act_with_pointer(&json!([move_to(x, y), down, up]));
    }

    /// Presses and releases `key` the given number of `times`.
    pub(crate) fn press(&self, key: Key, times: usize) {
        let stroke =
            ["keyDown", "keyUp"].map(|action| json!({"type": action, "value": key.code()}));
        let strokes: Vec<Value> = (0..times).flat_map(|_| stroke.clone()).collect();
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": strokes});
        self.post("actions", &json!({"actions": [keyboard]}));
    }

    /// Returns a PNG of the whole page, in a window of `screen` that is as tall as the page: content below the window
    /// might not be painted.
    pub(crate) fn screenshot(&self, screen: Screen) -> Vec<u8> {
        self.show_on(screen);
        let layout = self.devtools("Page.getLayoutMetrics", &json!({}));
        let height = layout["cssContentSize"]["height"].as_u64().expect("a height");
        let mut metrics = screen.metrics();
        metrics["height"] = height.min(TALLEST_PICTURE_PX).into();
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
        let picture = decoded(&self.devtools("Page.captureScreenshot", &json!({}))["data"]);
        self.show_on(screen);
        picture
    }

    /// Returns the page as a PDF on A4 with margins of 1 cm and with its background colours.
    ///
    /// Printed by DevTools: WebDriver's own command is given up after 10 s, however busy the machine is.
    pub(crate) fn print(&self) -> Vec<u8> {
        let margin = 1.0 / CM_PER_INCH;
        let page = json!({
            "printBackground": true,
            "paperWidth": 21.0 / CM_PER_INCH,
            "paperHeight": 29.7 / CM_PER_INCH,
            "marginTop": margin,
            "marginBottom": margin,
            "marginLeft": margin,
            "marginRight": margin,
        });
        decoded(&self.devtools("Page.printToPDF", &page)["data"])
    }

    /// Returns console messages since the last call, including uncaught errors.
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.log("browser");
        entries.iter().map(|entry| format!("{}: {}", entry["level"], entry["message"])).collect()
    }

    /// Returns requests since the last call.
    pub(crate) fn requests(&self) -> Vec<String> {
        let entries = self.log("performance");
        let texts = entries.iter().filter_map(|entry| entry["message"].as_str());
        let events = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
        events.filter_map(|event| requested(&event["message"])).collect()
    }

    /// Returns the address of the current page.
    pub(crate) fn address(&self) -> String {
        self.execute("return document.URL", &[]).as_str().expect("an address").to_owned()
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.post("se/log", &json!({"type": kind}));
        entries.as_array().expect("entries of a log").clone()
    }

    fn act_with_pointer(&self, actions: &Value) {
        let mouse = json!({"type": "pointer", "id": "mouse", "actions": actions});
        self.post("actions", &json!({"actions": [mouse]}));
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    fn post(&self, command: &str, body: &Value) -> Value {
        self.driver.post(&format!("session/{}/{command}", self.session), body)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.driver.delete(&format!("session/{}", self.session));
    }
}

fn capabilities(driver: &Chromedriver) -> Value {
    let profile = format!("--user-data-dir={}", driver.folder().join("profile").display());
    let flags: Vec<String> = FLAGS.map(str::to_owned).into_iter().chain([profile]).collect();
    let binary = chromedriver::find("chromium");
    let wanted = json!({
        "goog:chromeOptions": {"binary": binary, "args": flags},
        "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        "unhandledPromptBehavior": "dismiss",
        // Milliseconds. The default of half a minute is too short for a large page on a busy machine.
        "timeouts": {"script": 600_000, "pageLoad": 600_000},
    });
    json!({"capabilities": {"alwaysMatch": wanted}})
}

fn move_to(x: f64, y: f64) -> Value {
    json!({"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport"})
}

/// Returns the address requested by a network event; `None` for other events.
fn requested(event: &Value) -> Option<String> {
    let asks = event["method"] == "Network.requestWillBeSent";
    asks.then(|| event["params"]["request"]["url"].as_str().map(str::to_owned)).flatten()
}

fn decoded(base64: &Value) -> Vec<u8> {
    STANDARD.decode(base64.as_str().expect("base64")).expect("base64")
}
