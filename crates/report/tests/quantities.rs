//! Each quantity has one form, in every format of every report.

mod common;

use common::{markup, pages};
use iotax_report::{Document, Style, html, markdown, text};

/// Whether a figure may look like this.
type Form = fn(&str) -> bool;

/// Units, and what figures before them look like.
const UNITS: [(&str, Form); 17] = [
    ("ns", is_time),
    ("µs", is_time),
    ("ms", is_time),
    ("s", is_time),
    ("min", is_whole),
    ("h", is_whole),
    ("days", is_whole),
    ("B", is_size),
    ("KiB", is_size),
    ("MiB", is_size),
    ("GiB", is_size),
    ("TiB", is_size),
    ("%", is_percent),
    ("kbit/s", is_time),
    ("Mbit/s", is_time),
    ("Gbit/s", is_time),
    ("IOPS", |_| true),
];

/// The same units as others write them.
const OTHERS: [&str; 12] =
    ["us", "usec", "μs", "msec", "sec", "kB", "KB", "GB", "TB", "percent", "iops", "bps"];

fn is_whole(figure: &str) -> bool {
    figure.chars().all(|c| c.is_ascii_digit() || c == ',')
}

/// `850`, `31.2`, `1.25`: three digits, or whole.
fn is_time(figure: &str) -> bool {
    let digits = figure.chars().filter(char::is_ascii_digit).count();
    figure.split_once('.').map_or(is_whole(figure), |(whole, _)| digits <= 3 || whole == "0")
}

/// As a time, without empty decimals.
fn is_size(figure: &str) -> bool {
    is_time(figure) && !(figure.contains('.') && figure.ends_with('0'))
}

/// `23`, `7.2`, `99.9`, `0.01`.
fn is_percent(figure: &str) -> bool {
    figure.split_once('.').is_none_or(|(whole, decimals)| {
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
        // Times may: `--time 20s` is what is typed.
        let is_glued = ["%", "B", "KiB", "MiB", "GiB", "TiB", "µs", "kB", "IOPS"].contains(&glued);
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

#[test]
fn no_quantity_is_shown_in_two_formats() {
    let formats: [fn(&Document) -> String; 3] =
        [|page| text(page, Style::default()), markdown, |page| read(&html(page))];
    let mut found = Vec::new();
    for (name, page) in pages::all() {
        for format in formats {
            found.extend(wrong(&format(&page)).into_iter().map(|it| format!("{name}: {it}")));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn another_form_is_noticed() {
    for shown in ["took 625 us", "took 625µs", "5%", "4 kB", "4.0 KiB", "12.34 %", "31.25 ms"] {
        assert_eq!(wrong(shown).len(), 1, "{shown}");
    }
    for shown in ["625 µs", "5 %, 7.2 %", "4 KiB", "0.01 %", "p99.9 of 4", "2.10 s", "1 min 40 s"]
    {
        assert_eq!(wrong(shown), [""; 0], "{shown}");
    }
}
