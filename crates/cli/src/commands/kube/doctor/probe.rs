//! What a pod, or its node, sees under claims that are there, and under a new volume of a class.

use std::collections::BTreeMap;
use std::sync::Arc;

use iotax_cluster::{LookRequest, Looked, View, look};
use iotax_diagnose::{ClusterSubject, coverage, findings};
use iotax_experiment::CloudChoice;
use iotax_record::cluster::ClusterSeen;
use iotax_record::{HostRole, Machine};
use iotax_report::{HostFindings, Probed};

use crate::args::{ClusterArgs, KubeDoctorArgs};
use crate::exit::{Result, usage};
use crate::in_cluster::{connect, options};
use crate::session;

/// Limits of the pod itself, which are those of `--cpu` and `--memory`.
const OWN: [&str; 2] = ["cpu-quota", "cgroup-memory"];

/// Looks at claims and classes from pods, and removes those. `namespace`: where pods are that look at
/// classes; claims are used in their own. What nobody may look at is added to what was not seen.
pub(super) fn probe(
    args: &KubeDoctorArgs,
    seen: &mut ClusterSeen,
    subjects: &[ClusterSubject],
    namespace: &str,
) -> Result<Vec<Probed>> {
    let options = options(&args.pods)?;
    let places = views(seen, subjects, namespace)?;
    let stop = session::stop_flag()?;
    let mut probed = Vec::new();
    for (namespace, viewed) in places {
        let cluster = ClusterArgs { context: args.context.clone(), namespace: Some(namespace) };
        let (subjects, views): (Vec<ClusterSubject>, Vec<View>) = viewed.into_iter().unzip();
        let request = LookRequest {
            views: &views,
            is_privileged: args.privileged,
            options: &options,
            stop: &stop,
            note: Arc::new(|told| eprintln!("note: {told}")),
        };
        let looked = look(connect(&cluster)?, &request)?;
        let of = |(subject, Looked { node, machine })| Probed {
            subject,
            node,
            is_privileged: args.privileged,
            host: host(machine),
        };
        probed.extend(subjects.into_iter().zip(looked).map(of));
    }
    Ok(probed)
}

/// What there is to look at, by namespace.
fn views(
    seen: &mut ClusterSeen,
    subjects: &[ClusterSubject],
    namespace: &str,
) -> Result<BTreeMap<String, Vec<(ClusterSubject, View)>>> {
    let mut places: BTreeMap<String, Vec<(ClusterSubject, View)>> = BTreeMap::new();
    let mut asked: Vec<&ClusterSubject> = Vec::new();
    for subject in subjects {
        let (namespace, view) = match subject {
            ClusterSubject::Class(name) => (namespace, View::of_class(name)),
            ClusterSubject::Claim(name) => {
                let Some(claim) = seen.claims.iter().find(|claim| claim.full_name() == *name)
                else {
                    continue;
                };
                match View::of_claim(seen, claim) {
                    Ok(view) => (claim.namespace.as_str(), view),
                    Err(unseen) => {
                        seen.unseen.push(unseen);
                        asked.push(subject);
                        continue;
                    }
                }
            }
            ClusterSubject::Node(_) => continue,
        };
        if !asked.contains(&subject) {
            places.entry(namespace.to_owned()).or_default().push((subject.clone(), view));
            asked.push(subject);
        }
    }
    if asked.is_empty() {
        return Err(usage(
            "--probe looks under a claim, or under a new volume of a class: name one with \
             pvc:CLAIM or class:CLASS",
        ));
    }
    Ok(places)
}

fn host(machine: Machine) -> HostFindings {
    let mut findings = findings(&machine, &CloudChoice::default());
    findings.retain(|finding| !OWN.contains(&finding.cause));
    let coverage = coverage(&machine, &CloudChoice::default());
    HostFindings { role: HostRole::Agent, machine, findings, coverage }
}
