//! Finds the JSON in the output of fio, and keeps the other lines.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::importers::imported::{Error, Number, Options};
use crate::importers::json::{self, Pairs, tidy};

/// Number of lines to keep besides the JSON, which may include the normal report.
const MOST_LINES: usize = 20;
/// Number of characters of such a line to keep.
const LONGEST_LINE: usize = 300;

/// The last complete JSON object of the text.
pub(super) struct Document<'a> {
    /// Valid JSON, apart from known flaws of fio: see [`tidy`].
    pub json: Cow<'a, str>,
    /// The line in which it begins, from 1.
    pub line: usize,
    /// Lines before, between and after objects.
    pub around: Vec<String>,
}

/// The last complete object: fio prints one every `--status-interval`, and one at the end.
pub(super) fn last(text: &str) -> Result<Document<'_>, Error> {
    let text = text.trim_start_matches('\u{feff}');
    let mut found = None;
    let mut around = Around::default();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let rest = &text[at..];
        let this = rest.lines().next().unwrap_or("");
        if this.trim_start().starts_with('{') {
            let Some(length) = object_length(rest) else {
                around.cut_off(found.is_some(), line)?;
                break;
            };
            found = Some((line, &rest[..length]));
            at += length;
            line += newlines(&rest[..length]);
            continue;
        }
        around.keep(this);
        at += rest.find('\n').map_or(rest.len(), |end| end + 1);
        line += 1;
    }
    let Some((line, json)) = found else {
        return Err(Error::NoDocument { text: around.first() });
    };
    Ok(Document { json: tidy(json), line, around: around.into_lines() })
}

/// Text besides the JSON, up to a readable length.
#[derive(Default)]
struct Around {
    lines: Vec<String>,
    more: usize,
}

impl Around {
    fn keep(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || self.lines.iter().any(|known| known == line) {
            return;
        }
        if self.lines.len() < MOST_LINES {
            self.lines.push(line.chars().take(LONGEST_LINE).collect());
        } else {
            self.more += 1;
        }
    }

    /// Skips an object without an end if there was a complete one before.
    fn cut_off(&mut self, found: bool, line: usize) -> Result<(), Error> {
        if !found {
            return Err(Error::CutOff { line });
        }
        self.lines.push(format!(
            "the JSON that starts on line {line} is incomplete; iotax uses the interim snapshot \
             that precedes it"
        ));
        Ok(())
    }

    fn first(self) -> String {
        self.lines.into_iter().next().unwrap_or_default().chars().take(60).collect()
    }

    fn into_lines(mut self) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("and {} more lines", self.more));
        }
        self.lines
    }
}

/// Length of the object at the start of `text`, after blanks; `None` if it does not end.
fn object_length(text: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (i, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(i + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

// The members of fio's JSON that are read; all others are skipped.

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an object, as fio writes it")]
pub(super) struct Root {
    #[serde(rename = "fio version")]
    pub version: Option<String>,
    pub timestamp: Number,
    pub timestamp_ms: Number,
    #[serde(rename = "global options")]
    pub global: Global,
    pub jobs: Option<Vec<RawJob>>,
    pub client_stats: Option<Vec<RawJob>>,
    /// Present in a run of iotax, which prints the same format.
    pub iotax: Option<RawRun>,
}

impl RawRun {
    /// Identifier of the run: its own, or that of a phase.
    pub(super) fn any_id(&self) -> Option<String> {
        let of_phase = || self.phases.iter().find_map(|phase| phase.id.clone());
        self.id.clone().or_else(of_phase)
    }
}

/// iotax's addition to the format: the jobs of each phase.
#[derive(Deserialize, Default)]
#[serde(default, expecting = "the data that iotax adds")]
pub(super) struct RawRun {
    pub id: Option<String>,
    pub workload: String,
    pub arms: Vec<RawArm>,
    pub phases: Vec<RawRun>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "an arm")]
pub(super) struct RawArm {
    pub other_jobs: Vec<IgnoredAny>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "a job")]
pub(super) struct RawJob {
    pub jobname: String,
    pub groupid: Number,
    pub error: Number,
    pub total_err: Number,
    pub elapsed: Number,
    pub job_start: Number,
    /// Milliseconds, summed over threads.
    pub job_runtime: Number,
    /// Percent of `job_runtime`.
    pub usr_cpu: Number,
    pub sys_cpu: Number,
    pub ctx: Number,
    pub majf: Number,
    pub minf: Number,
    pub hostname: String,
    pub port: Number,
    #[serde(rename = "job options")]
    pub options: Options,
    pub read: RawDirection,
    pub write: RawDirection,
    pub trim: RawDirection,
    pub sync: RawDirection,
    /// With `unified_rw_reporting`, reads and writes in one.
    pub mixed: RawDirection,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the results of one direction")]
pub(super) struct RawDirection {
    pub io_bytes: Number,
    pub io_kbytes: Number,
    pub iops: Number,
    pub runtime: Number,
    pub total_ios: Number,
    pub short_ios: Number,
    pub clat_ns: Option<RawLatency>,
    pub clat: Option<RawLatency>,
    pub lat_ns: Option<RawLatency>,
    pub lat: Option<RawLatency>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "latencies")]
pub(super) struct RawLatency {
    pub min: Number,
    pub max: Number,
    pub mean: Number,
    pub stddev: Number,
    #[serde(rename = "N")]
    pub samples: Number,
    pub percentile: Pairs<Number>,
    pub bins: Pairs<Number>,
}

/// Options of all jobs: of one fio, or since 3.39 of each server of a client.
#[derive(Default)]
pub(super) struct Global(Vec<Options>);

impl Global {
    /// The options of the job's server, followed by the job's own.
    pub(super) fn with(&self, job: &RawJob) -> Options {
        let is_its_own = |options: &&Options| {
            let says = |name: &str, value: &str| {
                options.0.iter().all(|(key, known)| key != name || known == value)
            };
            let port = job.port.whole().map(|port| port.to_string());
            says("hostname", &job.hostname) && port.is_none_or(|port| says("port", &port))
        };
        let all = &self.0;
        let found = all.iter().find(is_its_own).or(if all.len() == 1 { all.first() } else { None });
        let of_server = found.into_iter().flat_map(|options| &options.0);
        of_server.chain(&job.options.0).cloned().collect()
    }
}

struct GlobalVisitor;

impl<'de> de::Visitor<'de> for GlobalVisitor {
    type Value = Global;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the options of all jobs")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Global, A::Error> {
        let one = Options::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(Global(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut servers: A) -> Result<Global, A::Error> {
        let mut all = Vec::new();
        while let Some(options) = servers.next_element()? {
            all.push(options);
        }
        Ok(Global(all))
    }
}

impl<'de> Deserialize<'de> for Global {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(GlobalVisitor)
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        // fio writes text, but a number for the port of a server.
        let text = |value| match value {
            Value::String(text) => Ok(text),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(switch) => Ok(u8::from(switch).to_string()),
            Value::Null => Ok(String::new()),
            Value::Array(_) | Value::Object(_) => Err(D::Error::custom("a text or a number")),
        };
        let Pairs(pairs) = Pairs::<Value>::deserialize(from)?;
        let texts = pairs.into_iter().map(|(name, value)| Ok((name, text(value)?)));
        Ok(Self(texts.collect::<Result<_, _>>()?))
    }
}

pub(super) fn parse(document: &Document<'_>) -> Result<Root, Error> {
    serde_json::from_str(&document.json).map_err(|error| json::broken(&error, document.line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_whole_object_counts_and_lines_around_are_kept() {
        let found = last("note: a\n\n{\"a\": \"}\"}\nb\n {\n\"c\": {}}\nd\n{\"cut").unwrap();
        assert_eq!((found.json.as_ref(), found.line), (" {\n\"c\": {}}", 5));
        insta::assert_debug_snapshot!(found.around, @r#"
        [
            "note: a",
            "b",
            "d",
            "the JSON that starts on line 8 is incomplete; iotax uses the interim snapshot that precedes it",
        ]
        "#);
    }
}
