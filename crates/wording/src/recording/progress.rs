//! Progress line while recording.

use std::time::Duration;

use iotax_quantity::{bytes, count, percent, span};

/// Progress of a recording.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub elapsed: Duration,
    /// Length requested with --for.
    pub limit: Option<Duration>,
    pub events: u64,
    pub lost: u64,
    pub bytes: u64,
    /// Share of the machine's CPU time in the last 2 s.
    pub overhead: f64,
    /// The same since the beginning.
    pub whole_overhead: f64,
}

/// `recording: 12 s of 60 s, 48,210 events, 310 KiB, overhead 0.4 % (overall 0.3 %)`
pub fn line(now: &Now) -> String {
    let limit = now.limit.map_or(String::new(), |limit| format!(" of {}", span(limit.as_secs())));
    let lost = if now.lost == 0 { String::new() } else { format!(", {} events lost", now.lost) };
    format!(
        "recording: {}{limit}, {}, {}, overhead {} (overall {}){lost}",
        span(now.elapsed.as_secs()),
        count(now.events, "event"),
        bytes(now.bytes as f64),
        percent(now.overhead),
        percent(now.whole_overhead)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_it_costs_and_what_is_lost() {
        let now = Now {
            elapsed: Duration::from_secs(12),
            limit: Some(Duration::from_mins(1)),
            events: 48_210,
            lost: 0,
            bytes: 317_440,
            overhead: 0.004,
            whole_overhead: 0.003,
        };
        assert_eq!(
            line(&now),
            "recording: 12 s of 60 s, 48,210 events, 310 KiB, overhead 0.4 % (overall 0.3 %)"
        );
        let lossy = Now { limit: None, lost: 3, ..now };
        assert_eq!(
            line(&lossy),
            "recording: 12 s, 48,210 events, 310 KiB, overhead 0.4 % (overall 0.3 %), 3 events lost"
        );
    }
}
