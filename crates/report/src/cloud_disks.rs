//! The layers of simulated cloud disks, with sources.

use indexmap::{IndexMap, IndexSet};
use iotax_catalog::Source;
use iotax_experiment::layers::Cloud;
use iotax_experiment::{Layer, Target};
use iotax_wording::catalog::note;

use crate::document::{Item, Section, ShownIn, Table, Topic};

/// The simulated cloud disks of the targets, each once.
pub(crate) fn section<'a>(targets: impl IntoIterator<Item = &'a Target>) -> Option<Section> {
    let disks = targets.into_iter().filter_map(Target::cloud);
    let disks: IndexMap<String, &Cloud> =
        disks.map(|disk| (Layer::Cloud(disk.clone()).to_string(), disk)).collect();
    let mut sources: IndexSet<&Source> = IndexSet::new();
    let mut rows = Vec::new();
    let mut notes: IndexSet<String> = IndexSet::new();
    for (text, disk) in &disks {
        for (at, part) in disk.made.parts.iter().enumerate() {
            let numbers = part.sources.iter().map(|source| sources.insert_full(source).0 + 1);
            let from: Vec<String> = numbers.map(|number| format!("[{number}]")).collect();
            let layer = Layer::from(&part.layer).to_string();
            let name = if at == 0 { text.clone() } else { String::new() };
            rows.push([name, layer, part.what.clone(), from.join(" ")]);
        }
        notes.extend(disk.made.notes.iter().cloned().chain(disk.notes.iter().map(note)));
    }
    if rows.is_empty() {
        return None;
    }
    let table = Table::of(&rows)
        .word("disk", |[disk, ..]| disk)
        .word("layers (bottom to top)", |[_, layers, ..]| layers)
        .word("simulates", |[_, _, what, _]| what)
        .word("source", |[.., from]| from)
        .table;
    let cited = (1..)
        .zip(&sources)
        .map(|(number, Source { text, as_of })| format!("[{number}] {text}, as of {as_of}"));
    let mut items = vec![Item::Table(table)];
    items.extend(notes.into_iter().map(Item::Note));
    items.push(Item::Sources(cited.collect()));
    Some(Section::new("Simulated cloud disks", items).at(ShownIn::Page).on(Topic::Circumstances))
}
