//! `compare` and `peel --format json`: one object with `comparisons[]`.

use iotax_analyze::Analysis;
use iotax_experiment::Design;
use iotax_record::{CloudInstance, Environment, ExperimentHead, HostRecord, HostRole, Site};
use iotax_wording::provenance;
use iotax_wording::verdict::verdict;
use serde::Serialize;

use super::analysis::Shown;
use super::text::json_text;

/// Version of the object that [`json_compare`] prints, its key `json_format`. New keys do not
/// raise it; changed or removed ones do.
pub const COMPARE_FORMAT: u32 = 3;

/// The printed object: the analysis, with identification of the experiment.
#[derive(Serialize)]
pub(crate) struct Output<'a> {
    json_format: u32,
    iotax_version: &'a str,
    kind: &'static str,
    started: &'a str,
    command: &'a [String],
    seed: u64,
    /// As text, as in all other formats.
    verdict: Vec<String>,
    #[serde(flatten)]
    analysis: Shown<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    hosts: Vec<Host<'a>>,
    sites: &'a [Site],
    /// The documented limits for comparison, and who named them.
    #[serde(skip_serializing_if = "Option::is_none")]
    vm: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vm_from: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    disks: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    disks_from: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a CloudInstance>,
}

/// A participating machine, without the layers under the targets.
#[derive(Serialize)]
struct Host<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    role: HostRole,
    environment: &'a Environment,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator_ns_per_io: Option<f64>,
}

impl<'a> Host<'a> {
    fn new(host: &'a HostRecord) -> Self {
        let HostRecord { id, role, environment, generator_ns_per_io, .. } = host;
        let (role, generator_ns_per_io) = (*role, *generator_ns_per_io);
        Self { id: id.as_deref(), role, environment, generator_ns_per_io }
    }
}

impl<'a> Output<'a> {
    pub(crate) fn new(experiment: &'a ExperimentHead, analysis: &'a Analysis) -> Self {
        Self {
            json_format: COMPARE_FORMAT,
            iotax_version: &experiment.iotax_version,
            kind: kind(&experiment.spec.design),
            started: &experiment.started,
            command: &experiment.command,
            seed: experiment.spec.seed,
            verdict: verdict(experiment, analysis),
            analysis: Shown::new(experiment, analysis),
            id: experiment.id.as_deref(),
            hosts: experiment.hosts.iter().map(Host::new).collect(),
            sites: &experiment.sites,
            vm: experiment.cloud.vm.as_deref(),
            vm_from: provenance::vm_from(experiment.host(0).instance.as_ref(), &experiment.cloud),
            disks: &experiment.cloud.disks,
            disks_from: provenance::disks_from(
                experiment.host(0).instance.as_ref(),
                &experiment.cloud,
            ),
            instance: experiment.host(0).instance.as_ref(),
        }
    }
}

/// One JSON object, indented, ending in a newline. Format: `docs/json.md`. Numbers have full
/// precision and the units in their names; fractions are 0..1.
pub fn json_compare(experiment: &ExperimentHead, analysis: &Analysis) -> String {
    json_text(&Output::new(experiment, analysis))
}

/// The command that this is the output of.
pub(crate) const fn kind(design: &Design) -> &'static str {
    match design {
        Design::Single => "run",
        Design::Compare => "compare",
        Design::Fleet => "fleet",
        Design::Peel { .. } => "peel",
    }
}
