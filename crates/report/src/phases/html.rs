//! The page in front of the phases' own pages.

use askama::Template;

use super::{Part, overview, phases_and_time};
use crate::html::facts;
use crate::json::kind;
use crate::tables::Table;
use crate::words;

/// What the template needs; askama escapes every string but those marked `safe` there.
#[derive(Template)]
#[template(path = "phases/page.html")]
struct Page<'a> {
    kind: &'static str,
    suite: String,
    counts: String,
    started: String,
    host: String,
    table: Table,
    phases: Vec<Phase>,
    version: &'a str,
    style: &'static str,
}

struct Phase {
    name: String,
    file: String,
    verdict: String,
    about: String,
}

/// A self-contained page that sums all phases up. `files`: names of the files, beside this one,
/// that hold the page of each phase.
pub fn phases_html(suite: &str, parts: &[Part], files: &[String]) -> String {
    let (experiment, _) = parts.first().expect("an experiment has at least one phase");
    let phases = parts.iter().zip(files).map(|((experiment, analysis), file)| Phase {
        name: words::printable(&analysis.workload),
        file: file.clone(),
        verdict: crate::sentence::verdict(experiment, analysis).swap_remove(0),
        about: words::printable(&experiment.spec.workload.about),
    });
    Page {
        kind: kind(&experiment.spec.design),
        suite: words::printable(suite),
        counts: phases_and_time(parts),
        started: facts::instant(&experiment.started),
        host: facts::host_names(&experiment.hosts),
        table: overview(parts),
        phases: phases.collect(),
        version: &experiment.iotax_version,
        style: include_str!("../html/style.css"),
    }
    .render()
    .expect("writing to a string does not fail")
}
