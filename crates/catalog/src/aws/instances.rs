//! EC2's instance types.

use serde::Deserialize;

use crate::limit::{Burst, Cloud, Direction, Fact, Limit, Rate, Scope, Source};
use crate::table::{AWS_INSTANCES, truth};
use crate::units::{GBIT, KIB, MB, gib_to_bytes};
use crate::vm::Vm;

/// The highest rates are had for at least so long in 24 hours where they are not the baseline.
const BURST_S: f64 = 1_800.0;

/// AWS states an instance's IOPS at this I/O size; larger I/Os count as several against a
/// volume's limit, not against this one.
/// Where limits of flows were read.
const FLOWS: &str =
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth";
/// Bytes per second of a flow.
const FLOW_BYTES: f64 = 5.0 * GBIT;
const IOPS_ARE_AT_BYTES: u64 = 16 * KIB;

#[derive(Deserialize)]
struct AwsRow {
    instance_type: String,
    vcpus: Option<u32>,
    memory_gib: Option<f64>,
    #[serde(rename = "ebs_baseline_throughput_MBps")]
    baseline_mb: Option<f64>,
    #[serde(rename = "ebs_max_throughput_MBps")]
    max_mb: Option<f64>,
    ebs_baseline_iops: Option<f64>,
    ebs_max_iops: Option<f64>,
    max_ebs_attachments: Option<u32>,
    #[serde(deserialize_with = "truth")]
    instance_store: Option<bool>,
    network_baseline_gbps: Option<f64>,
    network_peak_gbps: Option<f64>,
    hypervisor: Option<String>,
    #[serde(deserialize_with = "truth")]
    bare_metal: Option<bool>,
    docs2023_match: Option<String>,
    source: String,
    as_of: String,
}

/// The types whose name `wanted` likes.
pub(crate) fn vms(wanted: impl Fn(&str) -> bool) -> Vec<Vm> {
    AWS_INSTANCES.rows::<AwsRow>(wanted).into_iter().map(AwsRow::into_vm).collect()
}

impl AwsRow {
    fn into_vm(self) -> Vm {
        Vm {
            cloud: Cloud::Aws,
            variant: None,
            vcpus: self.vcpus,
            memory_bytes: self.memory_gib.map(gib_to_bytes),
            cache_bytes: None,
            max_data_disks: self.max_ebs_attachments,
            premium_storage: None,
            encryption_at_host_supported: None,
            ephemeral_os_on: Vec::new(),
            local_storage: Vec::new(),
            limits: vec![self.limit()],
            network: self.network(),
            facts: self.facts(),
            notes: self.notes(),
            conflicts: Vec::new(),
            source: self.source(),
            page: None,
            name: self.instance_type,
        }
    }

    fn source(&self) -> Source {
        Source { text: self.source.clone(), as_of: self.as_of.clone() }
    }

    fn limit(&self) -> Limit {
        let rate = |baseline: Option<f64>, max: Option<f64>, scale: f64| {
            let (baseline, max) = (baseline? * scale, max.map(|max| max * scale));
            let burst = max.map(|per_s| Burst {
                per_s,
                credits: Some((per_s - baseline) * BURST_S),
                opt_in: false,
                note: Some("at least 30 min in 24 h".to_owned()),
            });
            Some(Rate::with_burst(baseline, burst))
        };
        Limit {
            iops: rate(self.ebs_baseline_iops, self.ebs_max_iops, 1.0),
            bw_bytes: rate(self.baseline_mb, self.max_mb, MB),
            notes: vec![format!(
                "IOPS stated at {}, throughput at 128 KiB",
                iotax_quantity::size(IOPS_ARE_AT_BYTES)
            )],
            ..Limit::unknown(Scope::Instance, &self.instance_type, &self.source())
        }
    }

    /// In and out each, at the same time.
    fn network(&self) -> Vec<Limit> {
        let Some(baseline) = self.network_baseline_gbps.map(|gbit| gbit * GBIT) else {
            return Vec::new();
        };
        let burst = self.network_peak_gbps.map(|peak| Burst {
            per_s: peak * GBIT,
            credits: None,
            opt_in: false,
            note: Some("network: from credits; for how long is not documented".to_owned()),
        });
        let rate = Rate::with_burst(baseline, burst);
        let peak = rate.peak();
        let of = &self.instance_type;
        let all = Limit::of_network((Scope::Network, Direction::Both), of, rate, &self.source());
        let flow = Source { text: FLOWS.to_owned(), as_of: "undated".to_owned() };
        let rate = Rate::steady(FLOW_BYTES);
        let flow = Limit {
            notes: vec![
                "one flow: 5 Gbit/s between instances that are not in one cluster placement group"
                    .to_owned(),
            ],
            ..Limit::of_network((Scope::NetworkFlow, Direction::Both), of, rate, &flow)
        };
        let flow = (peak > FLOW_BYTES).then_some(flow);
        [all].into_iter().chain(flow).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let yes = |value: bool| if value { "yes" } else { "no" }.to_owned();
        let facts = [
            ("Instance store", self.instance_store.map(yes)),
            ("Hypervisor", self.hypervisor.clone()),
            ("Bare metal", self.bare_metal.map(yes)),
        ];
        Fact::known(facts, &self.source())
    }

    fn notes(&self) -> Vec<String> {
        let other = self.docs2023_match.as_deref().and_then(|text| text.strip_prefix("no: docs "));
        let note =
            |figures| format!("the user guide of 2023-05-11 says {figures} (baseline/maximum)");
        other.map(note).into_iter().collect()
    }
}
