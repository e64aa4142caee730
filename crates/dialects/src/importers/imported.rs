//! An imported result and its parts: errors, numbers, options.

use std::fmt::{self, Display};

use iotax_experiment::{Blame, Fault, brief};
use iotax_record::{DirectionRecord, FarEndRecord, JobRecord, LoadRecord, SystemCounters};
use serde::{Deserialize, Deserializer, de};

/// Why a result of another tool cannot be used. Messages name the position in the text; the caller
/// adds the name of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("the result is {bytes} bytes long; the limit is {limit} bytes")]
    TooLong { bytes: usize, limit: usize },
    #[error(
        "it contains no fio JSON{}; run fio with --output-format=json+ and save its output",
        said(text)
    )]
    NoDocument { text: String },
    #[error(
        "line {line}: the JSON that starts here is incomplete; the program that wrote it ended \
         too early"
    )]
    CutOff { line: usize },
    #[error("line {line}, column {column}: {}", brief(why))]
    Json { line: usize, column: usize, why: String },
    #[error("line {line}: this JSON has no \"{missing}\", so it is not a fio result")]
    NotFio { line: usize, missing: &'static str },
    #[error("the result has no jobs: fio ended before any job ran")]
    NoJobs,
    #[error("the result has more than {limit} jobs")]
    TooManyJobs { limit: usize },
    #[error("job {}: {} is {}, but should be {expected}", brief(job), brief(field), brief(value))]
    Number { job: String, field: String, value: String, expected: &'static str },
    #[error("line {line}: {}; diskspd -Rxml writes XML results", brief(why))]
    Xml { line: usize, why: String },
    #[error(
        "this is DiskSpd's text output, which is rounded and incomplete; run DiskSpd again with \
         -Rxml and save its output"
    )]
    DiskspdText,
    #[error("it contains no {tool} measurement: {}", brief(why))]
    Nothing { tool: &'static str, why: String },
}

impl Blame for Error {
    fn fault(&self) -> Fault {
        Fault::Usage
    }
}

fn said(text: &str) -> String {
    if text.is_empty() {
        " (it is empty)".to_owned()
    } else {
        format!(" (its first line is {:?})", brief(text))
    }
}

// Numbers of a result: read as they are, and checked where their meaning is known.

/// Limit for I/Os and bytes: 9 PB. With 512 jobs at most, no sum overflows.
pub(super) const MOST: u64 = 1 << 53;

/// The nearest whole number; 0 if negative or not a number, and the largest number if too large.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as meant")]
pub(super) fn whole(x: f64) -> u64 {
    x.round() as u64
}

/// A number that may be absent; `nan` counts as absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Number {
    #[default]
    Absent,
    Whole(u64),
    Other(f64),
}

impl Number {
    pub(super) fn whole(self) -> Option<u64> {
        match self {
            Self::Whole(n) => Some(n),
            Self::Absent | Self::Other(_) => None,
        }
    }

    pub(super) fn float(self) -> Option<f64> {
        match self {
            Self::Whole(n) => Some(n as f64),
            Self::Other(x) => Some(x),
            Self::Absent => None,
        }
    }

    /// As a count; `None` if absent.
    pub(super) fn count(self, job: &str, field: impl Display) -> Result<Option<u64>, Error> {
        match self {
            Self::Absent => Ok(None),
            Self::Whole(n) if n <= MOST => Ok(Some(n)),
            Self::Other(x) if (0.0..=MOST as f64).contains(&x) => Ok(Some(whole(x))),
            _ => Err(self.wrong(job, field, "a count from 0 to 9 * 10^15")),
        }
    }

    /// As a share or a mean; `None` if absent.
    pub(super) fn positive(self, job: &str, field: impl Display) -> Result<Option<f64>, Error> {
        match self.float() {
            Some(x) if (0.0..=MOST as f64).contains(&x) => Ok(Some(x)),
            None => Ok(None),
            Some(_) => Err(self.wrong(job, field, "a number from 0 to 9 * 10^15")),
        }
    }

    pub(super) fn wrong(self, job: &str, field: impl Display, expected: &'static str) -> Error {
        let value = match self {
            Self::Absent => "absent".to_owned(),
            Self::Whole(n) => n.to_string(),
            Self::Other(x) if x.abs() > MOST as f64 => format!("{x:e}"),
            Self::Other(x) => x.to_string(),
        };
        Error::Number { job: job.to_owned(), field: field.to_string(), value, expected }
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E>(self, n: u64) -> Result<Number, E> {
        Ok(Number::Whole(n))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Number, E> {
        Ok(u64::try_from(n).map_or(Number::Other(n as f64), Number::Whole))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Number, E> {
        Ok(Number::Other(x))
    }

    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::Absent)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Visitor)
    }
}

// Options of a job in a result, with fio's names.

/// Name and value, global options first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options(pub Vec<(String, String)>);

impl FromIterator<(String, String)> for Options {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Options {
    /// The last setting of an option counts, as in fio.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.any(&[name])
    }

    /// The last setting of an option with several names.
    pub(crate) fn any(&self, names: &[&str]) -> Option<&str> {
        let found = self.0.iter().rev().find(|(name, _)| names.contains(&name.as_str()));
        found.map(|(_, value)| value.as_str())
    }
}

/// A size as fio reads it: powers of two, whatever follows the letter (`4k`, `4kb`, `4KiB`).
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split(text);
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        "p" => 50,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(1 << power)
}

/// A time as fio reads it: in seconds if there is no unit.
pub(crate) fn microseconds(text: &str) -> Option<u64> {
    let (number, unit) = split(text);
    let factor = match unit.as_str() {
        "us" => 1,
        "ms" => 1_000,
        "" | "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Digits, and the rest in lower case.
fn split(text: &str) -> (&str, String) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (&text[..end], text[end..].to_lowercase())
}

/// One run, as reported by another tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Imported {
    /// The tool and its version, for people: `fio 3.33`.
    pub tool: String,
    /// Identifier of the run ([`iotax_record::ExperimentHead::id`]), if iotax made it.
    pub id: Option<String>,
    /// Start of the run, RFC 3339, UTC; to the second at best.
    pub started: Option<String>,
    /// One per job, in the order of the result. Jobs with one name in one group are clones of each
    /// other (`numjobs`) and are merged, like threads in iotax.
    pub jobs: Vec<JobRecord>,
    /// The options of each job.
    pub options: Vec<Options>,
    /// The longest time that any job ran, in nanoseconds.
    pub window_ns: u64,
    /// What the far end of a network path received, if there is one job.
    pub far_end: Option<FarEndRecord>,
    /// Text that the tool printed around its result, and parts that have no place here.
    pub warnings: Vec<String>,
}

impl Imported {
    /// The run as a load driver would have recorded it.
    pub fn into_load(self) -> LoadRecord {
        LoadRecord {
            driver: self.tool,
            window_ns: self.window_ns,
            system: system(&self.jobs, self.far_end.as_ref()),
            far_end: self.far_end,
            jobs: self.jobs,
            warnings: self.warnings,
            ..LoadRecord::default()
        }
    }
}

/// Facts about the process of this end: with a far end, the CPU time of the job is all that it
/// used.
pub(crate) fn system(jobs: &[JobRecord], far_end: Option<&FarEndRecord>) -> SystemCounters {
    let cpu_ns = || jobs.iter().map(|job| job.cpu_user_ns.saturating_add(job.cpu_system_ns)).sum();
    SystemCounters { process_cpu_ns: far_end.map(|_| cpu_ns()), ..SystemCounters::default() }
}

/// A flow for which a tool kept little more than its rate, from the client to the server.
pub(super) struct Flow {
    pub name: String,
    pub is_udp: bool,
    pub flows: u32,
    pub block_bytes: u64,
    pub bits_per_s: f64,
    pub seconds: u64,
}

impl Flow {
    /// Adds it to a result as a job: flows ran one after the other.
    pub(super) fn add_to(self, result: &mut Imported) {
        let Self { name, is_udp, flows, block_bytes, bits_per_s, seconds } = self;
        let engine = if is_udp { "udp_stream" } else { "tcp_stream" };
        // A rate above 0 has moved something, and sums of such rates do not overflow.
        let bytes = whole(bits_per_s / 8.0 * seconds as f64).clamp(1, MOST);
        let options = [
            ("ioengine", engine.to_owned()),
            ("rw", "write".to_owned()),
            ("bs", block_bytes.to_string()),
            ("numjobs", flows.to_string()),
        ];
        let options = options.into_iter().map(|(name, value)| (name.to_owned(), value));
        result.options.push(options.collect());
        let write = DirectionRecord {
            ios: bytes.div_ceil(block_bytes),
            bytes,
            ..DirectionRecord::default()
        };
        let active_ns = seconds.saturating_mul(1_000_000_000);
        result.window_ns = result.window_ns.max(active_ns);
        result.jobs.push(JobRecord {
            engine: engine.to_owned(),
            threads: flows,
            queue_depth: 1,
            active_ns,
            write,
            name,
            ..JobRecord::default()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_fios() {
        assert_eq!(
            ["4096", "4k", "4KB", "4kib", "1m"].map(bytes),
            [4096, 4096, 4096, 4096, 1 << 20].map(Some)
        );
        assert_eq!(["4k,8k", "x", "", "99999999999999999999"].map(bytes), [None; 4]);
        assert_eq!(["60", "60s", "1m", "60000ms"].map(microseconds), [Some(60_000_000); 4]);
        assert_eq!(["1h", "1x"].map(microseconds), [Some(3_600_000_000), None]);
    }
}
