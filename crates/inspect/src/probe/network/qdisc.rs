//! Queueing disciplines from `tc`: those that limit, delay or drop.

use iotax_record::machine::Qdisc;
use serde::Deserialize;

use super::super::programs::Programs;

/// The queueing disciplines of all interfaces.
pub(super) struct Qdiscs(Vec<TcQdisc>);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TcQdisc {
    kind: String,
    handle: String,
    dev: String,
    options: Options,
    packets: u64,
    drops: u64,
    overlimits: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Options {
    /// Bytes per second: a number of tbf, an object of netem.
    rate: Option<Rate>,
    delay: Option<Delay>,
    #[serde(rename = "loss-random")]
    loss: Option<Loss>,
    /// The rate of cake.
    bandwidth: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Rate {
    Plain(f64),
    Netem {
        rate: f64,
    },
    #[expect(dead_code, reason = "other kinds have strings there")]
    Other(serde_json::Value),
}

#[derive(Debug, Deserialize)]
struct Delay {
    /// Seconds.
    delay: f64,
}

#[derive(Debug, Deserialize)]
struct Loss {
    loss: f64,
}

/// All queueing disciplines, if the program is available.
pub(super) fn qdiscs(programs: &Programs<'_>) -> Option<Qdiscs> {
    let told = programs.output("tc", &["-j", "-s", "qdisc", "show"])?;
    serde_json::from_str(&told).ok().map(Qdiscs)
}

impl Qdiscs {
    /// Those of an interface, with classes and filters that limit.
    pub(super) fn of(&self, name: &str, programs: &Programs<'_>) -> Vec<Qdisc> {
        let own: Vec<&TcQdisc> = self.0.iter().filter(|told| told.dev == name).collect();
        let mut seen: Vec<Qdisc> = own.iter().map(|told| told.seen()).collect();
        let has = |kinds: &[&str]| own.iter().any(|told| kinds.contains(&told.kind.as_str()));
        if has(&["htb", "hfsc"]) {
            // Only later versions print classes as JSON.
            let told = programs.output("tc", &["-s", "class", "show", "dev", name]);
            seen.extend(told.iter().flat_map(|told| classes(told)));
        }
        let sides: &[&str] = if has(&["clsact"]) {
            &["ingress", "egress"]
        } else if has(&["ingress"]) {
            &["ingress"]
        } else {
            &[]
        };
        for side in sides {
            let told = programs.output("tc", &["-s", "filter", "show", "dev", name, side]);
            seen.extend(told.iter().flat_map(|told| policers(told, side)));
        }
        seen
    }
}

impl TcQdisc {
    fn seen(&self) -> Qdisc {
        let Options { rate, delay, loss, bandwidth } = &self.options;
        let rate = match rate {
            Some(Rate::Plain(rate) | Rate::Netem { rate }) => Some(*rate),
            _ => None,
        };
        let bandwidth = bandwidth.as_ref().and_then(serde_json::Value::as_f64);
        Qdisc {
            kind: self.kind.clone(),
            handle: self.handle.clone(),
            rate_bytes_per_s: rate.or(bandwidth).filter(|rate| *rate > 0.0),
            delay_us: delay.as_ref().map(|delay| delay.delay * 1e6).filter(|delay| *delay > 0.0),
            loss_share: loss.as_ref().map(|loss| loss.loss).filter(|share| *share > 0.0),
            packets: self.packets,
            drops: self.drops,
            overlimits: self.overlimits,
        }
    }
}

/// `class htb 1:1 root prio 0 rate 100Mbit ceil 200Mbit burst 1600b`, and a line of statistics:
/// `Sent 0 bytes 7 pkt (dropped 1, overlimits 2 requeues 0)`.
fn classes(told: &str) -> Vec<Qdisc> {
    let mut classes: Vec<Qdisc> = Vec::new();
    for line in told.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words.as_slice() {
            ["class", kind, handle, rest @ ..] => classes.push(Qdisc {
                kind: format!("{kind} class"),
                handle: (*handle).to_owned(),
                // The maximum that it gets, including shares of other classes.
                rate_bytes_per_s: rate_after(rest, "ceil").or_else(|| rate_after(rest, "rate")),
                ..Qdisc::default()
            }),
            ["Sent", ..] => {
                if let Some(class) = classes.last_mut() {
                    class.packets = number_before(&words, "pkt");
                    class.drops = number_after(&words, "(dropped");
                    class.overlimits = number_after(&words, "overlimits");
                }
            }
            _ => {}
        }
    }
    classes
}

/// `police 0x1 rate 10Mbit burst 100Kb mtu 2Kb action drop overhead 0b`
fn policers(told: &str, side: &str) -> Vec<Qdisc> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let at = words.iter().position(|word| *word == "police")?;
        let rate_bytes_per_s = Some(rate_after(&words[at..], "rate")?);
        let (kind, handle) = ("police".to_owned(), side.to_owned());
        Some(Qdisc { kind, handle, rate_bytes_per_s, ..Qdisc::default() })
    };
    told.lines().filter_map(of_line).collect()
}

fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let at = words.iter().position(|word| *word == name)?;
    words.get(at + 1).copied()
}

fn number_after(words: &[&str], name: &str) -> u64 {
    let number = after(words, name).map(|word| word.trim_end_matches([',', ')']));
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn number_before(words: &[&str], name: &str) -> u64 {
    let at = words.iter().position(|word| *word == name).and_then(|at| at.checked_sub(1));
    at.and_then(|at| words[at].parse().ok()).unwrap_or(0)
}

fn rate_after(words: &[&str], name: &str) -> Option<f64> {
    let rate = after(words, name)?;
    let end = rate.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rate.len());
    let (number, unit) = rate.split_at(end);
    let bits = match unit {
        "bit" => 1.0,
        "Kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        "Tbit" => 1e12,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * bits / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::scripts::{PATIENT, with};
    use proptest::prelude::*;

    #[test]
    fn each_kind_tells_its_limit() {
        let told = r#"[
          {"kind":"noqueue","handle":"0:","dev":"lo","root":true,"options":{}},
          {"kind":"tbf","handle":"1:","dev":"a","root":true,"options":{"rate":62500000,"burst":65500,"lat":50000},
           "packets":9,"drops":3,"overlimits":4},
          {"kind":"netem","handle":"2:","dev":"a","options":{"limit":1000,"delay":{"delay":0.002,"jitter":0},
           "loss-random":{"loss":0.01,"correlation":0},"rate":{"rate":125000,"packetoverhead":0}}},
          {"kind":"htb","handle":"3:","dev":"b","options":{"r2q":10,"default":"0x1"}},
          {"kind":"clsact","handle":"ffff:","dev":"b","options":{}}]"#;
        let class = "class htb 1:1 root prio 0 rate 100Mbit ceil 200Mbit burst 1600b cburst 1600b
 Sent 6 bytes 7 pkt (dropped 1, overlimits 2 requeues 0)
 backlog 0b 0p requeues 0";
        let filter = "filter protocol all pref 49152 matchall chain 0 handle 0x1
\taction order 1:  police 0x1 rate 10Mbit burst 100Kb mtu 2Kb action drop overhead 0b";
        let script = format!(
            "case \"$*\" in *qdisc*) cat <<'X'\n{told}\nX\n;; *class*) cat <<'X'\n{class}\nX\n;; \
             *egress) cat <<'X'\n{filter}\nX\n;; esac"
        );
        let directory = with("tc", &script);
        let directories = [directory.path().to_owned()];
        let programs = Programs::new(&directories, PATIENT);
        let all = qdiscs(&programs).unwrap();
        let [tbf, netem] = &all.of("a", &programs)[..] else { panic!("two") };
        assert_eq!(tbf.rate_bytes_per_s, Some(62_500_000.0));
        assert_eq!((tbf.packets, tbf.drops, tbf.overlimits), (9, 3, 4));
        assert_eq!(
            (netem.rate_bytes_per_s, netem.delay_us, netem.loss_share),
            (Some(125_000.0), Some(2_000.0), Some(0.01))
        );
        let b = all.of("b", &programs);
        let rates: Vec<_> = b.iter().map(|q| (q.kind.as_str(), q.rate_bytes_per_s)).collect();
        assert_eq!(
            rates,
            [("htb", None), ("clsact", None), ("htb class", Some(25e6)), ("police", Some(1.25e6))]
        );
        assert_eq!((b[2].packets, b[2].drops, b[2].overlimits), (7, 1, 2));
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in ".*") {
            classes(&text);
            classes(&format!("class {text}\n Sent {text} pkt {text}"));
            policers(&format!("police {text} rate {text}"), "ingress");
        }
    }
}
