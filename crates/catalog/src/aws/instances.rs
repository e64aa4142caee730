//! EC2 instance types.

use serde::Deserialize;

use crate::limit::{Burst, Cloud, Direction, Limit, Rate, Scope, Source};
use crate::note::{Fact, Note, Property};
use crate::table::AWS_INSTANCES;
use crate::units::{GBIT, MB, gib_to_bytes};
use crate::vm::Vm;

/// Minimum time in 24 hours for which the maximum rates last, if they are not the baseline.
const BURST_S: f64 = 1_800.0;

/// Source of the limits of flows.
const FLOWS: &str =
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth";
/// Bytes per second per flow.
const FLOW_BYTES: f64 = 5.0 * GBIT;
/// I/O sizes at which limits are stated. Larger I/Os count as several against the limit of a
/// volume, but not against these.
const STATED_AT: Note = Note::StatedAt { iops_kib: 16, throughput_kib: 128 };

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
    instance_store: Option<bool>,
    network_baseline_gbps: Option<f64>,
    network_peak_gbps: Option<f64>,
    hypervisor: Option<String>,
    bare_metal: Option<bool>,
    docs2023_figures: Option<String>,
    source: String,
    as_of: String,
}

/// The types with a name that `wanted` accepts.
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
                notes: vec![Note::HalfAnHourADay],
            });
            Some(Rate::with_burst(baseline, burst))
        };
        Limit {
            iops: rate(self.ebs_baseline_iops, self.ebs_max_iops, 1.0),
            bw_bytes: rate(self.baseline_mb, self.max_mb, MB),
            notes: vec![STATED_AT],
            ..Limit::unknown(Scope::Instance, &self.instance_type, &self.source())
        }
    }

    /// In and out, each, at the same time.
    fn network(&self) -> Vec<Limit> {
        let Some(baseline) = self.network_baseline_gbps.map(|gbit| gbit * GBIT) else {
            return Vec::new();
        };
        let burst = self.network_peak_gbps.map(|peak| Burst {
            per_s: peak * GBIT,
            credits: None,
            opt_in: false,
            notes: vec![Note::NetworkFromCredits],
        });
        let rate = Rate::with_burst(baseline, burst);
        let peak = rate.peak();
        let of = &self.instance_type;
        let all = Limit::of_network(Scope::Network, Direction::Both, of, rate, &self.source());
        let flow = Source { text: FLOWS.to_owned(), as_of: "undated".to_owned() };
        let rate = Rate::steady(FLOW_BYTES);
        let flow = Limit {
            notes: vec![Note::OneFlow { bytes_per_s: FLOW_BYTES }],
            ..Limit::of_network(Scope::NetworkFlow, Direction::Both, of, rate, &flow)
        };
        let flow = (peak > FLOW_BYTES).then_some(flow);
        [all].into_iter().chain(flow).collect()
    }

    fn facts(&self) -> Vec<Fact> {
        let facts = [
            self.instance_store.map(Property::InstanceStore),
            self.hypervisor.clone().map(Property::Hypervisor),
            self.bare_metal.map(Property::BareMetal),
        ];
        Fact::all(facts, &self.source())
    }

    fn notes(&self) -> Vec<Note> {
        let other = self.docs2023_figures.clone();
        other.map(|figures| Note::UserGuide { figures }).into_iter().collect()
    }
}
