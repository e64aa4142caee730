//! The page in a real browser: charts are drawn, nothing fails, nothing is fetched.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{analyses, html, troubled};
use iotax_analyze::Analysis;
use iotax_record::Experiment;
use iotax_report::{SearchResult, search};
use iotax_testing::{find_program, needs};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The browser, or `None` after saying loudly that the test was skipped.
fn chromium() -> Option<PathBuf> {
    let found = NAMES.iter().find_map(|name| find_program(name));
    needs(found.is_some(), "chromium (apt-get install chromium)").then_some(found?)
}

/// What a browser made of a page.
struct Visit {
    dom: String,
    /// Every URL it asked the network for.
    requests: Vec<String>,
}

fn visit(browser: &Path, page: &str, width: u32) -> Visit {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("report.html");
    let log = dir.path().join("net.json");
    std::fs::write(&file, page).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--disable-extensions", "--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", dir.path().join("profile").display()))
        .arg(format!("--log-net-log={}", log.display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Visit { dom: String::from_utf8(output.stdout).unwrap(), requests: requests(&log) }
}

/// URLs of the page's requests. The browser's own calls home have no place here: a page under
/// `file:` has the null origin as initiator, they have none.
fn requests(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap();
    // A browser that is killed leaves the last event without its brackets.
    let log: serde_json::Value = serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(&format!("{}]}}", text.trim_end().trim_end_matches(','))))
        .unwrap();
    let events = log["events"].as_array().unwrap();
    assert!(!events.is_empty(), "the log works");
    events
        .iter()
        .filter(|event| event["params"]["initiator"].as_str().is_some_and(|i| i != "not an origin"))
        .filter_map(|event| event["params"]["url"].as_str())
        .map(str::to_owned)
        .collect()
}

fn attribute<'a>(dom: &'a str, name: &str) -> &'a str {
    let start = dom.find(&format!("{name}=\"")).unwrap_or_else(|| panic!("{name} is set"));
    dom[start..].split('"').nth(1).unwrap()
}

fn check(browser: &Path, experiment: &Experiment, analysis: &Analysis, charts: usize) -> String {
    let page = html(experiment, analysis);
    for width in [360, 1200] {
        let Visit { dom, requests } = visit(browser, &page, width);
        assert_eq!(attribute(&dom, "data-errors"), "", "no script failed, nothing was blocked");
        assert_eq!(attribute(&dom, "data-charts"), charts.to_string(), "at {width} px");
        assert_eq!(dom.matches("role=\"img\"").count(), charts, "each chart is named");
        assert_eq!(requests, [""; 0], "nothing was fetched");
        if width == 1200 {
            return dom;
        }
    }
    unreachable!("the loop ends at its last width")
}

#[test]
fn a_peel_is_drawn() {
    let Some(browser) = chromium() else { return };
    // Two forests with 4 + 3 rows and an axis each, latency, throughput, schedule.
    let dom = check(&browser, &common::peel(), &analyses::peel(), 4 + 3 + 2 + 3);
    assert!(dom.contains("added time per I/O (µs)"));
    assert!(dom.contains(">p99.9</text>"), "the percentile axis");
}

#[test]
fn a_comparison_and_its_failures_are_drawn() {
    let Some(browser) = chromium() else { return };
    check(&browser, &common::compare(), &analyses::compare(), 2 * (4 + 1) + 3);
    check(&browser, &common::compare(), &troubled::warned(), 2 * (4 + 1) + 3);
}

#[test]
fn factors_are_drawn_as_far_apart_as_they_are() {
    let Some(browser) = chromium() else { return };
    let dom = check(&browser, &common::compare(), &analyses::factors(), 4 + 1 + 2 + 1 + 3);
    for label in ["factor in throughput", "1x", "5x slower", "5x faster", "factor in CPU per I/O"] {
        assert!(dom.contains(&format!(">{label}</text>")), "{label}");
    }
}

#[test]
fn what_the_machine_did_is_drawn() {
    let Some(browser) = chromium() else { return };
    // Four charts of devices, CPU, pressure, page cache, two of NFS.
    let dom = check(
        &browser,
        &common::compare(),
        &common::machine::compare(),
        2 * (4 + 1) + 3 + 4 + 3 + 2,
    );
    assert!(dom.contains("nvme0n1</li>"), "lines are named");
}

#[test]
fn a_run_is_drawn() {
    let Some(browser) = chromium() else { return };
    check(&browser, &common::run(), &analyses::run(), 3);
}

#[test]
fn caps_are_drawn() {
    let Some(browser) = chromium() else { return };
    let (head, caps) = &common::search::search(&[]);
    let page = iotax_report::html(&search(SearchResult { head, caps, end: None }));
    let Visit { dom, requests } = visit(&browser, &page, 1200);
    assert_eq!(attribute(&dom, "data-errors"), "", "no script failed, nothing was blocked");
    assert_eq!(dom.matches("role=\"img\"").count(), 4, "two over depth, two over time");
    assert_eq!(requests, [""; 0], "nothing was fetched");
}

#[test]
fn hostile_names_do_nothing() {
    let Some(browser) = chromium() else { return };
    let dom = check(&browser, &common::hostile(), &troubled::hostile(), 2 * (4 + 1) + 3);
    assert!(!dom.contains("<img"), "no element came of a name");
}

#[test]
fn nothing_measured_is_still_a_page() {
    let Some(browser) = chromium() else { return };
    let mut analysis = analyses::compare();
    analysis.trials.clear();
    analysis.comparisons.clear();
    for arm in &mut analysis.arms {
        (arm.trials, arm.latency) = (0, Vec::new());
    }
    let dom = check(&browser, &common::compare(), &analysis, 0);
    assert!(dom.contains("Nothing could be compared."));
}

/// Without it, a browser that reports nothing would pass for a page that does nothing.
#[test]
fn a_fetch_and_an_error_would_be_noticed() {
    let Some(browser) = chromium() else { return };
    let page = html(&common::run(), &analyses::run());
    let open = page.replacen("default-src 'none'; ", "", 1).replacen("img-src data:", "", 1);
    let fetching = open.replacen("<main>", "<main><img src=\"http://127.0.0.1:9/x.png\">", 1);
    let visited = visit(&browser, &fetching, 1200);
    assert_eq!(visited.requests, ["http://127.0.0.1:9/x.png"]);
    let blocked = page.replacen("<main>", "<main><img src=\"http://127.0.0.1:9/x.png\">", 1);
    let visited = visit(&browser, &blocked, 1200);
    assert_eq!(visited.requests, [""; 0], "the policy holds");
    assert!(attribute(&visited.dom, "data-errors").contains("blocked http://127.0.0.1:9/x.png"));
    let failing = page.replacen(
        "\"use strict\";\n(function () {",
        "throw Error(\"on purpose\"); (function () {",
        1,
    );
    assert!(attribute(&visit(&browser, &failing, 1200).dom, "data-errors").contains("on purpose"));
}
