//! One self-contained page: no request leaves it, and without JavaScript its tables say it all.

pub(crate) mod data;
pub(crate) mod facts;
mod forest;
mod headline;
mod machine;

use askama::Template;
use iotax_analyze::{Analysis, Verdict};
use iotax_record::Experiment;

use self::facts::Fact;
use self::forest::Group;
use self::headline::Tile;
use crate::json::kind;
use crate::machine as tables_of;
use crate::notices::{self, Notice};
use crate::tables::{self, Table};
use crate::{caps, doctor, format, provenance, sentence, words};

/// Charting libraries, as published; see `assets/README.md`.
const D3: &str = include_str!("../../assets/d3.min.js");
const PLOT: &str = include_str!("../../assets/plot.umd.min.js");
const LICENSES: [&str; 2] =
    [include_str!("../../assets/LICENSE-d3"), include_str!("../../assets/LICENSE-plot")];

/// Colours that tell arms apart; more arms share them and differ by dashes and letters.
const ARM_COLOURS: usize = 8;

/// The whole report as one HTML file. Reads the same offline, on paper, on a phone, in dark.
pub fn html(experiment: &Experiment, analysis: &Analysis) -> String {
    Page::new(experiment, analysis).render().expect("writing to a string does not fail")
}

/// What the template needs; askama escapes every string but those marked `safe` there.
#[derive(Template)]
#[template(path = "html/template.html")]
struct Page<'a> {
    kind: &'static str,
    workload: String,
    about: String,
    started: String,
    host: String,
    sentences: Vec<String>,
    tiles: Vec<Tile>,
    severe: Vec<Notice>,
    mild: Vec<Notice>,
    groups: Vec<Group>,
    hypotheses: Vec<String>,
    confidence: String,
    margin: String,
    caps: Vec<(String, Table)>,
    latency: Option<Table>,
    arms: Table,
    keys: Vec<Key>,
    other_jobs: Option<Table>,
    operations: Option<Table>,
    index: Option<(Table, String)>,
    troubles: Vec<Vec<String>>,
    more_troubles: usize,
    hosts: Vec<Vec<Fact>>,
    sites: Vec<Vec<String>>,
    site_heads: &'static [&'static str],
    jobs: Vec<Vec<String>>,
    job_heads: &'static [&'static str],
    command: String,
    seed: u64,
    spec: String,
    version: &'a str,
    causes: Vec<String>,
    open_questions: Vec<String>,
    ending: String,
    interval_note: String,
    is_of_results: bool,
    verdicts: Vec<(Verdict, String)>,
    seconds_per_point: usize,
    shown_blocks: u32,
    blocks: u32,
    has_series: bool,
    machine_charts: Vec<(&'static str, &'static str, &'static str)>,
    devices: Option<Table>,
    system: Option<Table>,
    nfs: Option<Table>,
    charts: String,
    style: &'static str,
    script: &'static str,
    licenses: String,
}

/// How charts show an arm.
struct Key {
    letter: String,
    colour: usize,
    name: String,
    target: String,
}

impl<'a> Page<'a> {
    fn new(experiment: &'a Experiment, analysis: &'a Analysis) -> Self {
        let groups = forest::groups(analysis);
        let charts = data::charts(analysis, &groups);
        let (severe, mild) = notices::notices(analysis).into_iter().partition(|n| n.is_severe);
        let (troubles, more_troubles) = facts::troubles(analysis);
        let margin = format::percent(analysis.margin);
        let is_of_results = experiment.spec.is_of_results();
        Self {
            kind: kind(&experiment.spec.design),
            workload: words::printable(&analysis.workload),
            about: words::printable(&experiment.spec.workload.about),
            started: facts::instant(&experiment.started),
            host: facts::host_names(&experiment.hosts),
            sentences: headline::sentences(experiment, analysis),
            tiles: headline::tiles(analysis),
            severe,
            mild,
            hypotheses: hypotheses(analysis),
            confidence: format::percent(1.0 - analysis.alpha),
            caps: caps::all(analysis, &experiment.spec.design),
            latency: tables::latency(analysis),
            arms: tables::arms(analysis),
            keys: keys(analysis),
            other_jobs: tables::other_jobs(analysis),
            operations: tables::operations(analysis),
            index: tables::index(analysis).zip(tables::slow_load_note(analysis)),
            troubles,
            more_troubles,
            hosts: experiment.hosts.iter().map(facts::host).collect(),
            sites: if is_of_results {
                facts::results(experiment)
            } else {
                facts::sites(experiment)
            },
            site_heads: if is_of_results { &facts::RESULT_HEADS } else { &facts::SITE_HEADS },
            jobs: if is_of_results {
                facts::given_jobs(experiment)
            } else {
                facts::jobs(experiment)
            },
            job_heads: if is_of_results { &facts::GIVEN_JOB_HEADS } else { &facts::JOB_HEADS },
            command: command(experiment),
            seed: experiment.spec.seed,
            spec: serde_json::to_string_pretty(&experiment.spec)
                .expect("a spec has string keys and plain values"),
            version: &experiment.iotax_version,
            causes: doctor::causes(experiment, analysis),
            open_questions: analysis.open_questions.iter().map(|q| words::printable(q)).collect(),
            ending: ending(experiment, analysis),
            interval_note: provenance::intervals(experiment, analysis),
            is_of_results,
            verdicts: legend(&margin, is_of_results),
            margin,
            seconds_per_point: charts.series.seconds_per_point,
            shown_blocks: charts.schedule.shown_blocks,
            blocks: charts.schedule.blocks,
            has_series: analysis.trials.iter().any(|t| !t.per_second_ios.is_empty()),
            machine_charts: charts
                .machine
                .charts
                .iter()
                .map(|chart| (chart.id, chart.title, chart.caption))
                .collect(),
            devices: tables_of::devices(analysis),
            system: tables_of::system(analysis),
            nfs: tables_of::nfs(analysis),
            charts: data::embeddable(&charts),
            style: include_str!("style.css"),
            script: concat!(include_str!("machine.js"), include_str!("charts.js")),
            licenses: licenses(),
            groups,
        }
    }

    #[expect(clippy::unused_self, reason = "called from the template")]
    fn libraries(&self) -> [&'static str; 2] {
        libraries()
    }
}

/// The libraries without the line that names their web sites: the page refers to nothing outside.
/// Their notices are in the page, complete.
pub(crate) fn libraries() -> [&'static str; 2] {
    [D3, PLOT].map(|code| code.split_once('\n').map_or(code, |(_notice, rest)| rest))
}

/// The licences of the libraries.
pub(crate) fn licenses() -> String {
    LICENSES.join("\n\n")
}

fn hypotheses(analysis: &Analysis) -> Vec<String> {
    let interactions = analysis.attribution.iter().flat_map(|a| &a.interactions);
    interactions
        .filter(|i| !i.hypothesis.is_empty())
        .map(|i| format!("{}: {}", sentence::pair_name(&i.layers), i.hypothesis))
        .map(|text| words::printable(&text))
        .collect()
}

fn keys(analysis: &Analysis) -> Vec<Key> {
    let arms = analysis.arms.iter().enumerate();
    arms.map(|(i, arm)| Key {
        letter: letter(i),
        colour: i % ARM_COLOURS + 1,
        name: words::printable(&arm.name),
        target: words::printable(&arm.target),
    })
    .collect()
}

/// `A` to `Z`, then `A1` and so on.
fn letter(i: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(i % 26).expect("less than 26"));
    if i < 26 { letter.to_string() } else { format!("{letter}{}", i / 26) }
}

fn command(experiment: &Experiment) -> String {
    let quoter = shlex::Quoter::new().allow_nul(true);
    let words: Vec<_> = experiment
        .command
        .iter()
        .map(|word| quoter.quote(word).expect("NUL is allowed").into_owned())
        .collect();
    words::printable(&words.join(" "))
}

fn ending(experiment: &Experiment, analysis: &Analysis) -> String {
    if experiment.spec.is_of_results() {
        let counts = provenance::counts(experiment, analysis);
        return format!("{counts}. {}", provenance::ending(experiment, analysis));
    }
    let ending = &analysis.ending;
    format!(
        "{}, {} in {} ({} of it switching between arms){}. Stopped: {}.",
        format::counted(ending.blocks, "complete block"),
        format::counted(ending.trials, "trial"),
        format::span(ending.wall_ns),
        format::span(ending.switch_ns),
        provenance::vm(experiment.host(0).instance.as_ref(), &experiment.spec.cloud),
        provenance::reason(analysis)
    )
}

fn legend(margin: &str, is_of_results: bool) -> Vec<(Verdict, String)> {
    [
        Verdict::Slower,
        Verdict::Faster,
        Verdict::Equivalent,
        Verdict::Undecided,
        Verdict::Masked,
        Verdict::EffectChanged,
        Verdict::NoInformation,
        Verdict::NotIndependent,
        Verdict::InsufficientTailSamples,
        Verdict::Overloaded,
    ]
    .map(|verdict| {
        let meaning = if is_of_results && verdict == Verdict::Undecided {
            "The interval holds both a cost and none, or there is no interval.".to_owned()
        } else {
            words::verdict_meaning(verdict, margin)
        };
        (verdict, meaning)
    })
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_beyond_the_alphabet_have_a_letter() {
        assert_eq!([0, 25, 26, 53].map(letter), ["A", "Z", "A1", "B2"]);
    }
}
