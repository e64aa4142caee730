//! Documented performance of a VM with its disks.

use iotax_catalog::{
    Bound, Bucket, By, Caching, Cloud, Conflict, Direction, DiskExpectation, Effective,
    Expectation, Limit, Scope,
};
use iotax_quantity::limit_figure;

use super::look::Sources;
use super::look::{add_conflicts, add_notes, burst_note, cells, limits_table};
use crate::document::{Document, Section, Table};
use iotax_wording::bandwidth::Unit;
use iotax_wording::catalog::{
    self, UNKNOWN, bandwidth, bound_lasts, scope, size, unit_of_disks, unit_of_vms,
};
use iotax_wording::format::ABSENT;

/// Maximum width of a disk name, to leave room for the figures.
const WIDEST_NAME: usize = 20;

/// The expected rates of each disk and of all together, and the limits behind them.
pub fn catalog_plan(expectation: &Expectation) -> Document {
    let mut page = Document::default();
    let unit = unit(expectation);
    let whose = expectation.vm.as_ref().map_or("the disks alone".to_owned(), |vm| {
        let variant = vm.variant.as_ref().map(|variant| format!(" ({variant})"));
        format!("{}{}", vm.name, variant.unwrap_or_default())
    });
    page.add(Section::new(format!("Documented performance of {whose}"), []));
    page.add_facts(expectation.disks.iter().enumerate().map(|(place, disk)| attached(place, disk)));
    let mut each = rates();
    for (place, disk) in expectation.disks.iter().enumerate() {
        let name = format!("{} {}", place + 1, short(&disk.disk.name));
        add_rates(&mut each, &name, &disk.effective, unit);
    }
    page.add_table("Each disk alone", Some(each), None);
    let mut all = rates();
    for bucket in expectation.buckets.iter().filter(|_| expectation.buckets.len() > 1) {
        add_rates(&mut all, &bucket_name(bucket), &bucket.effective, unit);
    }
    add_rates(&mut all, "all", &expectation.together, unit);
    if expectation.disks.len() > 1 {
        page.add_table("All disks together", Some(all), None);
    }
    let of_limits = expectation.disks.iter().flat_map(|disk| &disk.limits);
    let of_limits = of_limits.flat_map(|limit| &limit.notes).map(catalog::note).collect();
    let notes = [unknown_notes(expectation), of_limits, burst_notes(expectation)].concat();
    add_notes(&mut page, expectation.notes.iter().map(catalog::note).chain(notes));
    let mut sources = Sources::default();
    add_conflicts(&mut page, &conflicts(expectation), &mut sources);
    limits_table(&mut page, "Disk limits", &own_limits(expectation), unit, &mut sources);
    if let Some(vm) = &expectation.vm {
        let mut of_vm: Vec<(String, &Limit)> = Vec::new();
        for limit in expectation.disks.iter().flat_map(|disk| &disk.limits) {
            if limit.scope != Scope::Disk && !of_vm.iter().any(|(_, known)| *known == limit) {
                of_vm.push((scope(limit), limit));
            }
        }
        limits_table(&mut page, &format!("Limits of {}", vm.name), &of_vm, unit, &mut sources);
        let _ = sources.number(&vm.source);
        let _ = vm.page.as_ref().map(|page| sources.number(page));
    }
    page.add(sources.section());
    page
}

/// Conflicts of the VM and its disks, each once.
fn conflicts(expectation: &Expectation) -> Vec<Conflict> {
    let of_disks = expectation.disks.iter().flat_map(|disk| &disk.disk.conflicts);
    let all = expectation.vm.iter().flat_map(|vm| &vm.conflicts).chain(of_disks);
    let mut each: Vec<Conflict> = Vec::new();
    for conflict in all {
        if !each.contains(conflict) {
            each.push(conflict.clone());
        }
    }
    each
}

/// The unit of all bandwidths.
fn unit(expectation: &Expectation) -> Unit {
    let limits = expectation.disks.iter().flat_map(|disk| &disk.limits);
    match (&expectation.vm, expectation.disks.first()) {
        (Some(vm), _) => unit_of_vms(vm.cloud, limits),
        (None, first) => unit_of_disks(first.map_or(Cloud::Azure, |disk| disk.disk.cloud), limits),
    }
}

/// A disk's number and description.
fn attached(place: usize, disk: &DiskExpectation) -> (String, String) {
    let caching = match disk.caching {
        Caching::None => String::new(),
        caching => format!(", host caching {}", catalog::caching(caching)),
    };
    let size = disk.disk.size_bytes.map(|bytes| format!(", {}", size(bytes)));
    let value = format!("{}{}{caching}", disk.disk.name, size.unwrap_or_default());
    (format!("Disk {}", place + 1), value)
}

/// A disk's name without provisioned values. A long name is reduced to its first word, since the
/// number identifies the disk.
fn short(name: &str) -> &str {
    let name = name.split(':').next().unwrap_or(name);
    let first = name.split('-').next().unwrap_or(name);
    if name.len() > WIDEST_NAME { first } else { name }
}

/// The limits of the disks, each once, with the numbers of the disks.
fn own_limits(expectation: &Expectation) -> Vec<(String, &Limit)> {
    let mut all: Vec<(Vec<String>, &Limit)> = Vec::new();
    for (place, disk) in expectation.disks.iter().enumerate() {
        for limit in disk.limits.iter().filter(|limit| limit.scope == Scope::Disk) {
            let number = (place + 1).to_string();
            match all.iter_mut().find(|(_, known)| *known == limit) {
                Some((numbers, _)) => numbers.push(number),
                None => all.push((vec![number], limit)),
            }
        }
    }
    let name = |(numbers, limit): (Vec<String>, _)| {
        let limit: &Limit = limit;
        let direction = match limit.direction {
            Direction::Both => "",
            Direction::Read => ", reads",
            Direction::Write => ", writes",
        };
        (format!("{} {}{direction}", numbers.join(", "), short(&limit.of)), limit)
    };
    all.into_iter().map(name).collect()
}

fn rates() -> Table {
    let mut table =
        Table::new(&["disk", "rate"], &["sustained", "bound by", "burst", "bound by", "duration"]);
    for place in [3, 5] {
        table.heads[place].is_figure = false;
    }
    table
}

fn bucket_name(bucket: &Bucket) -> String {
    let places: Vec<_> = bucket.disks.iter().map(|place| (place + 1).to_string()).collect();
    let scope = bucket.scope.map_or("disk".to_owned(), |scope| scope.to_string());
    format!("{scope}: {}", places.join(", "))
}

fn add_rates(table: &mut Table, name: &str, effective: &[Effective], unit: Unit) {
    let mut name = name.to_owned();
    for side in effective {
        let direction = match side.direction {
            Direction::Both => "",
            Direction::Read => "read ",
            Direction::Write => "write ",
        };
        let mut row = |rate: &str, bound: Option<&Bound>, words: &dyn Fn(f64) -> String| {
            let burst = bound.and_then(|bound| bound.burst.as_ref());
            table.rows.push(cells([
                std::mem::take(&mut name),
                format!("{direction}{rate}"),
                bound.map_or(UNKNOWN.to_owned(), |bound| words(bound.sustained)),
                bound.map(|bound| by(bound.sustained_by.as_ref())).unwrap_or_default(),
                burst.map_or(ABSENT.to_owned(), |burst| words(burst.per_s)),
                burst.map(|burst| by(burst.by.as_ref())).unwrap_or_default(),
                bound.map(bound_lasts).unwrap_or_default(),
            ]));
        };
        row("IOPS", side.iops.as_ref(), &limit_figure);
        row(unit.word(), side.bw_bytes.as_ref(), &|bytes| bandwidth(unit, bytes));
    }
}

fn by(by: Option<&By>) -> String {
    by.map_or("sum".to_owned(), |by| by.scope.to_string())
}

/// Notes on limits whose figures are unknown.
fn unknown_notes(expectation: &Expectation) -> Vec<String> {
    let sides = expectation.disks.iter().flat_map(|disk| &disk.effective);
    let mut notes = Vec::new();
    for side in sides {
        for (all, rate) in [(&side.unknown_iops, "IOPS"), (&side.unknown_bw, "throughput")] {
            notes.extend(all.iter().map(|By { scope, of }| catalog::unknown(of, *scope, rate)));
        }
    }
    notes
}

fn burst_notes(expectation: &Expectation) -> Vec<String> {
    let sides = expectation.disks.iter().flat_map(|disk| &disk.effective);
    let bounds = sides.flat_map(|side| [&side.iops, &side.bw_bytes]).flatten();
    let bursts = bounds.filter_map(|bound| bound.burst.as_ref());
    let mut notes: Vec<_> = bursts.flat_map(|burst| &burst.notes).map(burst_note).collect();
    notes.dedup();
    notes
}
