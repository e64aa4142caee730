//! The order of sections in a page, and their anchors.

use std::collections::HashSet;

use crate::document::{Chapter, Document, Medium, Section, Topic};

/// A document in page order: sections with anchors, by topic.
#[derive(Debug)]
pub(super) struct Outline<'a> {
    pub(super) parts: Vec<TopicSections<'a>>,
    pub(super) chapters: Vec<Folded<'a>>,
}

/// The sections of one topic.
#[derive(Debug)]
pub(super) struct TopicSections<'a> {
    pub(super) anchor: String,
    /// May be empty.
    pub(super) heading: &'static str,
    pub(super) sections: Vec<Anchored<'a>>,
}

/// A section and its anchor.
#[derive(Debug)]
pub(super) struct Anchored<'a> {
    pub(super) anchor: String,
    pub(super) section: &'a Section,
}

/// A chapter and its anchor.
#[derive(Debug)]
pub(super) struct Folded<'a> {
    pub(super) anchor: String,
    pub(super) chapter: &'a Chapter,
}

impl<'a> Outline<'a> {
    /// Anchors begin with `prefix`; those of chapters differ by their number in it.
    pub(super) fn of(document: &'a Document, prefix: &str) -> Self {
        let mut taken = HashSet::new();
        let mut anchor = |text: &str| unique(&mut taken, prefix, text);
        let mut sections: Vec<&Section> = document.sections_for(Medium::Page).collect();
        sections.sort_by_key(|section| section.topic);
        let mut parts: Vec<TopicSections<'a>> = Vec::new();
        let mut last: Option<Topic> = None;
        for section in sections {
            if last != Some(section.topic) {
                let heading = section.topic.heading();
                parts.push(TopicSections {
                    anchor: anchor(heading),
                    heading,
                    sections: Vec::new(),
                });
                last = Some(section.topic);
            }
            let anchored = Anchored { anchor: anchor(&section.heading), section };
            parts.last_mut().expect("one was added").sections.push(anchored);
        }
        // A single topic needs no heading.
        if let [only] = parts.as_mut_slice() {
            only.heading = "";
        }
        let chapters = (1..)
            .zip(&document.chapters)
            .map(|(number, chapter)| Folded { anchor: format!("{prefix}part-{number}"), chapter });
        Self { parts, chapters: chapters.collect() }
    }
}

/// `latency-pooled-over-trials`, with a number if the name is taken.
fn unique(taken: &mut HashSet<String>, prefix: &str, heading: &str) -> String {
    let words = heading.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    let slug = format!("{prefix}{}", if slug.is_empty() { "section" } else { &slug });
    let numbered = (2..).map(|number| format!("{slug}-{number}"));
    let name = std::iter::once(slug.clone()).chain(numbered).find(|name| !taken.contains(name));
    let name = name.expect("numbers do not end");
    taken.insert(name.clone());
    name
}

// Figures that stay on one line with their unit and interval.

/// Units that stay on the line of their number.
const UNITS: [&str; 8] = ["%", "IOPS", "ns", "µs", "ms", "s", "MB/s", "MiB/s"];

/// Words after the size of an effect.
const WAYS: [&str; 4] = ["slower", "faster", "more", "less"];

/// Makes the spaces inside `12 % [10, 14]`, `5.0x slower [4.2, 6.0]` and `85,300 IOPS` unbreakable.
pub(super) fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    let mut before = "";
    for word in text.split(' ') {
        let bare = word.trim_end_matches([',', '.', ';', ']']);
        let unit = UNITS.contains(&bare);
        let amount = before.ends_with(|c: char| c.is_ascii_digit()) || UNITS.contains(&before);
        let is_way = WAYS.contains(&bare) && (before == "%" || is_factor(before));
        let is_interval = word.starts_with('[') && (amount || WAYS.contains(&before));
        // Two bounds with a word each are too long for one line.
        let is_end = before.strip_suffix(',').is_some_and(|end| WAYS.contains(&end));
        if !out.is_empty() {
            out.push(if inside && !is_end || is_way || is_interval || (amount && unit) {
                '\u{a0}'
            } else {
                ' '
            });
        }
        out.push_str(word);
        inside = (inside || word.starts_with('[')) && !word.contains(']');
        before = word;
    }
    out
}

/// `2.5x`, possibly as the first bound of an interval.
fn is_factor(word: &str) -> bool {
    let number = word.trim_start_matches('[').strip_suffix('x');
    number.is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_plain_words_and_never_the_same() {
        let mut taken = HashSet::new();
        let mut anchor = |heading| unique(&mut taken, "part-2-", heading);
        assert_eq!(anchor("Latency, pooled over trials"), "part-2-latency-pooled-over-trials");
        assert_eq!(anchor(""), "part-2-section");
        assert_eq!(anchor("Devices"), "part-2-devices");
        assert_eq!(anchor("\"><img> Devices"), "part-2-img-devices");
        assert_eq!(anchor("Devices"), "part-2-devices-2");
    }

    #[test]
    fn the_answer_comes_first_and_a_single_topic_has_no_head() {
        let section = |heading: &str, topic| Section::new(heading, []).on(topic);
        let mut document = Document::default();
        document.add(section("Arms", Topic::Evidence));
        document.add(section("Finding", Topic::Answer));
        document.add(section("Devices", Topic::Evidence));
        let outline = Outline::of(&document, "");
        let headings: Vec<(&str, Vec<&str>)> = (outline.parts.iter())
            .map(|part| {
                let sections = part.sections.iter().map(|one| &*one.section.heading);
                (part.heading, sections.collect())
            })
            .collect();
        assert_eq!(headings, [("", vec!["Finding"]), ("Evidence", vec!["Arms", "Devices"])]);
        let mut document = Document::default();
        document.add(section("Arms", Topic::Evidence));
        assert_eq!(Outline::of(&document, "").parts[0].heading, "");
    }

    #[test]
    fn a_figure_is_not_torn_from_its_interval() {
        let shown = unbroken("cap costs 12 % [10, 14] less, 2 of 3: 85,300 IOPS, 9.7 µs.");
        let expected = "cap costs 12 % [10, 14] less, 2 of 3: 85,300 IOPS, 9.7 µs.";
        assert_eq!(shown.replace('\u{a0}', " "), expected, "only spaces change");
        let joined: Vec<_> = shown.split(' ').filter(|word| word.contains('\u{a0}')).collect();
        assert_eq!(joined, ["12\u{a0}%\u{a0}[10,\u{a0}14]", "85,300\u{a0}IOPS,", "9.7\u{a0}µs."]);
    }

    #[test]
    fn a_factor_is_not_torn_from_its_interval() {
        let joined = |text: &str| unbroken(text).replace('\u{a0}', "_");
        assert_eq!(joined("28x faster [6.4, 120] in it"), "28x_faster_[6.4,_120] in it");
        assert_eq!(
            joined("4.0x slower [1.2x faster, 20x slower] than"),
            "4.0x_slower_[1.2x_faster, 20x_slower] than"
        );
        assert_eq!(joined("it is slower [sic]"), "it is slower_[sic]");
    }
}
