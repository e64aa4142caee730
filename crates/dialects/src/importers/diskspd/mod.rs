//! Reads `DiskSpd` results in XML, as printed by `-Rxml` (`XmlResultParser.cpp` of `DiskSpd` 2.2).
//!
//! Each target of each time span becomes a job. Its threads are added up; its rate is its number of
//! I/Os divided by the `TestTimeSeconds` of the span. Percentiles are written for a whole time
//! span, so a job has them only if its span has no other target; means and deviations are written
//! for each target. All latencies count from submission, in steps of one microsecond.

mod document;

use iotax_record::{DirectionRecord, JobRecord, LatencyHistogram, LatencySummary};

use self::document::{AskedSpan, Bucket, Document, Span, Sums, TargetSums};
use super::imported::{Error, Imported, Options, whole};

/// Reads the output of `diskspd -Rxml`.
///
/// # Errors
/// [`Error::DiskspdText`] for output without `-Rxml`, [`Error::Xml`] with the line if it is not XML
/// or not from `DiskSpd`, [`Error::Nothing`] if there are no results.
pub fn read_diskspd(text: &str) -> Result<Imported, Error> {
    if is_text(text) {
        return Err(Error::DiskspdText);
    }
    let mut document = Document::default();
    document::walk(text, &mut document)
        .map_err(|fault| Error::Xml { line: fault.line, why: fault.what })?;
    imported(&document).map_err(|why| Error::Nothing { tool: "DiskSpd", why })
}

/// Whether it is the text that `DiskSpd` prints without `-Rxml` (`ResultParser.cpp`).
pub(super) fn is_text(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).take(40);
    lines.by_ref().any(|line| line.starts_with("Command Line:"))
        && lines.any(|line| line.starts_with("Input parameters:"))
}

fn imported(document: &Document) -> Result<Imported, String> {
    let several_spans = document.measured.len() > 1;
    let version = document.version.as_deref().unwrap_or_default();
    let mut result = Imported {
        tool: format!("DiskSpd {version}").trim_end().to_owned(),
        started: document.run_time.as_deref().and_then(rfc3339),
        ..Imported::default()
    };
    for (i, span) in document.measured.iter().enumerate() {
        if let Some(error) = &span.error {
            result.warnings.push(error.clone());
            continue;
        }
        let Some(seconds) = span.seconds.filter(|seconds| *seconds > 0.0) else {
            return Err("TestTimeSeconds is missing from a time span, or is 0".to_owned());
        };
        let active_ns = whole(seconds * 1e9);
        result.window_ns = result.window_ns.max(active_ns);
        let asked = document.asked.get(i);
        let alone = span.targets.len() == 1;
        if !alone && !span.buckets.is_empty() {
            result.warnings.push(
                "percentiles cover all targets together, so individual targets have none"
                    .to_owned(),
            );
        }
        for (j, target) in span.targets.iter().enumerate() {
            let name = name(several_spans.then_some(i), (!alone).then_some(j));
            let options = asked.map(|asked| options(asked, target, j)).unwrap_or_default();
            let buckets = if alone { span.buckets.as_slice() } else { &[] };
            result.jobs.push(job(name, span, target, &options, active_ns, buckets));
            result.options.push(options);
        }
    }
    if result.jobs.is_empty() {
        let why = result.warnings.first().map_or("", String::as_str);
        return Err(if why.is_empty() { "no time span has a target" } else { why }.to_owned());
    }
    Ok(result)
}

/// The same name for the same position in each file: targets on two volumes have different paths,
/// but are to be compared.
fn name(span: Option<usize>, target: Option<usize>) -> String {
    match (span, target) {
        (None, None) => "diskspd".to_owned(),
        (Some(i), None) => format!("time span {}", i + 1),
        (None, Some(j)) => format!("target {}", j + 1),
        (Some(i), Some(j)) => format!("time span {}, target {}", i + 1, j + 1),
    }
}

fn job(
    name: String,
    span: &Span,
    target: &TargetSums,
    options: &Options,
    active_ns: u64,
    buckets: &[Bucket],
) -> JobRecord {
    let number = |option| options.value(option)?.parse().ok();
    let of_span = span.threads.and_then(|n| u32::try_from(n).ok());
    JobRecord {
        name,
        engine: "diskspd".to_owned(),
        threads: number("numjobs").or(of_span).unwrap_or(0),
        queue_depth: number("iodepth").unwrap_or(0),
        active_ns,
        read: direction(&target.read, buckets, |bucket| bucket.read_ms),
        write: direction(&target.write, buckets, |bucket| bucket.write_ms),
        both: both(target, buckets),
        sync: LatencyHistogram::empty(),
        ..JobRecord::default()
    }
}

fn direction(
    sums: &Sums,
    buckets: &[Bucket],
    latency: impl Fn(&Bucket) -> Option<f64>,
) -> DirectionRecord {
    let at = |bucket: &Bucket| Some((bucket.percentile?, whole(latency(bucket)? * 1e6)));
    let points: Vec<(f64, u64)> = buckets.iter().filter_map(at).collect();
    let end = |percentile: f64| points.iter().find(|(p, _)| *p == percentile).map(|(_, ns)| *ns);
    let mean_ms = sums.sum_ms / sums.timed_ios;
    let variance = (sums.squares_ms2 / sums.timed_ios - mean_ms * mean_ms).max(0.0);
    DirectionRecord {
        ios: sums.ios,
        bytes: sums.bytes,
        service: LatencyHistogram::empty(),
        per_second_ios: if sums.ios > 0 { sums.per_second.clone() } else { Vec::new() },
        summary: (sums.timed_ios > 0.0).then(|| LatencySummary {
            mean_ns: mean_ms * 1e6,
            stddev_ns: Some(variance.sqrt() * 1e6),
            min_ns: end(0.0),
            max_ns: end(100.0),
            quantiles: points
                .iter()
                .filter(|(p, _)| *p > 0.0 && *p < 100.0)
                .map(|(p, ns)| (p / 100.0, *ns))
                .collect(),
            called: None,
        }),
        ..DirectionRecord::default()
    }
}

/// Reads and writes together, if there are both.
fn both(target: &TargetSums, buckets: &[Bucket]) -> Option<LatencySummary> {
    if target.read.ios == 0 || target.write.ios == 0 {
        return None;
    }
    let mut sums = Sums::default();
    sums.add(&target.read);
    sums.add(&target.write);
    direction(&sums, buckets, |bucket| bucket.total_ms).summary
}

/// The options of a target, in fio's names and units.
fn options(asked: &AskedSpan, target: &TargetSums, index: usize) -> Options {
    let is_same = |options: &&Options| options.value("Path") == Some(&target.path);
    let of_target = asked.targets.iter().find(is_same).or_else(|| asked.targets.get(index));
    let Some(of_target) = of_target else { return Options::default() };
    let written = |name: &str| of_target.value(name).filter(|value| !value.is_empty());
    let of_span = |name: &str| asked.options.value(name).filter(|value| !value.is_empty());
    let counted = |text: Option<&str>| text.filter(|text| *text != "0").map(str::to_owned);
    let is_set = |name: &str| (written(name) == Some("true")).then(|| "1".to_owned());
    let writes: Option<u32> = written("WriteRatio").and_then(|percent| percent.parse().ok());
    let (rate, rate_iops) = match (written("Throughput@unit"), counted(written("Throughput"))) {
        (Some("IOPS"), rate) => (None, rate),
        (_, rate) => (rate.and_then(|per_ms| per_ms.parse().ok()).map(bytes_per_s), None),
    };
    // With -O and -F the numbers apply to all targets together.
    let depth = counted(of_span("RequestCount")).or_else(|| counted(written("RequestCount")));
    let threads = counted(of_span("ThreadCount")).or_else(|| counted(written("ThreadsPerFile")));
    let found = [
        ("filename", written("Path").map(str::to_owned)),
        ("rw", Some(access(written("Random").is_some(), writes.unwrap_or(0)).to_owned())),
        ("rwmixwrite", writes.filter(|w| *w % 100 != 0).map(|w| w.to_string())),
        ("percentage_random", written("RandomRatio").map(str::to_owned)),
        ("bs", written("BlockSize").map(str::to_owned)),
        ("iodepth", depth),
        ("numjobs", threads),
        ("direct", is_set("DisableOSCache")),
        ("sync", is_set("WriteThrough")),
        ("rate", rate),
        ("rate_iops", rate_iops),
        ("runtime", of_span("Duration").map(str::to_owned)),
        ("ramp_time", of_span("Warmup").map(str::to_owned)),
    ];
    found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// `-g` is in bytes per millisecond.
fn bytes_per_s(per_ms: u64) -> String {
    per_ms.saturating_mul(1000).to_string()
}

fn access(is_random: bool, write_percent: u32) -> &'static str {
    match (is_random, write_percent) {
        (true, 0) => "randread",
        (true, 100) => "randwrite",
        (true, _) => "randrw",
        (false, 0) => "read",
        (false, 100) => "write",
        (false, _) => "rw",
    }
}

/// Converts `2024/06/03 12:30:00 UTC` to RFC 3339; `None` for anything else.
fn rfc3339(run_time: &str) -> Option<String> {
    let (date, time) = run_time.strip_suffix(" UTC")?.split_once(' ')?;
    let is_like = |text: &str, like: &str| {
        text.len() == like.len()
            && text
                .chars()
                .zip(like.chars())
                .all(|(c, l)| (l == '0' && c.is_ascii_digit()) || c == l)
    };
    (is_like(date, "0000/00/00") && is_like(time, "00:00:00"))
        .then(|| format!("{}T{time}Z", date.replace('/', "-")))
}

#[cfg(test)]
mod tests;
