//! What a file of `DiskSpd` says, element by element.

use quick_xml::events::BytesStart;

use crate::importers::options::Options;
use crate::importers::xml::Visitor;

/// More targets or time spans than `DiskSpd` can have had threads for.
const MAX_TARGETS: usize = 4096;
/// Seconds of a series: a day and more.
const MAX_SECONDS: usize = 100_000;
/// Percentiles of one time span; `DiskSpd` writes 108.
const MAX_BUCKETS: usize = 1024;

/// The whole file.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub version: Option<String>,
    pub run_time: Option<String>,
    pub asked: Vec<AskedSpan>,
    pub measured: Vec<Span>,
    /// The `Target` of a `Thread` under way.
    target: TargetSums,
}

/// A time span of the profile.
#[derive(Debug, Default)]
pub(super) struct AskedSpan {
    /// Elements beside the targets, as written.
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
    /// One per path, in order; threads are summed up.
    pub targets: Vec<TargetSums>,
}

/// One percentile of a time span; latencies in milliseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Bucket {
    pub percentile: Option<f64>,
    pub read_ms: Option<f64>,
    pub write_ms: Option<f64>,
    /// Of both together.
    pub total_ms: Option<f64>,
}

/// What was done on one target.
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
    /// Of the I/Os that have a latency: number, sum of means and of squares, in milliseconds.
    pub timed_ios: f64,
    pub sum_ms: f64,
    pub squares_ms2: f64,
    mean_ms: Option<f64>,
    stddev_ms: Option<f64>,
    /// I/Os in each second; empty unless they were counted by the second.
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
                return Err(format!("its first element is <{other}>, and <Results> was expected"));
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
            // The standard deviation of nothing is no number, which is no reason to refuse a file.
            "ReadLatencyStdev" => self.read.stddev_ms = number(name, text).ok(),
            "WriteLatencyStdev" => self.write.stddev_ms = number(name, text).ok(),
            _ => {}
        }
        Ok(())
    }

    /// I/Os of one interval of a series; only whole seconds are kept, which is the default.
    fn second(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let Some(end) = attribute(element, "SampleMillisecond")? else { return Ok(()) };
        let end_ms = count("SampleMillisecond", &end)?;
        let second = usize::try_from(end_ms / 1000).unwrap_or(usize::MAX);
        if second > MAX_SECONDS {
            return Err(format!("a series of more than {MAX_SECONDS} seconds"));
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
    /// Takes the mean and the deviation, which follow the counts, into the sums.
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
    value
        .filter(|value| value.is_finite() && *value >= 0.0)
        .ok_or_else(|| format!("{name} is {}, not a number from 0 on", quoted(text)))
}

/// The beginning of a text in backquotes.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("`{short}`")
}
