//! Reads JSON of k8s-netperf (`cloud-bulldozer/k8s-netperf`, `--json`): a list of documents, one
//! for each profile, size and placement.
//!
//! Each document has means over its samples, which were made by netperf, iperf3 or uperf. **Not
//! used** are: latencies (a mean of 99th percentiles is not a percentile), so `TCP_RR` and
//! `TCP_CRR` are not imported; means of retransmits; and `udpLossPercent`, because with an iperf3
//! that reports received data (3.7) `throughput` is already that of the receiver and the loss is
//! always 0.

use serde::Deserialize;

use super::imported::{Error, Flow, Imported, Number};
use super::json;

const TOOL: &str = "k8s-netperf";
const MOST_DOCUMENTS: usize = 512;
/// Limit for the length of a test in seconds: ten days.
const LONGEST_S: u64 = 864_000;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", expecting = "a document written by k8s-netperf")]
struct Document {
    timestamp: String,
    host_network: bool,
    driver: String,
    parallelism: Number,
    profile: String,
    duration: Number,
    service: bool,
    local: bool,
    message_size: Number,
    throughput: Number,
    tput_metric: String,
    tool_version: String,
}

/// Whether a text that begins with `start` is from k8s-netperf, in JSON or CSV.
pub(super) fn is_start(text: &str) -> bool {
    text.contains("\"tputMetric\"") || is_csv(text)
}

fn is_csv(text: &str) -> bool {
    text.starts_with("Driver,Profile,") && text.contains("Throughput Metric")
}

/// Reads the output of `k8s-netperf --json`.
///
/// # Errors
/// [`Error::CutOff`] or [`Error::Json`] for incomplete JSON, [`Error::Nothing`] for CSV or without
/// any stream, [`Error::Number`] for an impossible number.
pub fn read_k8s_netperf(text: &str) -> Result<Imported, Error> {
    if is_csv(text) {
        return Err(nothing("CSV is not supported; run k8s-netperf --json and save its output"));
    }
    let (documents, _) = json::first::<Vec<Document>>(text, '[')?;
    let first = documents.first().ok_or_else(|| nothing("its list is empty"))?;
    if documents.len() > MOST_DOCUMENTS {
        return Err(Error::TooManyJobs { limit: MOST_DOCUMENTS });
    }
    let version: String = first.tool_version.chars().take(40).collect();
    let mut result = Imported {
        tool: format!("{TOOL} {version}").trim_end().to_owned(),
        started: first.timestamp.parse::<jiff::Timestamp>().ok().map(|at| at.to_string()),
        ..Imported::default()
    };
    let mut left_out = Vec::new();
    for document in &documents {
        match document.flow()? {
            Some(flow) if result.jobs.iter().any(|job| job.name == flow.name) => {
                let why = format!("{:?} is in the file twice; keep only one of the two", flow.name);
                return Err(nothing(why));
            }
            Some(flow) => flow.add_to(&mut result),
            None => left_out.push(document.profile.as_str()),
        }
    }
    left_out.sort_unstable();
    left_out.dedup();
    if result.jobs.is_empty() {
        let left_out = left_out.join(", ");
        return Err(nothing(format!(
            "it has no round-trip times for {left_out}, only means of 99th percentiles; run a \
             TCP_STREAM or UDP_STREAM profile"
        )));
    }
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        result
            .warnings
            .push(format!("{left_out}: left out, because there are no round-trip times"));
    }
    result.warnings.push(
        "k8s-netperf reports only means over samples, so spread, loss and CPU time are not compared"
            .to_owned(),
    );
    Ok(result)
}

impl Document {
    /// `None` if it is not a stream.
    fn flow(&self) -> Result<Option<Flow>, Error> {
        let is_udp = match self.profile.as_str() {
            "TCP_STREAM" => false,
            "UDP_STREAM" => true,
            _ => return Ok(None),
        };
        let name = self.name();
        let unit = self.tput_metric.as_str();
        if unit != "Mb/s" {
            return Err(nothing(format!("the throughput of {name:?} is in {unit:?}, not in Mb/s")));
        }
        let rate = self.throughput.positive(&name, "throughput")?.unwrap_or(0.0);
        if rate <= 0.0 {
            return Err(nothing(format!("{name:?} has no throughput: its runs failed")));
        }
        let seconds = self.duration.count(&name, "duration")?.unwrap_or(0);
        if !(1..=LONGEST_S).contains(&seconds) {
            return Err(self.duration.wrong(&name, "duration", "from 1 s to ten days"));
        }
        let flows = self.parallelism.count(&name, "parallelism")?.unwrap_or(1).max(1);
        Ok(Some(Flow {
            is_udp,
            flows: u32::try_from(flows).unwrap_or(u32::MAX),
            block_bytes: self.message_size.count(&name, "messageSize")?.unwrap_or(0).max(1),
            bits_per_s: rate * 1e6,
            seconds,
            name,
        }))
    }

    /// What distinguishes it from others in its list.
    fn name(&self) -> String {
        let number = |number: Number| number.whole().unwrap_or(0);
        let (bytes, flows) = (number(self.message_size), number(self.parallelism));
        let mut name = format!("{} {} {bytes}x{flows}", self.driver, self.profile);
        for (is, mark) in
            [(self.host_network, " host"), (self.service, " service"), (self.local, " local")]
        {
            name.push_str(if is { mark } else { "" });
        }
        name
    }
}

fn nothing(why: impl Into<String>) -> Error {
    Error::Nothing { tool: TOOL, why: why.into() }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    const ROWS: &str = include_str!("../../tests/fixtures/k8s-netperf/rows.json");

    #[test]
    fn streams_are_jobs_and_the_rest_is_left_out_and_said() {
        let result = read_k8s_netperf(ROWS).unwrap();
        let rates = result.jobs.iter().map(|job| {
            let mbit_per_s = 8e3 * job.write.bytes as f64 / job.active_ns as f64;
            format!("{} ({}): {mbit_per_s:.3} Mbit/s", job.name, job.engine)
        });
        let said: Vec<_> =
            rates.chain(result.started).chain([result.tool]).chain(result.warnings).collect();
        assert_snapshot!(said.join("\n"), @"
        netperf TCP_STREAM 1024x1 (tcp_stream): 873.607 Mbit/s
        netperf TCP_STREAM 8192x1 (tcp_stream): 744.233 Mbit/s
        netperf UDP_STREAM 1024x1 (udp_stream): 788.903 Mbit/s
        2024-05-02T17:21:04.123456789Z
        k8s-netperf v0.1.30
        TCP_CRR, TCP_RR: left out, because there are no round-trip times
        k8s-netperf reports only means over samples, so spread, loss and CPU time are not compared
        ");
    }

    #[test]
    fn what_is_no_measurement_says_why() {
        let error = |text: &str| read_k8s_netperf(text).unwrap_err().to_string();
        assert_snapshot!(error("Driver,Profile,Same node,Throughput Metric\n"), @"it contains no k8s-netperf measurement: CSV is not supported; run k8s-netperf --json and save its output");
        assert_snapshot!(error(&ROWS.replace("_STREAM", "_RR")), @"it contains no k8s-netperf measurement: it has no round-trip times for TCP_CRR, TCP_RR, UDP_RR, only means of 99th percentiles; run a TCP_STREAM or UDP_STREAM profile");
        assert_snapshot!(error(&ROWS.replace("\"duration\": 10", "\"duration\": 0")), @"job netperf TCP_STREAM 1024x1: duration is 0, but should be from 1 s to ten days");
        assert_snapshot!(error(&ROWS.replace("Mb/s", "Gb/s")), @r#"it contains no k8s-netperf measurement: the throughput of "netperf TCP_STREAM 1024x1" is in "Gb/s", not in Mb/s"#);
        assert_snapshot!(error(&ROWS.replace("8192", "1024")), @r#"it contains no k8s-netperf measurement: "netperf TCP_STREAM 1024x1" is in the file twice; keep only one of the two"#);
        assert_snapshot!(error(&ROWS.replace("873.606667", "0")), @r#"it contains no k8s-netperf measurement: "netperf TCP_STREAM 1024x1" has no throughput: its runs failed"#);
        assert_snapshot!(error(&ROWS[..400]), @"line 1: the JSON that starts here is incomplete; the program that wrote it ended too early");
        assert_snapshot!(error("[]"), @"it contains no k8s-netperf measurement: its list is empty");
    }
}
