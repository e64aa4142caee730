use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use iotax_cluster::{Cluster, LookRequest, Looked, View, survey, survey_of_file};
use iotax_diagnose::{ClusterSubject, cluster_findings, coverage, findings, unknown};
use iotax_experiment::CloudChoice;
use iotax_record::cluster::ClusterSeen;
use iotax_record::{HostRole, Machine};
use iotax_report as report;
use iotax_report::{DoctorDetail, HostFindings, Probed};
use iotax_wording::cause::unknown_subject;

use crate::args::{ClusterArgs, KubeDoctorArgs, Listing};
use crate::exit::{Context as _, Exit, Result, read_argument, usage};
use crate::in_cluster::{connect, options};
use crate::output::{say, style};
use crate::session;

/// `iotax kube doctor`
pub(super) fn doctor(args: &KubeDoctorArgs) -> Result<Exit> {
    let (mut seen, namespace) = look(args)?;
    let subjects = args.subjects.iter().map(|text| subject(text, &namespace));
    let subjects = subjects.collect::<Result<Vec<_>>>()?;
    if let Some(subject) = unknown(&seen, &subjects) {
        return Err(usage(unknown_subject(subject)));
    }
    let findings = cluster_findings(&seen, &subjects);
    let pods = if args.probe { probe(args, &mut seen, &subjects, &namespace)? } else { Vec::new() };
    say(&match args.format {
        Listing::Text => {
            let detail = if args.all { DoctorDetail::Whole } else { DoctorDetail::Folded };
            let document = report::cluster_doctor(&seen, &findings, &subjects, &pods, detail);
            report::text(&document, style(args.color))
        }
        Listing::Json => report::cluster_doctor_json(&seen, &findings, &pods),
    })?;
    let is_seen = seen.knows_classes || !seen.nodes.is_empty() || !seen.claims.is_empty();
    Ok(if is_seen { Exit::Done } else { Exit::Failed })
}

/// The cluster's objects, and the default namespace of claims.
fn look(args: &KubeDoctorArgs) -> Result<(ClusterSeen, String)> {
    if let Some(file) = &args.objects {
        let about = || file.display().to_string();
        let text = read_argument(fs::read_to_string(file), about)?;
        return Ok((survey_of_file(&text).with_context(about)?, "default".to_owned()));
    }
    let (context, namespace) = (args.context.as_deref(), args.namespace.as_deref());
    let cluster = Cluster::connect(context, namespace)?;
    Ok((survey(&cluster, namespace)?, cluster.namespace().to_owned()))
}

fn subject(text: &str, namespace: &str) -> Result<ClusterSubject> {
    let unreadable = || {
        usage(format!(
            "`{text}` does not name a claim, class or node; specify pvc:[NAMESPACE/]CLAIM, \
             class:CLASS or node:NODE"
        ))
    };
    let (kind, name) = text.split_once(':').ok_or_else(unreadable)?;
    if name.is_empty() {
        return Err(unreadable());
    }
    match kind {
        "pvc" if name.contains('/') => Ok(ClusterSubject::Claim(name.to_owned())),
        "pvc" => Ok(ClusterSubject::Claim(format!("{namespace}/{name}"))),
        "class" => Ok(ClusterSubject::Class(name.to_owned())),
        "node" => Ok(ClusterSubject::Node(name.to_owned())),
        _ => Err(unreadable()),
    }
}

// What a pod or its node sees under existing claims, and under new volumes of a class.

/// Causes that are the pod's own limits, from `--cpu` and `--memory`.
const OWN: [&str; 2] = ["cpu-quota", "cgroup-memory"];

/// Probes claims and classes from pods, and removes the pods. `namespace`: where to create pods for
/// classes; claims are probed in their own namespace. Adds objects that may not be read to those
/// not seen.
fn probe(
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
        let looked = iotax_cluster::look(connect(&cluster)?, &request)?;
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

/// What to probe, by namespace.
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
            "--probe needs a claim or a class; name one with pvc:CLAIM or class:CLASS",
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
