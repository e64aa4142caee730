//! The first sentence on a recording.

use iotax_quantity::{grouped, list, three_digits, whole};
use iotax_trace::profile::{Summary, Trait};

use super::finding;
use crate::format::time;

/// Kinds of operations below this share of the most frequent kind are left out; syncs never are.
const RARE: f64 = 0.01;

/// What the program does, and what stands out: `The program does 310 writes and 155 syncs per
/// second; 92 % of the time in I/O calls is spent in syncs.`
pub fn heading(summary: &Summary, first: Option<&Trait>) -> String {
    let rates = rates(summary);
    match first.and_then(|about| finding::clause(about, summary)) {
        Some(clause) => format!("{rates}; {clause}."),
        None => format!("{rates}."),
    }
}

/// What the program does per second; in a recording of less than a second, what it did in all.
fn rates(summary: &Summary) -> String {
    let rates = &summary.rates;
    let seconds = summary.length_ns as f64 / 1e9;
    let is_short = seconds < 1.0;
    let answered = summary.requests.as_ref().map(|requests| {
        let figure = if is_short { grouped(requests.count) } else { three_digits(requests.per_s) };
        format!("{figure} {}", if figure == "1" { "request" } else { "requests" })
    });
    let kinds = [
        (rates.reads_per_s, ["read", "reads"]),
        (rates.writes_per_s, ["write", "writes"]),
        (rates.syncs_per_s, ["sync", "syncs"]),
        (rates.faults_per_s, ["page fault", "page faults"]),
        (rates.metadata_per_s, ["metadata operation", "metadata operations"]),
    ];
    let most = kinds.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
    let told: Vec<String> = kinds
        .into_iter()
        .filter(|(rate, [one, _])| *rate > 0.0 && (*rate >= RARE * most || *one == "sync"))
        .map(|(rate, [one, many])| {
            let figure = if is_short { grouped(whole(rate * seconds)) } else { three_digits(rate) };
            format!("{figure} {}", if figure == "1" { one } else { many })
        })
        .collect();
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    if told.is_empty() {
        return "The recording contains no I/O".to_owned();
    }
    let told = list(&told);
    if is_short {
        let length = time(summary.length_ns as f64);
        return match answered {
            Some(requests) => {
                format!("The program answered {requests} and did {told} in {length}")
            }
            None => format!("The program did {told} in {length}"),
        };
    }
    match answered {
        Some(requests) => format!("The program answers {requests} and does {told} per second"),
        None => format!("The program does {told} per second"),
    }
}

#[cfg(test)]
mod tests {
    use iotax_trace::profile::Profile;
    use iotax_trace::{End, Event, Head, Op, Source};

    use super::*;

    fn summary(length_ns: u64, counts: &[(Op, u64)]) -> Summary {
        let head = Head::new("", Source::Bpf);
        let mut profile = Profile::default();
        for (op, count) in counts {
            for _ in 0..*count {
                profile.add(&Event {
                    file: 0,
                    length: 4096,
                    result: 4096,
                    end_ns: 1,
                    latency_ns: 1,
                    ..Event::new(*op)
                });
            }
        }
        profile.finish(&head, &[], Some(&End { length_ns, ..End::default() }))
    }

    #[test]
    fn rare_operations_are_left_out_but_syncs_are_not() {
        let counts = [(Op::Write, 5_000), (Op::Fsync, 10), (Op::Read, 10)];
        let found = heading(&summary(10_000_000_000, &counts), None);
        assert_eq!(found, "The program does 500 writes and 1.00 syncs per second.");
        let first = Trait::TimeInSyncs { share: 0.92 };
        assert_eq!(
            heading(&summary(10_000_000_000, &counts), Some(&first)),
            "The program does 500 writes and 1.00 syncs per second; 92 % of the time in I/O calls is \
             spent in syncs."
        );
    }

    #[test]
    fn requests_of_clients_come_first() {
        let counts = [(Op::Request, 1), (Op::Write, 3), (Op::Answer, 1)];
        let found = heading(&summary(20_000_000, &counts), None);
        assert_eq!(found, "The program answered 1 request and did 3 writes in 20.0 ms.");
        let found = heading(&summary(1_000_000_000, &counts), None);
        assert_eq!(found, "The program answers 1.00 requests and does 3.00 writes per second.");
    }

    #[test]
    fn a_short_recording_has_counts() {
        let found = heading(&summary(20_000_000, &[(Op::Read, 1), (Op::Open, 3)]), None);
        assert_eq!(found, "The program did 1 read and 3 metadata operations in 20.0 ms.");
        assert_eq!(heading(&summary(5, &[]), None), "The recording contains no I/O.");
    }
}
