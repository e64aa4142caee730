//! Names of subjects, verdicts and metrics.

use iotax_analyze::{Against, Metric, Verdict};
use iotax_experiment::{Setting, Subject, Workload};
use iotax_quantity::list;

/// The subject of a conclusion: `luks`, `aes x cache`, `total`, `sec=krb5p`.
pub fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Arm(name) | Subject::Layer(name) => name.clone(),
        Subject::Interaction([a, b]) => format!("{a} x {b}"),
        Subject::Total => "total".to_owned(),
        Subject::Level(level) => setting(level),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn subjects<'a>(subjects: impl IntoIterator<Item = &'a Subject>) -> String {
    all(subjects.into_iter().map(subject))
}

/// The same of names.
pub fn all(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    list(&names.iter().map(AsRef::as_ref).collect::<Vec<_>>())
}

/// `sec=krb5p`
pub fn setting(Setting { factor, level }: &Setting) -> String {
    format!("{factor}={level}")
}

/// The baseline of one arm.
pub fn against(against: &Against) -> String {
    match against {
        Against::Arm(name) => name.clone(),
        Against::Others(others) => format!("the other {others}"),
    }
}

/// The verdict in one or two words.
pub const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
        Verdict::Masked => "masked",
        Verdict::EffectChanged => "effect changed",
        Verdict::NoInformation => "no information",
        Verdict::NotIndependent => "not independent",
        Verdict::InsufficientTailSamples => "insufficient tail samples",
        Verdict::Overloaded => "overloaded",
    }
}

/// The name of a metric, as in `30 % slower in p99 latency`.
pub const fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::RequestRate => "request rate",
        Metric::RequestTime => "response time",
        Metric::P99 => "p99 latency",
        Metric::Latency => "mean latency",
        Metric::Throughput => "throughput",
        Metric::TrimmedThroughput => "throughput in most slices",
        Metric::Bandwidth => "bandwidth",
        Metric::Delivered => "datagram delivery",
        Metric::RoundTrip => "round trip",
        Metric::ConnectionRate => "connection rate",
        Metric::P50 => "p50 latency",
        Metric::LoadTime => "index load time",
        Metric::ServiceTime => "service time",
        Metric::SyncP99 => "p99 sync latency",
        Metric::SyncLatency => "sync latency",
        Metric::Jitter => "jitter",
        Metric::CpuPerIo => "CPU per I/O",
        Metric::CpuPerRequest => "CPU per request",
        Metric::CpuPerMib => "CPU per MiB",
    }
}

/// The samples of a quantile: `I/Os`, `requests` or `syncs`.
pub fn samples(metric: Metric, workload: &Workload) -> String {
    let one = if metric.is_of_syncs() { "sync" } else { workload.unit() };
    format!("{one}s")
}

/// Text from outside (names, paths, errors) made safe for one line on a terminal or a page:
/// control characters could move the cursor, and bidirectional overrides could reorder the text.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
            c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// Control characters (also those of C1), line ends, and characters that set the direction of text.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_drive_a_terminal() {
        assert_eq!(printable("a\x1b[31mb\nc\u{202e}d µ"), "a\u{fffd}[31mb c\u{fffd}d µ");
    }
}
