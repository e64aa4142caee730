//! The page in a real browser: charts are drawn, nothing fails, nothing is fetched.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{analyses, html, troubled, two};
use iotax_analyze::Analysis;
use iotax_record::ExperimentHead;
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

/// Pages at the widths of a phone, a laptop and a desk, with the tail of the percentiles and
/// without: nothing is cut, and no label lies on another.
#[test]
fn every_label_can_be_read() {
    let Some(browser) = chromium() else { return };
    let dir = tempfile::tempdir().unwrap();
    let script = concat!("<script>", include_str!("layout.js"), "</script></body>");
    let mut frames = Vec::new();
    for (name, document) in common::pages::all() {
        let page = iotax_report::html(&document).replacen("</body>", script, 1);
        for (width, tail) in [(390, ""), (1200, ""), (1600, " data-tail=yes")] {
            let file = dir.path().join(format!("{name}-{width}.html"));
            let page = page.replacen("<body>", &format!("<body{tail}>"), 1);
            std::fs::write(&file, page).unwrap();
            let file = file.display();
            frames.push(format!(
                "<iframe name='{name} at {width} px' src='file://{file}' width={width} height=900>\
                 </iframe>"
            ));
        }
    }
    let page = format!("<html><body>{}{}</body></html>", COLLECTOR, frames.concat());
    let dom = visit(&browser, &page, 1700).dom;
    let seen: Vec<&str> = dom.split("<li>").skip(1).filter_map(|li| li.split('<').next()).collect();
    assert_eq!(seen.len(), frames.len(), "each frame has told: {seen:#?}");
    let with_labels = seen.iter().filter(|told| !told.contains(": 0 labels")).count();
    assert_eq!(with_labels, frames.len(), "charts are drawn: {seen:#?}");
    let troubled: Vec<_> = seen.into_iter().filter(|told| !told.ends_with(" labels; ")).collect();
    assert_eq!(troubled, [""; 0], "\n{}", troubled.join("\n"));
}

/// Notes what the frames tell, each in a line.
const COLLECTOR: &str = r#"<ul id="told"></ul><script>
addEventListener("message", ({ source, data }) => {
  const frame = [...document.querySelectorAll("iframe")].find((frame) => frame.contentWindow === source);
  const line = document.createElement("li");
  const troubles = data.troubles.concat(frame.width == data.width ? [] : [`${data.width} px wide`]);
  line.textContent = `${frame.name}: ${data.labels} labels; ${troubles.join("; ")}`;
  document.getElementById("told").append(line);
});
</script>"#;

/// Charts of the trials of a comparison: latency, block by block, spread, throughput, schedule.
const TRIALS: usize = 5;

fn check(
    browser: &Path,
    experiment: &ExperimentHead,
    analysis: &Analysis,
    charts: usize,
) -> String {
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
    // Two forests with 4 + 3 rows and an axis each, steps, and one operation that was slow.
    let dom = check(&browser, &common::peel(), &analyses::peel(), 4 + 3 + 2 + 1 + TRIALS + 1);
    assert!(dom.contains("added time per I/O (µs)"));
    assert!(dom.contains(">p99</text>"), "the percentile axis");
    assert!(!dom.contains(">p99.9</text>"), "it ends where a comparison has samples enough");
    assert!(dom.contains("Show the tail beyond p99</button>"));
    assert!(dom.contains("Time per load"));
}

#[test]
fn a_comparison_and_its_failures_are_drawn() {
    let Some(browser) = chromium() else { return };
    check(&browser, &common::compare(), &analyses::compare(), 2 * (4 + 1) + TRIALS);
    check(&browser, &common::compare(), &troubled::warned(), 2 * (4 + 1) + TRIALS);
}

#[test]
fn factors_are_drawn_as_far_apart_as_they_are() {
    let Some(browser) = chromium() else { return };
    let dom = check(&browser, &common::compare(), &analyses::factors(), 4 + 1 + 2 + 1 + TRIALS);
    for label in ["throughput ratio", "1x", "5x slower", "5x faster", "CPU per I/O ratio"] {
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
        2 * (4 + 1) + TRIALS + 4 + 3 + 2,
    );
    assert!(dom.contains("nvme0n1</li>"), "lines are named");
}

#[test]
fn a_run_is_drawn() {
    let Some(browser) = chromium() else { return };
    // There is nothing to compare block by block.
    check(&browser, &common::run(), &analyses::run(), TRIALS - 1);
}

#[test]
fn caps_are_drawn() {
    let Some(browser) = chromium() else { return };
    // Two over depth, two over time; beside a path four over flows, and one of it over time.
    for ((head, caps), charts) in [(common::search::search(&[]), 4), (common::search::path(), 9)] {
        let page =
            iotax_report::html(&search(SearchResult { head: &head, caps: &caps, end: None }));
        let Visit { dom, requests } = visit(&browser, &page, 1200);
        assert_eq!(attribute(&dom, "data-errors"), "", "no script failed, nothing was blocked");
        assert_eq!(dom.matches("role=\"img\"").count(), charts);
        assert_eq!(requests, [""; 0], "nothing was fetched");
    }
}

#[test]
fn a_recording_is_drawn() {
    let Some(browser) = chromium() else { return };
    // Over time, latencies, sizes, order, parallelism, threads, and their waits.
    for (recording, charts) in [
        (common::recording::database(), 7),
        (common::recording::of_everything("all.iotx"), 7),
        (common::recording::of_little(), 3),
        (common::recording::hostile(), 7),
        (common::recording::empty(), 0),
    ] {
        let page = iotax_report::html(&recording.document());
        for width in [390, 1200] {
            let Visit { dom, requests } = visit(&browser, &page, width);
            assert_eq!(attribute(&dom, "data-errors"), "", "{}", recording.path);
            assert_eq!(attribute(&dom, "data-charts"), charts.to_string(), "{}", recording.path);
            assert_eq!(requests, [""; 0], "nothing was fetched");
            assert!(!dom.contains("<img"), "no element came of a name");
        }
    }
}

#[test]
fn who_points_at_the_charts_of_a_recording_reads_their_figures() {
    let Some(browser) = chromium() else { return };
    let act = "for (const [id, x] of [['latency', 0.5], ['sizes', 0.9], ['order', 0.5], ['depth', 0.2], ['threads', 0.5]]) {
            point(chart(id), x);
            notes.push(tip(chart(id)));
        }
        event('pointermove', chart('over-time'), 0.99, 0.99);
        notes.push(tip(chart('over-time')));
        notes.push(document.querySelectorAll('[data-chart=waits] .flow').length);";
    let page = iotax_report::html(&common::recording::database().document());
    insta::assert_debug_snapshot!(notes(&browser, &page, act), @r#"
    [
        "write: p50 50.0 µs, p99 50.0 µs|100 % between 32.8 µs and 65.5 µs",
        "write: median 8 KiB|100 % between 8 KiB and 16 KiB",
        "write|sequential: 100 %",
        "in flight|none: 41.5 %",
        "thread 1|idle: 53 %",
        "Longest write|50 µs at 11.97 to 12 seconds",
        "2",
    ]
    "#);
}

/// What is noted when hands act on a page.
fn notes(browser: &Path, page: &str, act: &str) -> Vec<String> {
    let hands = include_str!("hands.js").replacen("ACT\n", act, 1);
    let page = page.replacen("</body>", &format!("<script>{hands}</script></body>"), 1);
    let Visit { dom, requests } = visit(browser, &page, 1200);
    assert_eq!(attribute(&dom, "data-errors"), "", "no script failed, nothing was blocked");
    assert_eq!(requests, [""; 0], "nothing was fetched");
    let notes = dom.split("id=\"notes\">").nth(1).and_then(|rest| rest.split('<').next());
    notes.unwrap().split(';').map(str::to_owned).collect()
}

#[test]
fn who_points_at_a_chart_reads_its_figures() {
    let Some(browser) = chromium() else { return };
    let act = "for (const id of ['latency', 'blocks', 'heat', 'series', 'schedule', 'cpu']) {
            point(chart(id), 0.4);
            notes.push(tip(chart(id)));
        }
        event('pointerleave', chart('cpu'), 2, 2);
        notes.push(tip(chart('cpu')));";
    let (experiment, analysis) = two::quick();
    insta::assert_debug_snapshot!(notes(&browser, &html(&experiment, &analysis), act), @r#"
    [
        "luks|p90: 63.9 µs",
        "block 5|−23.0 %",
        "luks, trial 5|0.12 % between 156 µs and 185 µs",
        "luks|64,356 IOPS at 1.8 minutes",
        "luks|block 5, trial 2",
        "system|31.5 at 1.8 minutes",
        "nothing",
    ]
    "#);
    let (experiment, analysis) = two::usual();
    insta::assert_debug_snapshot!(notes(&browser, &html(&experiment, &analysis), act), @r#"
    [
        "luks|p90: 63.9 µs",
        "block 15|−23.0 %",
        "luks, trial 15|0.14 % between 156 µs and 185 µs",
        "luks|65,994 IOPS (64,488 IOPS to 67,499 IOPS) at 30.68 to 30.8 minutes",
        "base|block 16, trial 2",
        "system|30.4 (27.5 to 33) at 9.183 to 9.5 minutes",
        "nothing",
    ]
    "#);
}

#[test]
fn a_range_that_is_dragged_over_fills_its_chart_until_it_is_reset() {
    let Some(browser) = chromium() else { return };
    let (experiment, analysis) = two::usual();
    let page = html(&experiment, &analysis);
    let acts = [
        "",
        "drag(svg, 0.5, 0.6);",
        "drag(svg, 0.6, 0.5);",
        "drag(svg, 0.5, 0.502);",
        "drag(svg, 0.5, 0.6); event('dblclick', svg, 0.5, 0.5);",
        "drag(svg, 0.5, 0.6); key(svg, 'Escape');",
        "drag(svg, 0.5, 0.6); reset(svg).click();",
        "drag(svg, 0.5, 0.6); for (let i = 0; i < 4; i += 1) key(svg, '-');",
    ];
    let each = acts.map(|act| format!("{act} notes.push(axis(svg)); key(svg, 'Escape');"));
    let act = format!(
        "const svg = chart('series'); {} drag(svg, 0.5, 0.6); notes.push(axis(chart('cpu'))); \
         point(svg, 0.5); notes.push(tip(svg));",
        each.concat()
    );
    let noted = notes(&browser, &page, &act);
    let whole = "0 10 20 30 40 50 60 70 80 minutes since the start";
    let part = "40 41 42 43 44 45 46 47 48 minutes since the start, zoomed";
    // Either way; a click is not a drag; four ways back.
    assert_eq!(noted[..acts.len()], [whole, part, part, whole, whole, whole, whole, whole]);
    let [other, told] = &noted[acts.len()..] else { panic!("{noted:?}") };
    assert!(!other.contains("zoomed"), "each chart has its own range");
    assert!(told.starts_with("luks|65,952 IOPS") && told.ends_with(" minutes"), "{told}");
}

#[test]
fn keys_zoom_and_move() {
    let Some(browser) = chromium() else { return };
    let (experiment, analysis) = two::usual();
    let page = html(&experiment, &analysis);
    let act = "const svg = chart('series');
        for (const name of ['ArrowLeft', '+', 'ArrowRight', 'ArrowLeft', 'ArrowLeft', '-']) {
            key(svg, name);
            notes.push(axis(svg));
        }
        press(svg, 0.3); point(svg, 0.5); notes.push(svg.querySelectorAll('.selection').length);
        key(svg, 'Escape'); notes.push(svg.querySelectorAll('.selection').length);";
    insta::assert_debug_snapshot!(notes(&browser, &page, act), @r#"
    [
        "0 10 20 30 40 50 60 70 80 minutes since the start",
        "25 30 35 40 45 50 55 60 minutes since the start, zoomed",
        "35 40 45 50 55 60 65 70 minutes since the start, zoomed",
        "25 30 35 40 45 50 55 60 minutes since the start, zoomed",
        "15 20 25 30 35 40 45 50 minutes since the start, zoomed",
        "0 10 20 30 40 50 60 70 80 minutes since the start",
        "1",
        "0",
    ]
    "#);
}

#[test]
fn the_steps_of_a_peel_tell_their_costs() {
    let Some(browser) = chromium() else { return };
    let act = "for (const y of [0.09, 0.24, 0.39, 0.54, 0.69]) {
            event('pointermove', chart('waterfall'), 0.8, y);
            notes.push(tip(chart('waterfall')));
        }
        notes.push([...chart('waterfall').querySelectorAll('rect[class=pair]')].length);
        notes.push(chart('waterfall').querySelectorAll('.whisker').length);";
    let page = html(&common::peel(), &analyses::peel());
    insta::assert_debug_snapshot!(notes(&browser, &page, act), @r#"
    [
        "bare stack|31.2 µs",
        "aes|4.9 µs [4.4, 5.4]",
        "aes#2|5.0 µs [4.4, 5.5]",
        "full stack|41.1 µs [40.5, 41.7]",
        "aes x aes#2|1.2 µs [0.4, 2.1]",
        "1",
        "4",
    ]
    "#);
}

#[test]
fn a_command_is_copied() {
    let Some(browser) = chromium() else { return };
    let act = "const clipboard = { writeText: (text) => { notes.push(text); } };
        Object.defineProperty(navigator, 'clipboard', { value: clipboard });
        document.querySelector('.copied button').click();
        const commands = document.querySelectorAll('.command').length;
        notes.push(commands === document.querySelectorAll('.copied button').length);";
    let page = html(&common::peel(), &analyses::peel());
    assert_eq!(notes(&browser, &page, act), ["iotax peel", "true"]);
    // Commands in sentences, too; other text between backquotes stays as it is.
    let sentence = "<main><p>Try `iotax limits` or `rm`.</p>";
    let page = page.replacen("<main>", sentence, 1);
    assert_eq!(notes(&browser, &page, act), ["iotax limits", "true"]);
}

#[test]
fn the_data_of_a_page_is_downloaded() {
    let Some(browser) = chromium() else { return };
    let act = "HTMLAnchorElement.prototype.click = function () {
            notes.push(this.download, this.href.slice(0, 5));
        };
        const made = [];
        globalThis.Blob = class extends Blob {
            constructor(parts, options) {
                super(parts, options);
                made.push([parts.join(''), options.type]);
            }
        };
        document.querySelectorAll('.downloads button').forEach((button) => button.click());
        notes.push(made.map(([, type]) => type).join(' '));
        notes.push(...made[0][0].slice(1).split('\\n').slice(0, 4));
        notes.push(csvCell('=1+1'), csvCell('-5'), csvCell('a\"b'));
        const json = JSON.parse(made[1][0]);
        const [charts] = json.charts;
        notes.push(json.title, json.tables[0].rows[1][0], charts.kind, charts.arms.join(' '));";
    let (experiment, analysis) = two::quick();
    let noted = notes(&browser, &html(&experiment, &analysis), act);
    insta::assert_debug_snapshot!(noted, @r#"
    [
        "iotax-compare-randread-4k.csv",
        "blob:",
        "iotax-compare-randread-4k.json",
        "blob:",
        "text/csv application/json",
        "arm,rate,MiB/s,p50,p99,verdict",
        "base,\"85,300 IOPS\",333,33.8 µs,103 µs,baseline",
        "luks,\"65,700 IOPS\",257,43.9 µs,134 µs,\"23 % slower [21, 25]\"",
        "",
        "'=1+1",
        "-5",
        "\"a\"\"b\"",
        "luks is 23 % slower than base - iotax compare randread-4k",
        "luks",
        "experiment",
        "base luks",
    ]
    "#);
}

#[test]
fn a_hostile_name_is_text_when_it_is_pointed_at() {
    let Some(browser) = chromium() else { return };
    let act = "for (const svg of document.querySelectorAll('.plot svg')) {
            drag(svg, 0.2, 0.9); point(svg, 0.5); notes.push(tip(svg).length > 9);
        }";
    let page = html(&common::hostile(), &troubled::hostile());
    let notes = notes(&browser, &page, act);
    assert_eq!(notes, ["true"; TRIALS]);
}

#[test]
fn nodes_are_told_to_those_who_use_keys() {
    let Some(browser) = chromium() else { return };
    let (experiment, analysis) = common::fleet::nodes(300);
    let keys = "<script>document.querySelector('.nodes li').focus(); for (const key of ['ArrowRight', \
                'ArrowDown', 'ArrowUp']) document.activeElement.dispatchEvent(new KeyboardEvent(\
                'keydown', { key, bubbles: true }));</script></body>";
    let page = html(&experiment, &analysis).replacen("</body>", keys, 1);
    for width in [390, 1200] {
        let Visit { dom, requests } = visit(&browser, &page, width);
        assert_eq!(attribute(&dom, "data-errors"), "", "no script failed, nothing was blocked");
        assert_eq!(requests, [""; 0], "nothing was fetched");
        let told = dom.split("class=\"told").nth(1).and_then(|rest| rest.split(['>', '<']).nth(1));
        assert!(told.unwrap().starts_with("gke-eu-disks-7f3a-n4: 0."), "{told:?}");
        let tiles = dom.split("<li").skip(1).filter_map(|rest| rest.split('>').next());
        let in_order = tiles.filter(|tile| tile.contains("tabindex=\"0\"")).count();
        assert_eq!(in_order, 1, "one of them is in the order of tabs");
    }
}

#[test]
fn hostile_names_of_nodes_do_nothing() {
    let Some(browser) = chromium() else { return };
    for count in [3, 24, 70] {
        let names: Vec<String> = (0..count).map(|n| format!("{n}{}", common::HOSTILE)).collect();
        let (experiment, analysis) = common::fleet::of_names(&names);
        let hover = "<script>document.querySelector('.nodes li').focus();</script></body>";
        let page = html(&experiment, &analysis).replacen("</body>", hover, 1);
        let Visit { dom, requests } = visit(&browser, &page, 390);
        assert_eq!(attribute(&dom, "data-errors"), "");
        assert!(!dom.contains("<img"), "no element came of a name");
        assert_eq!(requests, [""; 0], "nothing was fetched");
    }
}

#[test]
fn what_is_folded_is_drawn_when_a_link_leads_there() {
    let Some(browser) = chromium() else { return };
    let page = iotax_report::html(&common::suite::suite());
    let dom = visit(&browser, &page, 1200).dom;
    let folded: usize = attribute(&dom, "data-charts").parse().unwrap();
    assert_eq!(folded, 4 * (3 + 1), "of each arm its phases");
    let link = "<script>location.hash = \"part-2-arms\";</script></body>";
    let opened = visit(&browser, &page.replacen("</body>", link, 1), 1200).dom;
    let opened: usize = attribute(&opened, "data-charts").parse().unwrap();
    assert_eq!(opened, folded + 2 * (4 + 1) + TRIALS, "and all of one phase");
}

#[test]
fn hostile_names_do_nothing() {
    let Some(browser) = chromium() else { return };
    let dom = check(&browser, &common::hostile(), &troubled::hostile(), 2 * (4 + 1) + TRIALS);
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
    let open = page.replacen("default-src 'none'; ", "", 1);
    let fetching = open.replacen("<main>", "<main><img src=\"http://127.0.0.1:9/x.png\">", 1);
    let visited = visit(&browser, &fetching, 1200);
    assert_eq!(visited.requests, ["http://127.0.0.1:9/x.png"]);
    let blocked = page.replacen("<main>", "<main><img src=\"http://127.0.0.1:9/x.png\">", 1);
    let visited = visit(&browser, &blocked, 1200);
    assert_eq!(visited.requests, [""; 0], "the policy holds");
    assert!(attribute(&visited.dom, "data-errors").contains("blocked http://127.0.0.1:9/x.png"));
    let failing = page.replacen(
        "(function () {\nconst reports",
        "throw Error(\"on purpose\"); (function () {\nconst reports",
        1,
    );
    assert!(attribute(&visit(&browser, &failing, 1200).dom, "data-errors").contains("on purpose"));
}
