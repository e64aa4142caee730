//! The contents of a `DiskSpd` file, element by element.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::importers::imported::Options;

/// Limit for targets and time spans; `DiskSpd` cannot have threads for more.
const MAX_TARGETS: usize = 4096;
/// Limit for the seconds of a series: more than a day.
const MAX_SECONDS: usize = 100_000;
/// Limit for the percentiles of one time span; `DiskSpd` writes 108.
const MAX_BUCKETS: usize = 1024;

/// The whole file.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub version: Option<String>,
    pub run_time: Option<String>,
    pub asked: Vec<AskedSpan>,
    pub measured: Vec<Span>,
    /// The `Target` of the current `Thread`.
    target: TargetSums,
}

/// A time span of the profile.
#[derive(Debug, Default)]
pub(super) struct AskedSpan {
    /// Elements besides the targets, as written.
    pub options: Options,
    pub targets: Vec<Options>,
}

/// A time span as measured.
#[derive(Debug, Default)]
pub(super) struct Span {
    pub seconds: Option<f64>,
    pub threads: Option<u64>,
    /// The reason why there are no results.
    pub error: Option<String>,
    pub buckets: Vec<Bucket>,
    /// One per path, in order; sums over threads.
    pub targets: Vec<TargetSums>,
}

/// One percentile of a time span; latencies in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Bucket {
    pub percentile: Option<f64>,
    pub read_ms: Option<f64>,
    pub write_ms: Option<f64>,
    /// Of reads and writes together.
    pub total_ms: Option<f64>,
}

/// I/O on one target.
#[derive(Debug, Default)]
pub(super) struct TargetSums {
    pub path: String,
    pub read: Sums,
    pub write: Sums,
}

/// Reads or writes on one target.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub ios: u64,
    pub bytes: u64,
    /// For I/Os with a latency: number, sum of means and of squares, in milliseconds.
    pub timed_ios: f64,
    pub sum_ms: f64,
    pub squares_ms2: f64,
    mean_ms: Option<f64>,
    stddev_ms: Option<f64>,
    /// I/Os in each second; empty if they were not counted by second.
    pub per_second: Vec<u32>,
}

impl Visitor for Document {
    fn begins(&mut self, path: &[&str], element: &BytesStart<'_>) -> Result<(), String> {
        match path {
            ["Results", "Profile", "TimeSpans", "TimeSpan"] => {
                push(&mut self.asked, AskedSpan::default(), MAX_TARGETS, "time spans")?;
            }
            ["Results", "Profile", "TimeSpans", "TimeSpan", "Targets", "Target"] => {
                if let Some(span) = self.asked.last_mut() {
                    push(&mut span.targets, Options::default(), MAX_TARGETS, "targets")?;
                }
            }
            ["Results", "Profile", "TimeSpans", "TimeSpan", "Targets", "Target", "Throughput"] => {
                let unit = attribute(element, "unit")?.unwrap_or_default();
                if let Some(options) = self.asked_target() {
                    options.push(("Throughput@unit".to_owned(), unit));
                }
            }
            ["Results", "TimeSpan"] => {
                push(&mut self.measured, Span::default(), MAX_TARGETS, "time spans")?;
            }
            ["Results", "TimeSpan", "Latency", "Bucket"] => {
                if let Some(span) = self.measured.last_mut() {
                    push(&mut span.buckets, Bucket::default(), MAX_BUCKETS, "percentiles")?;
                }
            }
            ["Results", "TimeSpan", "Thread", "Target"] => self.target = TargetSums::default(),
            ["Results", "TimeSpan", "Thread", "Target", "Iops", "Bucket"] => {
                self.target.second(element)?;
            }
            [other] if *other != "Results" => {
                return Err(format!("the first element is <{other}> instead of <Results>"));
            }
            _ => {}
        }
        Ok(())
    }

    fn ends(&mut self, path: &[&str], text: &str) -> Result<(), String> {
        match path {
            ["Results", "System", "Tool", "Version"] => self.version = filled(text),
            ["Results", "System", "RunTime"] => self.run_time = filled(text),
            ["Results", "Profile", "TimeSpans", "TimeSpan", name]
                if !matches!(*name, "Targets" | "Affinity") =>
            {
                if let Some(span) = self.asked.last_mut() {
                    push(&mut span.options.0, pair(name, text), MAX_BUCKETS, "options")?;
                }
            }
            ["Results", "Profile", "TimeSpans", "TimeSpan", "Targets", "Target", name] => {
                if let Some(options) = self.asked_target() {
                    push(options, pair(name, text), MAX_BUCKETS, "options")?;
                }
            }
            ["Results", "TimeSpan", rest @ ..] => self.measured(rest, text)?,
            _ => {}
        }
        Ok(())
    }
}

impl Document {
    fn asked_target(&mut self) -> Option<&mut Vec<(String, String)>> {
        self.asked.last_mut()?.targets.last_mut().map(|options| &mut options.0)
    }

    fn measured(&mut self, path: &[&str], text: &str) -> Result<(), String> {
        let target = &mut self.target;
        let Some(span) = self.measured.last_mut() else { return Ok(()) };
        match path {
            ["TestTimeSeconds"] => span.seconds = Some(number("TestTimeSeconds", text)?),
            ["ThreadCount"] => span.threads = Some(count("ThreadCount", text)?),
            ["Error"] => span.error = filled(text),
            ["Latency", "Bucket", name] => {
                let Some(bucket) = span.buckets.last_mut() else { return Ok(()) };
                match *name {
                    "Percentile" => bucket.percentile = Some(number(name, text)?),
                    "ReadMilliseconds" => bucket.read_ms = Some(number(name, text)?),
                    "WriteMilliseconds" => bucket.write_ms = Some(number(name, text)?),
                    "TotalMilliseconds" => bucket.total_ms = Some(number(name, text)?),
                    _ => {}
                }
            }
            ["Thread", "Target"] => {
                let mut done = std::mem::take(target);
                done.read.fold();
                done.write.fold();
                span.add(done)?;
            }
            ["Thread", "Target", name] => target.element(name, text)?,
            _ => {}
        }
        Ok(())
    }
}

impl Span {
    fn add(&mut self, one: TargetSums) -> Result<(), String> {
        match self.targets.iter_mut().find(|target| target.path == one.path) {
            Some(target) => {
                target.read.add(&one.read);
                target.write.add(&one.write);
                Ok(())
            }
            None => push(&mut self.targets, one, MAX_TARGETS, "targets"),
        }
    }
}

impl TargetSums {
    fn element(&mut self, name: &str, text: &str) -> Result<(), String> {
        match name {
            "Path" => text.clone_into(&mut self.path),
            "ReadCount" => self.read.ios = count(name, text)?,
            "ReadBytes" => self.read.bytes = count(name, text)?,
            "WriteCount" => self.write.ios = count(name, text)?,
            "WriteBytes" => self.write.bytes = count(name, text)?,
            "AverageReadLatencyMilliseconds" => self.read.mean_ms = Some(number(name, text)?),
            "AverageWriteLatencyMilliseconds" => self.write.mean_ms = Some(number(name, text)?),
            // The standard deviation without values is not a number; this is no reason to refuse
            // the file.
            "ReadLatencyStdev" => self.read.stddev_ms = number(name, text).ok(),
            "WriteLatencyStdev" => self.write.stddev_ms = number(name, text).ok(),
            _ => {}
        }
        Ok(())
    }

    /// I/Os in one interval of a series; only intervals of whole seconds, the default, are kept.
    fn second(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let Some(end) = attribute(element, "SampleMillisecond")? else { return Ok(()) };
        let end_ms = count("SampleMillisecond", &end)?;
        let second = usize::try_from(end_ms / 1000).unwrap_or(usize::MAX);
        if second > MAX_SECONDS {
            return Err(format!("a series is longer than {MAX_SECONDS} seconds"));
        }
        for (name, sums) in [("Read", &mut self.read), ("Write", &mut self.write)] {
            let Some(ios) = attribute(element, name)? else { continue };
            let ios = u32::try_from(count(name, &ios)?).unwrap_or(u32::MAX);
            if end_ms % 1000 == 0 && second == sums.per_second.len() + 1 {
                sums.per_second.push(ios);
            }
        }
        Ok(())
    }
}

impl Sums {
    /// Adds the mean and the deviation, which follow the counts, to the sums.
    fn fold(&mut self) {
        let Some(mean) = self.mean_ms.take() else { return };
        let deviation = self.stddev_ms.take().unwrap_or(0.0);
        self.timed_ios = self.ios as f64;
        self.sum_ms = self.timed_ios * mean;
        self.squares_ms2 = self.timed_ios * (deviation * deviation + mean * mean);
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.ios = self.ios.saturating_add(other.ios);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.timed_ios += other.timed_ios;
        self.sum_ms += other.sum_ms;
        self.squares_ms2 += other.squares_ms2;
        if self.per_second.len() < other.per_second.len() {
            self.per_second.resize(other.per_second.len(), 0);
        }
        for (sum, ios) in self.per_second.iter_mut().zip(&other.per_second) {
            *sum = sum.saturating_add(*ios);
        }
    }
}

fn push<T>(list: &mut Vec<T>, item: T, most: usize, what: &str) -> Result<(), String> {
    if list.len() == most {
        return Err(format!("more than {most} {what}"));
    }
    list.push(item);
    Ok(())
}

fn pair(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

fn filled(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    let found = element.try_get_attribute(name).map_err(|error| error.to_string())?;
    Ok(found.map(|attribute| attribute.value.trim().to_owned()))
}

fn count(name: &str, text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{name} is {}, not a count", quoted(text)))
}

/// Finite and not negative.
fn number(name: &str, text: &str) -> Result<f64, String> {
    let value: Option<f64> = text.parse().ok();
    value.filter(|value| value.is_finite() && *value >= 0.0).ok_or_else(|| {
        format!("{name} is {}, but should be a number that is not negative", quoted(text))
    })
}

/// The start of a text, in backquotes.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("`{short}`")
}

// Walks through XML with limited memory and stack.
//
// No tree is built: the visitor gets each element as it begins and ends, with its position. Depth
// and text length are limited. A document type is refused, and with it all entities that could
// expand.

/// Depth limit of nested elements; `DiskSpd` has nine levels.
const MAX_DEPTH: usize = 32;
/// Limit for the text of one element, in bytes; the longest one of `DiskSpd` is a path.
const MAX_TEXT: usize = 64 << 10;

/// Gets the elements of the walk. `path` has the names of the enclosing elements and of the element
/// itself, outermost first.
pub(super) trait Visitor {
    fn begins(&mut self, path: &[&str], element: &BytesStart<'_>) -> Result<(), String>;
    /// Called at the end of an element. `text` is its text since the previous element began or
    /// ended: all its text if it has no elements.
    fn ends(&mut self, path: &[&str], text: &str) -> Result<(), String>;
}

/// The problem and its line, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub line: usize,
    pub what: String,
}

/// Walks through all of `text`.
pub(super) fn walk(text: &str, visitor: &mut impl Visitor) -> Result<(), Fault> {
    let mut reader = Reader::from_str(text);
    // `DiskSpd` does not escape paths, not even `&`.
    reader.config_mut().allow_dangling_amp = true;
    let mut path: Vec<String> = Vec::new();
    let mut words = String::new();
    let mut elements = 0_usize;
    loop {
        let event = reader.read_event();
        let at = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let fault = |what: String| Fault { line: line_at(text, at), what };
        match event.map_err(|error| fault(error.to_string()))? {
            Event::Start(element) => {
                enter(&mut path, &element, visitor).map_err(fault)?;
                elements += 1;
                words.clear();
            }
            Event::Empty(element) => {
                enter(&mut path, &element, visitor).map_err(fault)?;
                elements += 1;
                words.clear();
                leave(&mut path, "", visitor).map_err(fault)?;
            }
            Event::End(_) => {
                leave(&mut path, words.trim(), visitor).map_err(fault)?;
                words.clear();
            }
            Event::Text(content) => append(&mut words, &content.into_inner()).map_err(fault)?,
            Event::CData(content) => append(&mut words, &content.into_inner()).map_err(fault)?,
            Event::GeneralRef(reference) => {
                append(&mut words, &resolved(&reference)).map_err(fault)?;
            }
            Event::DocType(_) => {
                return Err(fault(
                    "it has a document type, but DiskSpd never writes one".to_owned(),
                ));
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof => break,
        }
    }
    let end = |what: String| Fault { line: line_at(text, text.len()), what };
    match path.last() {
        Some(open) => Err(end(format!("it ends inside <{open}>: the file is incomplete"))),
        None if elements == 0 => Err(end("it has no elements".to_owned())),
        None => Ok(()),
    }
}

fn enter(
    path: &mut Vec<String>,
    element: &BytesStart<'_>,
    visitor: &mut impl Visitor,
) -> Result<(), String> {
    if path.len() == MAX_DEPTH {
        return Err(format!("elements are nested more than {MAX_DEPTH} levels deep"));
    }
    path.push(element.name().as_ref().to_owned());
    visitor.begins(&names(path), element)
}

fn leave(path: &mut Vec<String>, text: &str, visitor: &mut impl Visitor) -> Result<(), String> {
    visitor.ends(&names(path), text)?;
    path.pop();
    Ok(())
}

fn names(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

fn append(words: &mut String, more: &str) -> Result<(), String> {
    if words.len() + more.len() > MAX_TEXT {
        return Err(format!("more than {MAX_TEXT} bytes of text in one element"));
    }
    words.push_str(more);
    Ok(())
}

/// The five entities of XML and numeric characters; anything else stays as written.
fn resolved(reference: &BytesRef<'_>) -> String {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return character.to_string();
    }
    let name = reference.xml10_content();
    match &*name {
        "lt" => "<".to_owned(),
        "gt" => ">".to_owned(),
        "amp" => "&".to_owned(),
        "apos" => "'".to_owned(),
        "quot" => "\"".to_owned(),
        other => format!("&{other};"),
    }
}

fn line_at(text: &str, at: usize) -> usize {
    1 + text.get(..at).unwrap_or(text).matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen(Vec<(String, String)>);

    impl Visitor for Seen {
        fn begins(&mut self, _: &[&str], _: &BytesStart<'_>) -> Result<(), String> {
            Ok(())
        }

        fn ends(&mut self, path: &[&str], text: &str) -> Result<(), String> {
            self.0.push((path.join("/"), text.to_owned()));
            Ok(())
        }
    }

    fn seen(text: &str) -> Result<Vec<(String, String)>, String> {
        let mut seen = Seen::default();
        walk(text, &mut seen).map_err(|f| format!("line {}: {}", f.line, f.what)).map(|()| seen.0)
    }

    #[test]
    fn paths_are_taken_as_they_were_written() {
        let pairs = seen("<a>\n <b>C:\\x &amp; y &#65; &z; R&D</b>\n <c/>\n</a>").unwrap();
        let text: Vec<_> =
            pairs.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(text, [("a/b", "C:\\x & y A &z; R&D"), ("a/c", ""), ("a", "")]);
    }

    #[test]
    fn tricks_are_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"&c;&c;\">]>\n<a>&b;</a>";
        insta::assert_snapshot!(seen(bomb).unwrap_err(), @"line 1: it has a document type, but DiskSpd never writes one");
        insta::assert_snapshot!(seen(&"<a>".repeat(40)).unwrap_err(), @"line 1: elements are nested more than 32 levels deep");
        insta::assert_snapshot!(seen(&format!("<a>{}</a>", "x".repeat(70_000))).unwrap_err(), @"line 1: more than 65536 bytes of text in one element");
        insta::assert_snapshot!(seen("<a>\n<b>\n").unwrap_err(), @"line 3: it ends inside <b>: the file is incomplete");
        insta::assert_snapshot!(seen("<a></b>").unwrap_err(), @"line 1: ill-formed document: expected `</a>`, but `</b>` was found");
        insta::assert_snapshot!(seen("no XML").unwrap_err(), @"line 1: it has no elements");
    }
}
