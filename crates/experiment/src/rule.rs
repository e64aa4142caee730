//! Rules that results may break: `slower by 5%`, `sync.p99 > 10ms`, `new: wal read.mean > 1ms`; for
//! a search for caps also `below documented by 5%`.

use std::fmt;

use iotax_layers::{Error, units};
use schemars::JsonSchema;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::matrix::Setting;
use crate::spec::{Design, Draft};

/// A condition that must not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    /// The arm or layer it applies to; `None`: all of them.
    pub of: Option<String>,
    /// The condition that breaks it.
    pub condition: Condition,
}

/// A condition that breaks a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Slower than the baseline.
    SlowerBy(Slowdown),
    /// A cap below the documented limit of its target by more than this fraction.
    BelowDocumented(f64),
    /// A metric on the wrong side of a limit, independent of the baseline.
    Figure {
        /// The job of the metric; `None`: the primary one.
        job: Option<String>,
        figure: Figure,
        /// The side that breaks the rule.
        side: Side,
        /// In nanoseconds, I/Os per second or bytes per second.
        limit: f64,
    },
}

/// How much slower than the baseline an arm may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slowdown {
    /// A larger fraction breaks the rule.
    pub share: f64,
    /// Whether the median operation is compared instead of the primary metric.
    pub typical: bool,
}

/// The result for a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleOutcome {
    Fail,
    Pass,
    /// The data allow both.
    Undecided,
}

/// How to treat an undecided rule instead of giving it a separate exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UndecidedAs {
    /// As met.
    Pass,
    /// As violated.
    Fail,
}

/// A metric of one trial, or a cap.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// Reads and writes per second.
    Iops,
    /// Bytes read and written per second.
    Bandwidth,
    Time(TimeKind, Statistic),
}

/// Which times a metric is about.
#[derive(Debug, Clone, PartialEq)]
pub enum TimeKind {
    /// Reads, writes and trims.
    Latency,
    Read,
    Write,
    Trim,
    /// `fsync` and `fdatasync`.
    Sync,
    /// An operation beside the jobs: publishing an index, loading it, a query.
    Operation(&'static str),
}

/// The statistic over all times of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    Mean,
    /// Their quantile, between 0 and 1.
    Quantile(f64),
}

/// A side of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Higher.
    Above,
    /// Lower.
    Below,
}

/// The times, by name.
const KINDS: [(&str, TimeKind); 8] = [
    ("latency", TimeKind::Latency),
    ("read", TimeKind::Read),
    ("write", TimeKind::Write),
    ("trim", TimeKind::Trim),
    ("sync", TimeKind::Sync),
    ("load", TimeKind::Operation("load")),
    ("publish", TimeKind::Operation("publish")),
    ("query", TimeKind::Operation("query")),
];
/// Text of a rule about a difference from the baseline.
const SLOWER: &str = "slower by ";
/// Text before it if it is about the median operation.
const TYPICAL: &str = "p50";
const SHAPE: &str = "specify the condition that breaks the rule, as in 'slower by 5%', 'sync.p99 \
                     > 10ms' or 'new: iops < 5000'";

impl Rule {
    /// Reads a rule.
    ///
    /// # Errors
    /// If it is not a rule, with the possible forms.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (of, rest) = match text.rsplit_once(": ") {
            Some((of, rest)) if !of.trim().is_empty() => (Some(of.trim().to_owned()), rest),
            _ => (None, text),
        };
        let condition = condition(rest.trim())?;
        Ok(Self { of, condition })
    }

    /// Whether it applies to this arm or layer.
    pub fn is_about(&self, name: &str) -> bool {
        self.of.as_deref().is_none_or(|of| of == name)
    }
}

fn condition(text: &str) -> Result<Condition, Error> {
    if let Some((what, by)) = text.split_once(SLOWER)
        && (what.is_empty() || what.ends_with(char::is_whitespace))
    {
        let typical = match what.trim() {
            "" => false,
            TYPICAL => true,
            other => return Err(not_compared(other)),
        };
        return Ok(Condition::SlowerBy(Slowdown { share: part(by, "slower")?, typical }));
    }
    if let Some(by) = text.strip_prefix("below documented by ") {
        return Ok(Condition::BelowDocumented(part(by, "below documented")?));
    }
    let found = [(">", Side::Above), ("<", Side::Below)]
        .into_iter()
        .find_map(|(sign, side)| Some((text.split_once(sign)?, side)));
    let Some(((what, limit), side)) = found else {
        return Err(Error::syntax(format!("`{text}` is not a rule"), SHAPE));
    };
    let what = what.trim();
    let (job, name) = match what.rsplit_once(char::is_whitespace) {
        Some((job, name)) => (Some(job.trim().to_owned()), name),
        None => (None, what),
    };
    let figure = figure(name)?;
    let limit = limit.trim();
    let limit = match figure {
        Figure::Iops => units::parse_iops(limit)?,
        Figure::Bandwidth => units::parse_bandwidth(limit)?,
        Figure::Time(..) => units::parse_duration(limit)? as f64,
    };
    if limit <= 0.0 {
        return Err(Error::syntax(format!("the limit in `{text}` is 0"), SHAPE));
    }
    if let (Some(job), Figure::Time(TimeKind::Operation(name), _)) = (&job, &figure) {
        let problem =
            format!("`{name}` is not measured per job, so a rule cannot limit it for job `{job}`");
        return Err(Error::syntax(problem, "leave out the job"));
    }
    Ok(Condition::Figure { job, figure, side, limit })
}

fn not_compared(what: &str) -> Error {
    let problem = format!("`slower by` does not apply to `{what}`");
    Error::syntax(problem, "use 'slower by 5%', 'p50 slower by 5%', or a limit as in 'p99 > 10ms'")
}

/// A share below 100 %.
fn part(text: &str, words: &str) -> Result<f64, Error> {
    let share = units::parse_share(text)?;
    if share < 1.0 {
        Ok(share)
    } else {
        Err(Error::syntax(format!("nothing can be {words} by 100%"), SHAPE))
    }
}

fn figure(text: &str) -> Result<Figure, Error> {
    match text {
        "iops" => return Ok(Figure::Iops),
        "bandwidth" => return Ok(Figure::Bandwidth),
        _ => {}
    }
    let (kind, statistic) = match text.split_once('.') {
        // `p99.9` alone.
        _ if statistic(text).is_ok() => ("latency", text),
        Some(parts) => parts,
        None => (text, "mean"),
    };
    let known = KINDS.iter().find(|(word, _)| *word == kind);
    let words = ["iops", "bandwidth"].into_iter().chain(KINDS.iter().map(|(word, _)| *word));
    let (_, kind) = known.ok_or_else(|| Error::unknown("metric", kind, words))?;
    Ok(Figure::Time(kind.clone(), self::statistic(statistic)?))
}

fn statistic(text: &str) -> Result<Statistic, Error> {
    if text == "mean" {
        return Ok(Statistic::Mean);
    }
    let percent = text.strip_prefix('p').and_then(|digits| digits.parse::<f64>().ok());
    match percent {
        Some(percent) if percent > 0.0 && percent < 100.0 => {
            Ok(Statistic::Quantile(percent / 100.0))
        }
        _ => Err(Error::unknown("statistic", text, ["mean", "p50", "p99", "p99.9"])),
    }
}

impl TimeKind {
    fn word(&self) -> &'static str {
        KINDS.iter().find(|(_, known)| known == self).map_or("", |(word, _)| word)
    }
}

impl Figure {
    /// For users: `sync p99`, `IOPS`.
    pub fn name(&self) -> String {
        match self {
            Self::Iops => "IOPS".to_owned(),
            Self::Bandwidth => "bandwidth".to_owned(),
            Self::Time(kind, Statistic::Mean) => format!("mean {} time", kind.word()),
            Self::Time(kind, Statistic::Quantile(quantile)) => {
                format!("{} {}", kind.word(), quantile_word(*quantile))
            }
        }
    }

    /// A limit in its written form.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, above 0")]
    fn limit(&self, limit: f64) -> String {
        match self {
            Self::Iops => limit.to_string(),
            Self::Bandwidth => {
                let text = units::format_bandwidth(limit);
                let is_multiple = text.ends_with(char::is_alphabetic);
                text + if is_multiple { "iB/s" } else { "B/s" }
            }
            Self::Time(..) => units::format_duration(limit as u64),
        }
    }

    /// Its quantile, if it has one.
    pub fn quantile(&self) -> Option<f64> {
        match self {
            Self::Time(_, Statistic::Quantile(quantile)) => Some(*quantile),
            Self::Iops | Self::Bandwidth | Self::Time(_, Statistic::Mean) => None,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(of) = &self.of {
            write!(f, "{of}: ")?;
        }
        match &self.condition {
            Condition::SlowerBy(Slowdown { share, typical }) => {
                let what = if *typical { format!("{TYPICAL} ") } else { String::new() };
                write!(f, "{what}{SLOWER}{}", percent(*share))
            }
            Condition::BelowDocumented(share) => {
                write!(f, "below documented by {}", percent(*share))
            }
            Condition::Figure { job, figure, side, limit } => {
                if let Some(job) = job {
                    write!(f, "{job} ")?;
                }
                let sign = if *side == Side::Above { '>' } else { '<' };
                write!(f, "{figure} {sign} {}", figure.limit(*limit))
            }
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Iops => f.write_str("iops"),
            Self::Bandwidth => f.write_str("bandwidth"),
            Self::Time(kind, Statistic::Mean) => write!(f, "{}.mean", kind.word()),
            Self::Time(kind, Statistic::Quantile(quantile)) => {
                write!(f, "{}.{}", kind.word(), quantile_word(*quantile))
            }
        }
    }
}

/// `5%`; rounding leaves .05 * 100 slightly off.
fn percent(share: f64) -> String {
    format!("{}%", (share * 1e8).round() / 1e6)
}

/// `p99.9`; rounding leaves .999 * 100 slightly off.
fn quantile_word(quantile: f64) -> String {
    format!("p{}", (quantile * 1e8).round() / 1e6)
}

impl TryFrom<String> for Rule {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.to_string()
    }
}

/// The subject of a conclusion. Names do not determine the kind of subject, because arms and layers
/// can have any name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An arm compared with its baseline.
    Arm(String),
    /// A layer of a peel, by its name in the stack.
    Layer(String),
    /// The cost of two layers together beyond the sum of each alone.
    Interaction([String; 2]),
    /// All layers of a peel together.
    Total,
    /// A level of a matrix compared with the first level of its factor.
    Level(Setting),
}

impl Subject {
    /// The name for all layers together in a rule, unless a layer has this name.
    pub const TOTAL: &str = "total";

    /// The arm's name, for an arm.
    pub fn arm(&self) -> Option<&str> {
        match self {
            Self::Arm(name) => Some(name),
            _ => None,
        }
    }

    pub const fn is_interaction(&self) -> bool {
        matches!(self, Self::Interaction(_))
    }
}

impl Draft {
    /// The subject of a rule; `None`: all of them. In a peel, the name of a layer takes precedence
    /// over the word for all layers.
    pub fn subject_of(&self, rule: &Rule) -> Option<Subject> {
        let of = rule.of.as_ref()?;
        Some(match &self.design {
            Design::Peel { layers, .. } if layers.contains(of) => Subject::Layer(of.clone()),
            Design::Peel { .. } if of == Subject::TOTAL => Subject::Total,
            _ => Subject::Arm(of.clone()),
        })
    }
}

/// Map entries to flatten into a value about the subject: `"subject": "arm"` and `"arm": "name"`.
impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::Arm(name) => {
                map.serialize_entry("subject", "arm")?;
                map.serialize_entry("arm", name)?;
            }
            Self::Layer(name) => {
                map.serialize_entry("subject", "layer")?;
                map.serialize_entry("layer", name)?;
            }
            Self::Interaction(layers) => {
                map.serialize_entry("subject", "interaction")?;
                map.serialize_entry("layers", layers)?;
            }
            Self::Total => map.serialize_entry("subject", Self::TOTAL)?,
            Self::Level(level) => {
                map.serialize_entry("subject", "level")?;
                map.serialize_entry("level", level)?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn of(text: &str) -> Rule {
        Rule::parse(text).unwrap()
    }

    #[test]
    fn rules_are_read_as_people_write_them() {
        let slower = |typical| Condition::SlowerBy(Slowdown { share: 0.05, typical });
        assert_eq!(of("slower by 5%").condition, slower(false));
        assert_eq!(of("new: p50 slower by 5%").condition, slower(true));
        assert_eq!(of("new: p50  slower by 5%").of.as_deref(), Some("new"));
        let below = of("log: below documented by 10%");
        assert_eq!(below.condition, Condition::BelowDocumented(0.1));
        assert_eq!(below.of.as_deref(), Some("log"));
        let sync = Condition::Figure {
            job: None,
            figure: Figure::Time(TimeKind::Sync, Statistic::Quantile(0.99)),
            side: Side::Above,
            limit: 1e7,
        };
        assert_eq!(of("sync.p99 > 10ms").condition, sync);
        assert_eq!(of(" sync.p99>10ms ").condition, sync);
        let new = of("new: wal writer read > 1ms");
        assert_eq!(new.of.as_deref(), Some("new"));
        let Condition::Figure { job, figure, .. } = new.condition else { unreachable!() };
        assert_eq!(job.as_deref(), Some("wal writer"));
        assert_eq!(figure, Figure::Time(TimeKind::Read, Statistic::Mean));
        assert!(matches!(
            of("bandwidth < 100M/s").condition,
            Condition::Figure { side: Side::Below, limit: 104_857_600.0, .. }
        ));
    }

    #[test]
    fn figures_are_named_for_people() {
        let name = |text| match of(text).condition {
            Condition::Figure { figure, .. } => figure.name(),
            Condition::SlowerBy(_) | Condition::BelowDocumented(_) => unreachable!(),
        };
        assert_eq!(name("sync.p99.9 > 1ms"), "sync p99.9");
        assert_eq!(name("p50 > 1ms"), "latency p50");
        assert_eq!(name("load > 10ms"), "mean load time");
        assert_eq!(name("iops < 9"), "IOPS");
    }

    #[test]
    fn what_is_no_rule_is_told_what_one_looks_like() {
        let error = |text: &str| Rule::parse(text).unwrap_err().to_string();
        assert_snapshot!(error("fast"), @"
        `fast` is not a rule
        specify the condition that breaks the rule, as in 'slower by 5%', 'sync.p99 > 10ms' or 'new: iops < 5000'
        ");
        assert_snapshot!(error("snyc.p99 > 10ms"), @"
        unknown metric `snyc`; did you mean `sync`?
        known metrics: iops, bandwidth, latency, read, write, trim, sync, load, publish, query
        ");
        assert_snapshot!(error("sync.p100 > 10ms"), @"
        unknown statistic `p100`
        known statistics: mean, p50, p99, p99.9
        ");
        assert_snapshot!(error("sync.p99 > 10"), @"
        `10` is not a duration: the unit is missing
        use 10s, 10ms or 10us
        ");
        assert_snapshot!(error("bandwidth < 100MB"), @"
        `100MB` is not a bandwidth: `MB` is ambiguous: fio reads it as 2^20 bytes, disk vendors as 10^6
        use 100M or 100000000
        ");
        assert_snapshot!(error("slower by 5"), @"
        `5` is not a share: more than 1
        use 5% if you mean percent
        ");
        assert_snapshot!(error("slower by 100%"), @"
        nothing can be slower by 100%
        specify the condition that breaks the rule, as in 'slower by 5%', 'sync.p99 > 10ms' or 'new: iops < 5000'
        ");
        assert_snapshot!(error("p99 slower by 5%"), @"
        `slower by` does not apply to `p99`
        use 'slower by 5%', 'p50 slower by 5%', or a limit as in 'p99 > 10ms'
        ");
        assert_snapshot!(error("wal load > 1ms"), @"
        `load` is not measured per job, so a rule cannot limit it for job `wal`
        leave out the job
        ");
        assert_snapshot!(error("iops < 0"), @"
        the limit in `iops < 0` is 0
        specify the condition that breaks the rule, as in 'slower by 5%', 'sync.p99 > 10ms' or 'new: iops < 5000'
        ");
    }

    #[test]
    fn a_record_keeps_them_as_written() {
        let rule = of("new: sync.p99 > 10ms");
        let json = serde_json::to_string(&rule).unwrap();
        assert_eq!(json, "\"new: sync.p99 > 10ms\"");
        for text in [
            "slower by 2.5%",
            "new: p50 slower by 5%",
            "below documented by 5%",
            "a: iops < 5000",
            "wal bandwidth < 100M",
            "p99.9 > 1s",
        ] {
            assert_eq!(of(&of(text).to_string()), of(text));
        }
        assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), rule);
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "(slower by|below documented by|sync|p50|p99|iops|[ .:<>%0-9a-z])*") {
            if let Ok(rule) = Rule::parse(&text) {
                proptest::prop_assert_eq!(Rule::parse(&rule.to_string()).unwrap(), rule);
            }
        }
    }

    proptest! {
        #[test]
        fn a_rule_is_written_so_that_it_is_read_as_the_same(
            of in option::of("[a-z][a-z0-9|-]{0,8}"),
            figure in select(vec![
                "iops", "bandwidth", "latency.p99", "read.mean", "write.p50", "sync.p99.9", "load.p90",
            ]),
            side in select(vec!['<', '>']),
            limit in prop_oneof![1_u64..2_000, 1_u64..1 << 50],
            eighths in 0_u64..8,
        ) {
            let limit = match figure {
                "iops" => (limit as f64 + eighths as f64 / 8.0).to_string(),
                "bandwidth" => format!("{limit}.{}K", 125 * eighths),
                _ => format!("{limit}ns"),
            };
            let of = of.map(|of| format!("{of}: ")).unwrap_or_default();
            let rule = Rule::parse(&format!("{of}{figure} {side} {limit}")).unwrap();
            prop_assert_eq!(Rule::parse(&rule.to_string()).unwrap(), rule);
        }
    }
}
