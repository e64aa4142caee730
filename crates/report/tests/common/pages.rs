//! A report of each kind.

use iotax_analyze::Analysis;
use iotax_record::ExperimentHead;
use iotax_report::{Document, SearchResult, experiment, search};

use super::{analyses, fleet, machine, matrix, recording, suite, troubled, two};

fn nodes(count: usize) -> Document {
    of(fleet::nodes(count))
}

fn of((head, found): (ExperimentHead, Analysis)) -> Document {
    experiment(&head, &found)
}

/// Experiments of every kind, with what was found.
pub(crate) fn experiments() -> Vec<(&'static str, ExperimentHead, Analysis)> {
    let compare = super::compare;
    let of = |name, (head, found)| (name, head, found);
    vec![
        ("run", super::run(), analyses::run()),
        ("compare", compare(), analyses::compare()),
        ("factors", compare(), analyses::factors()),
        ("warned", compare(), troubled::warned()),
        ("masked", compare(), troubled::masked()),
        ("ruled", compare(), troubled::ruled()),
        ("stalled", compare(), troubled::stalled()),
        ("withheld", compare(), troubled::withheld()),
        ("files", compare(), analyses::on_files()),
        ("syncs", compare(), analyses::syncing(analyses::compare())),
        ("machine", compare(), machine::compare()),
        ("cloud", super::on_a_vm(), analyses::compare()),
        of("two", two::quick()),
        ("peel", super::peel(), analyses::peel()),
        ("matrix", matrix::compare(), matrix::found()),
        ("fleet", fleet::compare(), fleet::found()),
        of("nodes-2", fleet::nodes(2)),
        of("nodes-5", fleet::nodes(5)),
        of("nodes-24", fleet::nodes(24)),
    ]
}

pub(crate) fn all() -> [(&'static str, Document); 20] {
    let (compare, peel) = (super::compare(), super::peel());
    let (head, caps) = &super::search::search(&[]);
    let (path_head, path_caps) = &super::search::path();
    [
        ("run", experiment(&super::run(), &analyses::run())),
        ("compare", experiment(&compare, &analyses::compare())),
        ("factors", experiment(&compare, &analyses::factors())),
        ("warned", experiment(&compare, &troubled::warned())),
        ("machine", experiment(&compare, &machine::compare())),
        ("two-quick", of(two::quick())),
        ("two-usual", of(two::usual())),
        ("two-longest", of(two::longest())),
        ("peel", experiment(&peel, &analyses::peel())),
        ("suite", suite::suite()),
        ("matrix", experiment(&matrix::compare(), &matrix::found())),
        ("fleet", experiment(&fleet::compare(), &fleet::found())),
        ("nodes-2", nodes(2)),
        ("nodes-5", nodes(5)),
        ("nodes-24", nodes(24)),
        ("nodes-300", nodes(300)),
        ("limits", search(SearchResult { head, caps, end: None })),
        ("recording", recording::database().document()),
        ("recording-of-everything", recording::of_everything("all.iotx").document()),
        ("paths", search(SearchResult { head: path_head, caps: path_caps, end: None })),
    ]
}
