//! The report on a recording.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::recording::{Recording, database, empty, hostile, of_everything, of_little};
use common::{analyses, markup};
use iotax_analyze::{Analysis, ReplaySummary};
use iotax_record::ReplayTimes;
use iotax_report::{Style, experiment, html, markdown, screen, text};

/// What fits a terminal of 24 lines above the shell's next line.
const LINES: usize = 21;
const PLAIN: Style = Style { color: false, width: 80 };

/// The data of the charts.
fn charts(page: &str) -> serde_json::Value {
    let script = page.split("data-kind=\"recording\">").nth(1).unwrap();
    serde_json::from_str(script.split("</script>").next().unwrap()).unwrap()
}

/// The text of a page, a line for each element.
fn words(page: &str) -> String {
    let body = markup(page);
    let body = body.split("<main>").nth(1).unwrap().split("<nav").next().unwrap().to_owned()
        + body.split("</nav>").nth(1).unwrap();
    let mut lines: Vec<String> = Vec::new();
    for part in body.split('<') {
        let (tag, said) = part.split_once('>').unwrap_or(("", part));
        let said = said.trim_matches(['\n', ' ']).replace("&#39;", "'");
        if tag.starts_with("/tr") || tag.starts_with("thead") {
            lines.push(String::new());
        }
        if said.is_empty() || tag.starts_with("script") || tag.starts_with("a class=\"link\"") {
            continue;
        }
        let is_cell = tag.starts_with("td") || tag.starts_with("th") || tag.starts_with("dd");
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(&said),
            Some(line) if is_cell => line.extend([" | ", &said]),
            _ => lines.push(said),
        }
    }
    lines.join("\n")
}

#[test]
fn the_page_in_words() {
    let page = html(&database().document());
    insta::assert_snapshot!(words(&page));
}

#[test]
fn the_terminal_shows_one_screen_or_everything() {
    let document = database().document();
    insta::assert_snapshot!("screen", screen(&document, PLAIN, LINES));
    insta::assert_snapshot!("text", text(&document, PLAIN));
    insta::assert_snapshot!("markdown", markdown(&document));
}

/// 500 writes of 8 KiB, syncs of 10 ms and reads of 4 KiB in 12 s, during 2 s of which one sync
/// stalls.
#[test]
fn figures_are_those_of_the_events() {
    let recording = database();
    let page = html(&recording.document());
    let charts = charts(&page);
    let strips = charts["strips"].as_array().unwrap();
    let strip = |name: &str| strips.iter().find(|strip| strip["name"] == name).unwrap();
    let values = |name: &str| {
        let values = strip(name)["lines"][0]["values"].as_array().unwrap();
        values.iter().map(|value| value.as_f64().unwrap_or(0.0)).collect::<Vec<_>>()
    };
    let steps = charts["runs"].as_array().unwrap();
    let count: u64 = steps.iter().map(|run| run[2].as_u64().unwrap()).sum();
    let length_s = steps[0][1].as_f64().unwrap() / steps[0][2].as_f64().unwrap();
    for name in ["Reads per second", "Writes per second", "Syncs per second"] {
        assert_eq!(values(name).len() as u64, count, "{name}");
        let sum: f64 = values(name).iter().map(|rate| rate * length_s).sum();
        assert!((sum - 500.0).abs() < 10.0, "{name}: {sum}");
        let stalled = values(name).iter().filter(|rate| **rate == 0.0).count() as f64 * length_s;
        assert!((1.8..2.2).contains(&stalled), "{name}: {stalled}");
    }
    let longest = strip("Longest operation")["lines"].as_array().unwrap();
    let syncs = longest.iter().find(|line| line["name"] == "longest sync").unwrap();
    let syncs = syncs["values"].as_array().unwrap().iter().filter_map(serde_json::Value::as_f64);
    assert_eq!(syncs.fold(0.0, f64::max), 2.01e9);
    let in_flight = values("Reads, writes, syncs and page faults in flight, mean");
    assert!(in_flight.iter().filter(|mean| **mean == 1.0).count() as f64 * length_s >= 1.8);

    let all = words(&page);
    for figure in [
        "fdatasync | 500 | 41.7 | 96 % | 9.99 ms | 9.99 ms | 2.01 s",
        "read | 500 | 41.7 | 3.4 % | 167 KiB/s | 500 µs | 500 µs | 500 µs | 4 KiB | random",
        "write | 500 | 41.7 | 0.3 % | 333 KiB/s | 50.0 µs | 50.0 µs | 50.0 µs | 8 KiB | sequential",
    ] {
        assert!(all.contains(figure), "{figure}\n{all}");
    }
    assert_eq!(recording.json()["summary"]["longest"][0]["latency_ns"], 2_010_000_000_u64);
    let waits = charts["waits"]["pairs"].as_array().unwrap();
    assert_eq!(waits.len(), 2);
    assert_eq!(waits[0]["share"], 50);
}

#[test]
fn a_recording_without_latencies_has_a_page_without_them() {
    let recording = of_little();
    let page = html(&recording.document());
    let charts = charts(&page);
    for kind in ["latency", "depth", "threads", "waits"] {
        let of = &charts[kind];
        let rows = of.get("rows").unwrap_or(of);
        assert!(rows.as_array().is_none_or(Vec::is_empty), "{kind}: {of}");
        assert!(!page.contains(&format!("data-chart=\"{kind}\"")), "{kind}");
    }
    let all = words(&page);
    for text in ["unknown, because the recorder was killed", "latencies", "cut off"] {
        assert!(all.contains(text), "{text}\n{all}");
    }
    let empty = words(&html(&empty().document()));
    assert!(
        empty.starts_with("iotax capture · empty.iotx\nThe recording contains no I/O."),
        "{empty}"
    );
}

#[test]
fn the_next_commands_fit_one_screen_whatever_the_recording_holds() {
    let long = format!("/srv/{}/app.iotx", "recordings-of-the-database/".repeat(4));
    for recording in
        [database(), of_everything("all.iotx"), of_everything(&long), of_little(), empty()]
    {
        let Recording { path, .. } = &recording;
        let shown = screen(&recording.document(), PLAIN, LINES);
        assert!(shown.lines().count() <= LINES, "{}\n{shown}", shown.lines().count());
        let joined: String = shown.split_whitespace().collect();
        for command in ["iotax capture show -v ", "iotax report ", "iotax run "] {
            let command: String = format!("{command}{path}").split_whitespace().collect();
            assert!(joined.contains(&command), "{command}\n{shown}");
        }
        assert!(shown.lines().filter(|line| line.contains("/s")).count() > 0, "{shown}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let recording = hostile();
    let page = html(&recording.document());
    assert_eq!(page.matches("<script").count(), 3, "only the page's own scripts");
    assert_eq!(page.matches("</script>").count(), 3, "and none ends early");
    assert!(!page.contains("<img"));
    let shown = markup(&page);
    assert!(shown.matches("&#60;img src=x onerror=alert(1)&#62;").count() >= 5, "it is shown");
    for text in [text(&recording.document(), PLAIN), markdown(&recording.document())] {
        assert!(!text.contains('\u{1b}'), "no control characters");
    }
}

#[test]
fn a_page_is_small() {
    let path = "a".repeat(200);
    for recording in [database(), of_everything(&path), of_little(), hostile()] {
        let page = html(&recording.document());
        assert!(page.len() <= 150_000, "{}: {} bytes", recording.path, page.len());
    }
}

/// The first two arms, each with twelve replays of 1,000 operations.
fn replayed() -> Analysis {
    let mut analysis = analyses::compare();
    analysis.arms.truncate(2);
    analysis.comparisons.truncate(1);
    for (arm, late_p50_ns) in analysis.arms.iter_mut().zip([1_000, 2_000]) {
        arm.replay = Some(ReplaySummary {
            operations: 12 * 996,
            left_over: 12 * 4,
            shared_syncs: 12 * 6,
            late_mean_ns: 12_300.0,
            late_p50_ns,
            late_p99_ns: 98_000,
            late_max_ns: 1_200_000,
            recorded_cycle_ns: 450_000,
            times: ReplayTimes {
                io_ns: 500_000,
                cpu_ns: 150_000,
                think_ns: 50_000,
                threads_ns: 300_000,
                timers_ns: 0,
            },
            ..ReplaySummary::default()
        });
    }
    analysis
}

#[test]
fn a_comparison_of_replays_says_what_was_replayed_and_how_late() {
    let document = experiment(&common::replay("/srv/app.iotx"), &replayed());
    let page = words(&html(&document));
    let about = "Each trial replays app.iotx: 16 s of 9 threads, 1,000 operations. The intervals do \
                 not include how much a replay differs from the program.";
    for shown in [&page, &text(&document, Style { width: 200, ..PLAIN }), &markdown(&document)] {
        assert!(shown.contains(about), "{shown}");
        assert!(shown.contains("Delays of the replay"), "{shown}");
        for wrong in ["no fadvise", "closed loop", "threads × depth"] {
            assert!(!shown.contains(wrong), "{wrong}: {shown}");
        }
    }
    for row in [
        "arm | mean delay | p50 | p99 | recorded time per I/O | not reached | shared syncs",
        "arm | I/O | waiting for threads | waiting for timers | CPU | think time",
        "luks | 50 % | 30 % | 0 % | 15 % | 5 %",
        "base | 12.3 µs | 1.00 µs | 98.0 µs | 450 µs | 48 | 72",
        "luks | 12.3 µs | 2.00 µs | 98.0 µs | 450 µs | 48 | 72",
        "file | /srv/app.iotx",
        "operations per trial | 1,000",
    ] {
        assert!(page.contains(row), "{row}\n{page}");
    }
    let hostile = experiment(&common::replay(&format!("{}.iotx", common::HOSTILE)), &replayed());
    assert!(!html(&hostile).contains("<img"));
}
