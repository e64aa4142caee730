//! What a pod sees under a new volume of a class.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use iotax_diagnose::{Subject, findings};
use iotax_record::cluster::ClusterSeen;
use iotax_record::{HostRecord, HostRole, Machine};
use iotax_report::{HostFindings, Probed};
use iotax_run::Arms as _;
use iotax_spec::{CloudChoice, Search, SearchTarget, parse_arms};

use crate::args::{ClusterArgs, KubeDoctorArgs};
use crate::exit::usage;
use crate::in_cluster::InCluster;
use crate::signals;

/// Limits of the pod itself, which are those of `--cpu` and `--memory`.
const OWN: [&str; 2] = ["cpu-quota", "cgroup-memory"];

/// Makes a volume of each class that is asked about, looks at it from a pod, and removes both.
pub(super) fn probe(
    args: &KubeDoctorArgs,
    seen: &ClusterSeen,
    subjects: &[Subject],
) -> Result<Vec<Probed>> {
    let classes = classes(seen, subjects);
    if classes.is_empty() {
        return Err(usage(
            "--probe looks at a new volume of a class: name one with class:CLASS, or with \
             pvc:CLAIM that of a claim",
        ));
    }
    let (mut spec, cluster) = (spec(&classes)?, cluster(args));
    let mut asked = InCluster::new(&cluster, &args.pods)?;
    asked.place(&mut spec, &args.pods)?;
    let (stop, live) = (signals::stop_flag()?, Arc::default());
    let (hosts, known, nodes) = asked.open_on_nodes(&spec, (&stop, &live), &mut |_| ())?;
    Box::new(hosts).down()?;
    let of = |((class, record), node): ((String, HostRecord), Option<String>)| {
        let on = node.map_or_else(String::new, |node| format!(", node {node}"));
        Probed { name: format!("class {class}{on}"), host: host(record) }
    };
    Ok(classes.into_iter().zip(known).zip(nodes).map(of).collect())
}

fn classes(seen: &ClusterSeen, subjects: &[Subject]) -> BTreeSet<String> {
    let class = |subject: &Subject| match subject {
        Subject::Class(name) => Some(name.clone()),
        Subject::Claim(name) => {
            seen.claims.iter().find(|claim| claim.full_name() == *name)?.class.clone()
        }
        Subject::Node(_) => None,
    };
    subjects.iter().filter_map(class).collect()
}

fn cluster(args: &KubeDoctorArgs) -> ClusterArgs {
    ClusterArgs { context: args.context.clone(), namespace: args.namespace.clone() }
}

/// An arm for each; no load is driven.
fn spec(classes: &BTreeSet<String>) -> Result<iotax_spec::Spec> {
    let texts: Vec<String> = classes.iter().map(|class| format!("class:{class}")).collect();
    let arms = parse_arms(texts.iter().map(String::as_str))?;
    let target = |arm| SearchTarget { arm, span_bytes: 1, known: Vec::new() };
    let search = Search {
        targets: arms.into_iter().map(target).collect(),
        writes: false,
        quick: true,
        burst: None,
        cloud: CloudChoice::default(),
        fail_if: Vec::new(),
        seed: 0,
    };
    Ok(search.spec())
}

fn host(record: HostRecord) -> HostFindings {
    let machine = record.machine.map_or_else(Machine::default, |machine| *machine);
    let mut findings = findings(&machine, &CloudChoice::default());
    findings.retain(|finding| !OWN.contains(&finding.cause.as_str()));
    HostFindings { role: HostRole::Agent, machine, findings }
}
