//! What a VM and its disks may do together.

use iotax_catalog::{Bound, Bucket, By, Caching, Direction, Effective, Expectation, Limit, Scope};

use super::figures::{UNKNOWN, Unit, amount, bound_lasts};
use super::look::{cells, conflict_text, limits_table};
use super::page::Page;
use super::sources::Sources;
use crate::tables::{ABSENT, Table};
use crate::text::Style;

/// What to expect: each disk, all together, and the limits behind it.
pub fn catalog_plan(expectation: &Expectation, style: Style) -> String {
    let mut page = Page::new(style);
    add_plan(&mut page, expectation);
    page.finish()
}

fn add_plan(page: &mut Page, expectation: &Expectation) {
    let unit = Unit::of_limits(expectation.disks.iter().flat_map(|disk| &disk.limits));
    let whose = expectation.vm.as_ref().map_or("the disks alone".to_owned(), |vm| {
        let variant = vm.variant.as_ref().map(|variant| format!(" ({variant})"));
        format!("{}{}", vm.name, variant.unwrap_or_default())
    });
    page.title(&format!("What to expect of {whose}, by the documents"));
    let mut each = rates();
    for (place, disk) in expectation.disks.iter().enumerate() {
        let caching = match disk.caching {
            Caching::None => String::new(),
            caching => format!(", caching {caching}"),
        };
        let name = format!("{} {}{caching}", place + 1, disk.disk.name);
        add_rates(&mut each, &name, &disk.effective, unit);
    }
    page.table("Each disk alone", &each);
    let mut all = rates();
    for bucket in expectation.buckets.iter().filter(|_| expectation.buckets.len() > 1) {
        add_rates(&mut all, &bucket_name(bucket), &bucket.effective, unit);
    }
    add_rates(&mut all, "all", &expectation.together, unit);
    if expectation.disks.len() > 1 {
        page.table("All disks together", &all);
    }
    page.notes(
        expectation
            .notes
            .iter()
            .chain(&unknown_notes(expectation))
            .chain(&burst_notes(expectation)),
    );
    for conflict in expectation.vm.iter().flat_map(|vm| &vm.conflicts) {
        page.warning(&conflict_text(conflict));
    }
    let mut limits: Vec<&Limit> = Vec::new();
    for limit in expectation.disks.iter().flat_map(|disk| &disk.limits) {
        if !limits.contains(&limit) {
            limits.push(limit);
        }
    }
    let mut sources = Sources::default();
    let of_disks: Vec<_> = limits.iter().filter(|l| l.scope == Scope::Disk).copied().collect();
    let of_vm: Vec<_> = limits.iter().filter(|l| l.scope != Scope::Disk).copied().collect();
    let names: Vec<_> = of_disks.iter().map(|limit| limit.of.as_str()).collect();
    limits_table(page, &format!("Limits of {}", joined(&names)), &of_disks, &mut sources);
    if let Some(vm) = &expectation.vm {
        limits_table(page, &format!("Limits of {}", vm.name), &of_vm, &mut sources);
        let _ = sources.number(&vm.source);
    }
    page.sources(&sources);
}

/// Each name once.
fn joined(names: &[&str]) -> String {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(name) {
            once.push(name);
        }
    }
    once.join(", ")
}

fn rates() -> Table {
    let mut table =
        Table::new(&["Disk", "rate"], &["sustained", "bound by", "burst", "bound by", "lasts"]);
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
        row("IOPS", side.iops.as_ref(), &amount);
        row(unit.word(), side.bw_bytes.as_ref(), &|bytes| unit.amount(bytes));
    }
}

fn by(by: Option<&By>) -> String {
    by.map_or("sum".to_owned(), |by| by.scope.to_string())
}

/// Limits that hold, too, but whose figures are unknown.
fn unknown_notes(expectation: &Expectation) -> Vec<String> {
    let sides = expectation.disks.iter().flat_map(|disk| &disk.effective);
    let mut notes = Vec::new();
    for side in sides {
        for (all, rate) in [(&side.unknown_iops, "IOPS"), (&side.unknown_bw, "throughput")] {
            notes.extend(all.iter().map(|By { scope, of }| {
                format!("{of} ({scope}): its {rate} limit is not known, there may be less.")
            }));
        }
    }
    notes
}

fn burst_notes(expectation: &Expectation) -> Vec<String> {
    let sides = expectation.disks.iter().flat_map(|disk| &disk.effective);
    let bounds = sides.flat_map(|side| [&side.iops, &side.bw_bytes]).flatten();
    let bursts = bounds.filter_map(|bound| bound.burst.as_ref());
    let mut notes: Vec<_> =
        bursts.flat_map(|burst| &burst.notes).map(|note| format!("Bursts: {note}")).collect();
    notes.dedup();
    notes
}
