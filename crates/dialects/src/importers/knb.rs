//! Reads JSON of knb, the Kubernetes network benchmark of `InfraBuilder/k8s-bench-suite`; tested
//! with 1.5.0.
//!
//! For each run of iperf3, knb keeps the receiver's Mbit/s, and CPU use in percent of nodes whose
//! number of CPUs is not given. Bytes, time, loss, retransmits and CPU time are not available.

use serde::Deserialize;

use super::imported::{Error, Flow, Imported, Number};
use super::json;

const TOOL: &str = "knb";
/// The size that iperf3 uses for TCP. knb neither sets nor keeps a size; bits are compared.
const BLOCK_BYTES: u64 = 128 << 10;
/// knb keeps only rates: each stands for one second.
const SECONDS: u64 = 1;

#[derive(Deserialize)]
#[serde(expecting = "an object written by knb")]
struct Root {
    metadata: Metadata,
    #[serde(default)]
    data: Data,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the description of a knb run")]
struct Metadata {
    version: String,
    date: String,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the measurements of knb")]
struct Data {
    pod2pod: Cells,
    pod2svc: Cells,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the measurements of a path")]
struct Cells {
    tcp: Option<Cell>,
    udp: Option<Cell>,
}

#[derive(Deserialize, Default)]
#[serde(default, expecting = "the measurements of a protocol")]
struct Cell {
    bandwidth: Number,
}

/// Whether a text that begins with `start` is from knb, in any format.
pub(super) fn is_start(text: &str) -> bool {
    text.contains("\"generator\": \"knb\"") || is_for_people(text)
}

fn is_for_people(text: &str) -> bool {
    let is_said = |line: &str| {
        let said = line.trim().strip_prefix("Generator").or(line.trim().strip_prefix("generator"));
        let said = said.and_then(|rest| rest.trim_start().strip_prefix(':'));
        said.is_some_and(|said| matches!(said.trim(), "knb" | "\"knb\""))
    };
    text.lines().take(40).any(is_said)
}

/// Reads the output of `knb -o json`.
///
/// # Errors
/// [`Error::CutOff`] or [`Error::Json`] for incomplete JSON, [`Error::Nothing`] for other formats
/// or a run that measured nothing, [`Error::Number`] for an impossible number.
pub fn read_knb(text: &str) -> Result<Imported, Error> {
    if is_for_people(text) {
        return Err(nothing(
            "it is not JSON; run knb again with -o json, or convert its data: knb -fd DATA -o json",
        ));
    }
    let (root, rest) = json::first::<Root>(text, '{')?;
    if rest.contains('{') {
        return Err(nothing("it has several results; save each in a separate file"));
    }
    let version: String = root.metadata.version.chars().take(40).collect();
    let mut result = Imported {
        tool: format!("{TOOL} {version}"),
        started: started(&root.metadata.date),
        ..Imported::default()
    };
    for (path, cells) in [("pod2pod", root.data.pod2pod), ("pod2svc", root.data.pod2svc)] {
        for (protocol, cell) in [("tcp", cells.tcp), ("udp", cells.udp)] {
            let Some(cell) = cell else { continue };
            let name = format!("{path} {protocol}");
            let mbit_per_s = cell.bandwidth.positive(&name, "bandwidth")?;
            let bits_per_s = mbit_per_s.unwrap_or(0.0) * 1e6;
            if bits_per_s <= 0.0 {
                return Err(nothing(format!("{name} has no bandwidth: its iperf3 run failed")));
            }
            Flow {
                name,
                is_udp: protocol == "udp",
                flows: 1,
                block_bytes: BLOCK_BYTES,
                bits_per_s,
                seconds: SECONDS,
            }
            .add_to(&mut result);
        }
    }
    if result.jobs.is_empty() {
        return Err(nothing("it has neither pod2pod nor pod2svc: knb only observed idle nodes"));
    }
    result.warnings.push(
        "knb reports only rates, in whole Mbit/s, so loss, retransmits and CPU time are not \
         compared"
            .to_owned(),
    );
    Ok(result)
}

fn nothing(why: impl Into<String>) -> Error {
    Error::Nothing { tool: TOOL, why: why.into() }
}

/// `2020-08-27 10:21:33`, in UTC.
fn started(date: &str) -> Option<String> {
    let date: jiff::civil::DateTime = date.parse().ok()?;
    let utc = date.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(utc.timestamp().to_string())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    const JSON: &str = include_str!("../../tests/fixtures/knb/knb-1.json");

    #[test]
    fn a_cell_is_a_job_of_the_rate_that_was_received() {
        let result = read_knb(JSON).unwrap();
        let rates = result.jobs.iter().map(|job| {
            let mbit_per_s = 8e3 * job.write.bytes as f64 / job.active_ns as f64;
            format!("{} ({}): {mbit_per_s:.0} Mbit/s", job.name, job.engine)
        });
        let said: Vec<_> = rates.chain(result.started).chain([result.tool]).collect();
        assert_snapshot!(said.join("\n"), @"
        pod2pod tcp (tcp_stream): 17813 Mbit/s
        pod2pod udp (udp_stream): 12445 Mbit/s
        pod2svc tcp (tcp_stream): 20684 Mbit/s
        pod2svc udp (udp_stream): 13924 Mbit/s
        2026-11-24T17:14:19Z
        knb 1.5.0
        ");
    }

    #[test]
    fn what_is_no_measurement_says_why() {
        let error = |text: &str| read_knb(text).unwrap_err().to_string();
        assert_snapshot!(error(include_str!("../../tests/fixtures/knb/knb-1.txt")), @"it contains no knb measurement: it is not JSON; run knb again with -o json, or convert its data: knb -fd DATA -o json");
        assert_snapshot!(error(include_str!("../../tests/fixtures/knb/knb-1.yaml")), @"it contains no knb measurement: it is not JSON; run knb again with -o json, or convert its data: knb -fd DATA -o json");
        assert_snapshot!(error(&JSON[..900]), @"line 1: the JSON that starts here is incomplete; the program that wrote it ended too early");
        assert_snapshot!(error(&JSON.replacen("\"bandwidth\": 1", "\"bandwidth\": -1", 1)), @"job pod2pod tcp: bandwidth is -17813, but should be a number from 0 to 9 * 10^15");
        assert_snapshot!(error(&JSON.replacen("\"bandwidth\": 1", "\"bandwidth\": ,", 1)), @"line 43, column 22: expected value");
        assert_snapshot!(error(&JSON.replace("pod2", "other")), @"it contains no knb measurement: it has neither pod2pod nor pod2svc: knb only observed idle nodes");
        assert_snapshot!(error(&format!("{JSON}{JSON}")), @"it contains no knb measurement: it has several results; save each in a separate file");
    }
}
