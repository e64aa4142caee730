//! Each quantity has one form, in every format of every report.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{markup, pages};
use iotax_experiment::Rule;
use iotax_report::{
    Document, Ruling, SearchResult, Style, github, html, junit, markdown, rulings, search,
    search_rulings, text,
};

/// Whether a figure may look like this.
type Form = fn(&str) -> bool;

/// Units, and what figures before them look like.
const UNITS: [(&str, Form); 23] = [
    ("ns", is_three_digits),
    ("µs", is_three_digits),
    ("ms", is_three_digits),
    ("s", is_three_digits),
    ("min", is_whole),
    ("h", is_whole),
    ("days", is_whole),
    ("B", is_size),
    ("KiB", is_size),
    ("MiB", is_size),
    ("GiB", is_size),
    ("TiB", is_size),
    ("%", is_percent),
    ("kbit/s", is_three_digits),
    ("Mbit/s", is_rate),
    ("Gbit/s", is_three_digits),
    ("MB", is_rate),
    ("MB/s", is_rate),
    ("MiB/s", is_rate),
    ("IOPS", is_rate),
    ("ops/s", is_rate),
    ("requests/s", is_rate),
    ("connections/s", is_rate),
];

/// The same units as others write them, and thousands as a letter.
const OTHERS: [&str; 14] =
    ["us", "usec", "μs", "msec", "sec", "kB", "KB", "GB", "TB", "percent", "iops", "bps", "k", "M"];

/// Units that only what is typed has without a space: `--time 20s`.
const NEVER_GLUED: [&str; 12] =
    ["%", "B", "KiB", "MiB", "GiB", "TiB", "µs", "kB", "IOPS", "k", "M", "MiB/s"];

/// `412`, `85,300`: with its thousands apart.
fn is_whole(figure: &str) -> bool {
    let digits: String = figure.chars().filter(|c| *c != ',').collect();
    digits.parse().is_ok_and(|n| iotax_quantity::grouped(n) == figure)
}

/// `850`, `31.2`, `1.25`: three digits, or whole.
fn is_three_digits(figure: &str) -> bool {
    has_digits(figure, 3)
}

/// The same, and what is found to a part in a thousand has four: `32.77`.
fn is_rate(figure: &str) -> bool {
    has_digits(figure, 4)
}

fn has_digits(figure: &str, most: usize) -> bool {
    let digits = figure.chars().filter(char::is_ascii_digit).count();
    figure.split_once('.').map_or(is_whole(figure), |(whole, _)| digits <= most || whole == "0")
}

/// As a time, without empty decimals.
fn is_size(figure: &str) -> bool {
    is_three_digits(figure) && !(figure.contains('.') && figure.ends_with('0'))
}

/// `23`, `7.2`, `99.9`, `0.01`.
fn is_percent(figure: &str) -> bool {
    figure.split_once('.').map_or(is_whole(figure), |(whole, decimals)| {
        let is_small = whole == "0" && decimals.starts_with('0') && decimals.len() <= 3;
        decimals.len() == 1 || is_small
    })
}

/// What is wrong with figures in a text; one in brackets is that of an interval, which has its own
/// digits.
fn wrong(shown: &str) -> Vec<String> {
    let words: Vec<&str> = shown.split_whitespace().collect();
    let trimmed = |word: &&str| word.trim_matches(|c: char| "[]().,;:*|".contains(c)).to_owned();
    let words: Vec<String> = words.iter().map(trimmed).collect();
    let mut wrong = Vec::new();
    for (nth, word) in words.iter().enumerate() {
        let figure = word.trim_start_matches(['\u{2212}', '+', '-']);
        let end = figure.find(|c: char| !(c.is_ascii_digit() || ".,".contains(c)));
        let (figure, glued) = figure.split_at(end.unwrap_or(figure.len()));
        if figure.is_empty() {
            continue;
        }
        let next = words.get(nth + 1).map_or("", String::as_str);
        let is_form = UNITS.iter().find(|(unit, _)| *unit == next).is_none_or(|(_, of)| of(figure));
        let is_glued = NEVER_GLUED.contains(&glued);
        if is_glued || glued.is_empty() && (OTHERS.contains(&next) || !is_form) {
            wrong.push(format!("{word} {next}"));
        }
    }
    wrong
}

/// A page as it is read.
fn read(page: &str) -> String {
    let mut shown = String::new();
    let mut is_tag = false;
    for c in markup(page).chars() {
        match c {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                shown.push(' ');
            }
            c if !is_tag => shown.push(c),
            _ => {}
        }
    }
    shown
}

/// Columns of tables in Markdown that have figures of several kinds: `1 ms` beside `1.25 ms`.
fn mixed(markdown: &str) -> Vec<String> {
    let lines: Vec<&str> = markdown.lines().collect();
    let is_short =
        |figure: &&str| *figure != "0" && figure.chars().filter(char::is_ascii_digit).count() < 3;
    let mut wrong = Vec::new();
    for table in lines.split(|line| !line.starts_with('|')) {
        let columns = table.first().map_or(0, |row| row.split('|').count());
        for at in 0..columns {
            let cells = table.iter().filter_map(|row| row.split('|').nth(at));
            let figures: Vec<&str> = cells.filter_map(|cell| measured(cell.trim())).collect();
            if figures.iter().any(|figure| figure.contains('.')) {
                let short = figures.iter().copied().filter(is_short);
                wrong.extend(short.map(|one| format!("{one} beside {}", figures.join(", "))));
            }
        }
    }
    wrong
}

/// The figure of a cell that has nothing but a time or a rate.
fn measured(cell: &str) -> Option<&str> {
    let (figure, unit) = cell.split_once(' ')?;
    let is_figure = figure.chars().all(|c| c.is_ascii_digit() || ".,".contains(c));
    let units = ["ns", "µs", "ms", "s", "MiB/s", "IOPS", "Mbit/s", "Gbit/s"];
    (is_figure && units.contains(&unit)).then_some(figure)
}

/// Rules that were held against an experiment and a search, with limits in MB/s.
fn judged() -> (Vec<Ruling>, Document) {
    let mut rules = rulings(&common::troubled::ruled());
    let (mut head, mut caps) = common::search::search(&[4e9]);
    caps.targets[0].plateau.is_plateau = true;
    let texts = ["below documented by 5%", "bandwidth < 1M", "iops > 1"];
    let texts = texts.map(|text| format!("{}: {text}", caps.targets[0].name));
    let own = texts.iter().map(|text| Rule::parse(text).unwrap()).collect();
    head.search = head.search.with(|search| search.fail_if = own);
    caps.rules = iotax_caps::judge(&head.search.fail_if, &caps);
    let found = SearchResult { head: &head, caps: &caps, end: None };
    rules.extend(search_rulings(found));
    (rules, search(found))
}

#[test]
fn no_quantity_is_shown_in_two_formats() {
    let formats: [fn(&Document) -> String; 3] =
        [|page| text(page, Style::default()), markdown, |page| read(&html(page))];
    let (rules, beside) = judged();
    let mut found = Vec::new();
    for (name, page) in pages::all().into_iter().chain([("limits in MB/s", beside)]) {
        for format in formats {
            found.extend(wrong(&format(&page)).into_iter().map(|it| format!("{name}: {it}")));
        }
        found.extend(mixed(&markdown(&page)).into_iter().map(|it| format!("{name}: {it}")));
    }
    // Rules themselves are as they were typed.
    let typed =
        rules.iter().map(|ruling| ruling.sentence.split('`').step_by(2).collect::<String>());
    found.extend(typed.flat_map(|sentence| wrong(&sentence)));
    let annotations = github(&rules, None);
    assert!(rules.iter().all(|ruling| ruling.sentence.contains('`')), "{annotations}");
    let xml = junit("job", &[("all".to_owned(), rules)], None);
    for shown in [annotations.replace("%25", "%"), xml.replace('"', " ")] {
        let typed = |line: &str| line.split('`').step_by(2).collect::<String>();
        let messages = shown.lines().filter(|line| line.contains('`')).map(typed);
        found.extend(messages.flat_map(|line| wrong(&line)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn another_form_is_noticed() {
    let others = ["took 625 us", "took 625µs", "5%", "4 kB", "4.0 KiB", "12.34 %", "31.25 ms"];
    let rates = ["85.3 k IOPS", "4000 IOPS", "85.3k", "32.768 MB/s", "1000 B"];
    for shown in others.into_iter().chain(rates) {
        assert_eq!(wrong(shown).len(), 1, "{shown}");
    }
    let times = ["625 µs", "2.10 s", "1 min 40 s"];
    let rates = ["4,000 IOPS", "32.77 MB/s", "1,000 B"];
    let others = ["5 %, 7.2 %", "4 KiB", "0.01 %", "p99.9 of 4"];
    for shown in times.into_iter().chain(rates).chain(others) {
        assert_eq!(wrong(shown), [""; 0], "{shown}");
    }
}

#[test]
fn figures_of_two_kinds_in_a_column_are_noticed() {
    let table =
        |cells: [&str; 2]| format!("| mean |\n| ---: |\n| {} |\n| {} |\n", cells[0], cells[1]);
    assert_eq!(mixed(&table(["1 ms", "1.25 ms"])), ["1 beside 1, 1.25"]);
    assert_eq!(mixed(&table(["1.00 ms", "625 µs"])), [""; 0]);
    assert_eq!(mixed(&table(["20 s", "2 s"])), [""; 0], "set, not measured");
}
