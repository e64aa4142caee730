//! The page, without a browser.

mod common;

use std::collections::HashMap;

use iotax_analyze::Check;
use iotax_experiment::Subject;
use iotax_report::Style;
use iotax_wording::doubt;

use common::{analyses, html, markup, pages, troubled, two};

fn peel() -> String {
    html(&common::peel(), &analyses::peel())
}

/// Those of topics, and of the sections in them.
fn headings(page: &str) -> Vec<&str> {
    let starts = page.match_indices("<h2").chain(page.match_indices("<h3"));
    let mut starts: Vec<usize> = starts.map(|(at, _)| at).collect();
    starts.sort_unstable();
    let text = |at: usize| page[at..].split(['>', '<']).nth(2).map(str::trim_end);
    starts.into_iter().filter_map(text).collect()
}

#[test]
fn a_reader_meets_the_conclusion_first_and_the_method_last() {
    assert_eq!(
        headings(&peel()),
        [
            "Cost per layer",
            "Confidence and limitations",
            "Minor warnings",
            "Open questions",
            "Difference per block",
            "Schedule",
            "Evidence",
            "Arms",
            "Targets",
            "Other jobs",
            "Latency, pooled over trials (descriptive)",
            "Latency distribution over time",
            "Throughput per trial",
            "Operations, pooled over trials (descriptive)",
            "Measurement setup",
            "Environment",
            "How to reproduce",
            "Method",
            "Terms",
        ]
    );
    let page = html(&common::compare(), &troubled::warned());
    assert_eq!(
        headings(&page)[..3],
        ["Warnings", "Comparison with baseline", "Confidence and limitations"]
    );
}

#[test]
fn tables_alone_tell_the_result() {
    let shown = markup(&peel());
    for text in [
        "24\u{a0}%\u{a0}slower\u{a0}[23,\u{a0}25]",
        "4.9 µs [4.4, 5.4]",
        "aes x aes#2",
        "AMD EPYC 7B13",
        "iotax peel",
        "seed 42",
        doubt::title(Check::Steal),
    ] {
        assert!(shown.contains(&text.replace('#', "&#35;")) || shown.contains(text), "{text}");
    }
}

#[test]
fn every_table_head_has_a_scope() {
    for page in [peel(), html(&common::compare(), &troubled::warned())] {
        let shown = markup(&page);
        assert!(shown.matches("<th").count() > 50);
        for head in shown.split("<th").skip(1).filter(|head| !head.starts_with("ead")) {
            assert!(head.starts_with(" scope="), "{}", &head[..60]);
        }
    }
}

#[test]
fn hostile_names_stay_text() {
    let page = html(&common::hostile(), &troubled::hostile());
    assert_eq!(page.matches("<script").count(), 3, "only the page's own scripts");
    assert_eq!(page.matches("</script>").count(), 3, "and none ends early");
    assert!(!page.contains("<img"));
    let shown = markup(&page);
    assert!(shown.matches("&#60;img src=x onerror=alert(1)&#62;").count() > 50, "they are shown");
    let title = shown.split("<title>").nth(1).and_then(|t| t.split("</title>").next()).unwrap();
    assert!(
        title.ends_with(
            "&#60;img src=x onerror=alert(1)&#62; &#39;&#34;`&#38;|\u{fffd}[2J\u{fffd}"
                .trim_start_matches(' ')
        ),
        "{title}"
    );
}

#[test]
fn nothing_outside_the_page_is_referred_to() {
    let page = peel();
    assert!(page.contains(
        "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\""
    ));
    // XML namespaces are names, not places; they are all that is left.
    for (at, _) in page.match_indices("://") {
        let tail = &page[at + 3..];
        assert!(tail.starts_with("www.w3.org/"), "{}", tail.chars().take(60).collect::<String>());
    }
    let shown = markup(&page);
    // Links lead to places in the page.
    assert!(shown.contains("href=\"#"));
    let shown = shown.replace("href=\"#", "");
    for reference in ["src=", "href=", "@import", "url(", "<link", "<iframe", "<object"] {
        assert!(!shown.contains(reference), "{reference}");
    }
    assert!(!include_str!("../src/html/style.css").contains("url("));
    assert!(!include_str!("../src/html/style.css").contains("@import"));
}

#[test]
fn a_page_of_two_arms_is_small_however_long_they_took() {
    let pages = [two::quick(), two::usual(), two::longest(), two::shortest()];
    for (experiment, analysis) in pages {
        let page = html(&experiment, &analysis);
        assert!(page.len() <= 150_000, "{} bytes of {} trials", page.len(), analysis.trials.len());
    }
}

#[test]
fn a_page_of_five_arms_and_ten_thousand_trials_is_small_and_says_what_it_leaves_out() {
    let mut analysis = analyses::compare();
    analysis.trials = analyses::points(&analysis.arms, 2_000, 60);
    assert_eq!(analysis.trials.len(), 10_000);
    let page = html(&common::compare(), &analysis);
    assert!(page.len() < 250_000, "{} bytes", page.len());
    for text in [
        "seconds, to keep the page small; the band behind",
        "Only the lowest and the highest of every",
        "Only the first 120 of 2000 blocks are drawn",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn one_second_in_a_day_is_seen() {
    let (experiment, mut analysis) = two::longest();
    analysis.trials[1_717].per_second_ios[31] = 7_654_321;
    let page = html(&experiment, &analysis);
    assert!(page.contains("7654321"), "the highest of its step");
    assert!(page.contains("Each column covers 4 trials, in the order in which the trials ran"));
    let all = page.rsplit("\"high\":[").next().unwrap().split(']').next().unwrap();
    assert!(all.split(',').count() > 100, "although it is one of few");
}

fn title(page: &str) -> &str {
    let title = page.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next());
    title.expect("a page has a title")
}

#[test]
fn the_title_has_the_verdict_in_short() {
    let titles = pages::all()
        .map(|(name, document)| format!("{name}: {}", title(&iotax_report::html(&document))));
    insta::assert_snapshot!(titles.join("\n"));
}

#[test]
fn names_in_a_title_are_escaped() {
    let (experiment, mut analysis) = two::quick();
    let name = "</title><img src=x>".to_owned();
    analysis.arms[1].name.clone_from(&name);
    for comparison in &mut analysis.comparisons {
        comparison.subject = Subject::Arm(name.clone());
    }
    let page = html(&experiment, &analysis);
    let shown = "&#60;/title&#62;&#60;img src=x&#62; is 23 % slower than base - iotax compare ";
    assert!(title(&page).starts_with(shown), "{}", title(&page));
    assert!(!page.contains("<img"));
}

/// The rows of the first table of a page, without markup.
fn first_table(page: &str) -> Vec<String> {
    let table = page.split("<table").nth(1).and_then(|rest| rest.split("</table>").next());
    let rows = table.expect("there is one").split("<tr>").skip(1);
    let cells = |row: &str| {
        let cells = row.split("</t").filter_map(|cell| cell.rsplit_once('>'));
        let cells = cells.map(|(_, cell)| cell.trim()).filter(|cell| !cell.is_empty());
        cells.collect::<Vec<_>>().join(" | ")
    };
    rows.map(cells).collect()
}

#[test]
fn every_page_begins_with_the_figures_of_its_arms() {
    let first = |name: &str| {
        let document = pages::all().into_iter().find(|(known, _)| *known == name).unwrap().1;
        first_table(&iotax_report::html(&document)).join("\n")
    };
    let shown = ["two-quick", "peel", "matrix", "nodes-2", "suite", "limits"].map(first);
    insta::assert_snapshot!(shown.join("\n\n"));
    // Of many nodes only some, which is said.
    assert_eq!(first("nodes-300").lines().count(), 13);
    let run = html(&common::run(), &analyses::run());
    let tiles = run.split("class=\"tiles\"").nth(1).unwrap().split("</ul>").next().unwrap();
    for label in ["rate", "bandwidth", "p50", "p99"] {
        assert!(tiles.contains(&format!(">{label}</span>")), "{label}");
    }
}

#[test]
fn the_steps_of_a_peel_lead_from_the_bare_stack_to_the_full_one() {
    let page = peel();
    let data = page.split("data-kind=\"experiment\">").nth(1).unwrap().split('<').next().unwrap();
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let rows = data["waterfall"]["rows"].as_array().unwrap();
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    let shown: Vec<String> =
        rows.iter().map(|row| text(row, "name") + ": " + &text(row, "said")).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    bare stack: 31.2 µs
    aes: 4.9 µs [4.4, 5.4]
    aes#2: 5.0 µs [4.4, 5.5]
    full stack: 41.1 µs [40.5, 41.7]
    aes x aes#2: 1.2 µs [0.4, 2.1]
    ");
    let sum = |kinds: &[&str]| -> i64 {
        let own = rows.iter().filter(|row| kinds.contains(&row["kind"].as_str().unwrap()));
        own.map(|row| row["value"].as_i64().unwrap()).sum()
    };
    assert!((sum(&["bare", "layer"]) - sum(&["total"])).abs() < 100, "steps add up");
    let mut screened = analyses::peel();
    screened.attribution.as_mut().unwrap().layers[0].shapley_ns = None;
    let page = html(&common::peel(), &screened);
    assert!(!page.contains("data-chart=\"waterfall\""), "costs that do not add up are no steps");
}

#[test]
fn the_spread_over_time_is_with_the_answer_if_trials_stalled() {
    let heat = "Latency distribution over time";
    let page = html(&common::compare(), &troubled::stalled());
    let all = headings(&page);
    let place = |of: &str| all.iter().position(|heading| *heading == of).unwrap();
    assert!(place(heat) < place("Confidence and limitations"), "{all:?}");
}

#[test]
fn machines_that_differ_are_told_first() {
    let (experiment, analysis) = two::saved();
    let document = iotax_report::experiment(&experiment, &analysis);
    let told = "Possible cause: base and luks differ in VM size (Standard_DS1_v2 / \
                Standard_DS2_v2) and kernel (6.1.0-28-amd64 / 6.12.3-amd64).";
    let page = iotax_report::html(&document);
    let header = page.split("</header>").next().unwrap();
    assert!(header.contains(&told.replace('\u{a0}', " ")), "{header}");
    let screen = iotax_report::screen(&document, Style { color: false, width: 80 }, 21);
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains(told), "{screen}");
    let (mut same, analysis) = two::saved();
    same.hosts[1] = same.hosts[0].clone();
    assert!(!html(&same, &analysis).contains("Possible cause"));
}

#[test]
fn a_page_with_commands_marks_them_to_be_copied() {
    let shown = markup(&peel());
    assert!(shown.contains("<pre class=\"command\">iotax peel"));
}

/// Relative luminance and contrast as WCAG 2 defines them.
fn contrast(a: &str, b: &str) -> f64 {
    let luminance = |colour: &str| {
        let channel = |i: usize| {
            let value =
                f64::from(u8::from_str_radix(&colour[i..i + 2], 16).expect("#rrggbb")) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn colours_can_be_told_from_their_background() {
    let style = include_str!("../src/html/style.css");
    let palettes: Vec<HashMap<&str, &str>> = style
        .split(":root {")
        .skip(1)
        .map(|block| {
            let block = block.split('}').next().unwrap();
            let pairs = block.split(';').filter_map(|line| line.trim().split_once(": "));
            pairs.filter(|(name, _)| name.starts_with("--")).collect()
        })
        .collect();
    assert_eq!(palettes.len(), 3, "light, dark, print");
    for palette in palettes {
        let of = |name: &str| palette[name];
        assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 1e-9);
        for text in ["--fg", "--muted", "--worse", "--better", "--same", "--open"] {
            for ground in ["--bg", "--panel"] {
                let found = contrast(of(text), of(ground));
                assert!(found >= 4.5, "{text} on {ground}: {found:.2}");
            }
        }
        assert!(contrast(of("--worse"), of("--alarm")) >= 3.0);
        for i in 1..=8 {
            let name = format!("--arm-{i}");
            let found = contrast(of(&name), of("--bg"));
            assert!(found >= 3.0, "{name}: {found:.2}");
        }
        assert!(contrast(of("--band"), of("--bg")) >= 1.1, "the margin's band can be seen");
    }
}

#[test]
fn the_machine_has_tables_for_those_without_charts() {
    let page = html(&common::compare(), &common::machine::compare());
    assert!(headings(&page).contains(&"System metrics"));
    let shown = markup(&page);
    for text in ["<h3>Devices <a", "nvme0n1", "aqu-sz", "<h3>CPU and memory <a", "31 %", "READ"] {
        assert!(shown.contains(text), "{text}");
    }
    let without = html(&common::compare(), &analyses::compare());
    assert!(!headings(&without).contains(&"System metrics"));
}
