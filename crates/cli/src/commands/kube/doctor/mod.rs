mod probe;

use std::fs;

use iotax_cluster::{Cluster, survey, survey_of_file};
use iotax_diagnose::{ClusterSubject, cluster_findings, unknown};
use iotax_record::cluster::ClusterSeen;
use iotax_report::{self as report, DoctorDetail};
use iotax_wording::cause::unknown_subject;

use self::probe::probe;
use crate::args::{KubeDoctorArgs, Listing};
use crate::exit::{Context as _, Exit, Result, read_argument, usage};
use crate::output::{say, style};

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
            let document = report::cluster_doctor(&seen, &findings, (&subjects, &pods), detail);
            report::text(&document, style(args.color))
        }
        Listing::Json => report::cluster_doctor_json(&seen, &findings, &pods),
    })?;
    let is_seen = seen.knows_classes || !seen.nodes.is_empty() || !seen.claims.is_empty();
    Ok(if is_seen { Exit::Done } else { Exit::Failed })
}

/// What there is, and the namespace of claims that are named without one.
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
    let unreadable =
        || usage(format!("`{text}`: write pvc:[NAMESPACE/]CLAIM, class:CLASS or node:NODE"));
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
