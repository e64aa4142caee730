//! What is documented of a VM size, a disk, and of all that match.

use iotax_catalog::{Conflict, Disk, Fact, Limit, Rate, Vm};

use super::figures::{UNKNOWN, Unit, amount, burst_lasts, scope, size};
use super::page::Page;
use super::sources::Sources;
use crate::tables::{ABSENT, Cell, Table};
use crate::text::Style;

/// Sizes of VMs in full: the variants of one, or several. With `kinds`, only limits that hold for
/// one of these kinds of disk.
pub fn catalog_vms(vms: &[Vm], kinds: &[String], style: Style) -> String {
    let mut page = Page::new(style);
    for vm in vms {
        vm_page(&mut page, vm, kinds);
    }
    page.finish()
}

/// Disks in full.
pub fn catalog_disks(disks: &[Disk], style: Style) -> String {
    let mut page = Page::new(style);
    for disk in disks {
        disk_page(&mut page, disk);
    }
    page.finish()
}

/// Sizes of VMs, a line each.
pub fn catalog_vm_list(vms: &[Vm], style: Style) -> String {
    let unit = Unit::of_limits(vms.iter().filter_map(widest));
    let mut table = Table::new(&["Size", "Limit"], &["vCPUs", "Memory", "IOPS", unit.word()]);
    for vm in vms {
        let limit = widest(vm);
        let figure = |rate: Option<&Rate>, words: &dyn Fn(f64) -> String| {
            rate.map_or(UNKNOWN.to_owned(), |rate| words(rate.sustained))
        };
        table.rows.push(cells([
            title(vm),
            limit.map_or(ABSENT.to_owned(), |limit| limit.scope.to_string()),
            vm.vcpus.map_or(UNKNOWN.to_owned(), |n| n.to_string()),
            vm.memory_bytes.map_or(UNKNOWN.to_owned(), size),
            limit.map_or(ABSENT.to_owned(), |l| figure(l.iops.as_ref(), &amount)),
            limit.map_or(ABSENT.to_owned(), |l| {
                figure(l.bw_bytes.as_ref(), &|bytes| unit.amount(bytes))
            }),
        ]));
    }
    let mut page = Page::new(style);
    let count = crate::format::counted(vms.len() as u64, "size");
    page.table(&count, &table);
    page.finish()
}

/// The limit that is worth a column: of uncached disks, or of the instance if it is one for all.
fn widest(vm: &Vm) -> Option<&Limit> {
    let limits = || vm.limits.iter().filter(|limit| limit.disk_kinds.is_empty());
    limits()
        .find(|limit| limit.scope == iotax_catalog::Scope::VmUncached)
        .or_else(|| limits().find(|limit| limit.scope == iotax_catalog::Scope::Instance))
}

fn title(vm: &Vm) -> String {
    match &vm.variant {
        Some(variant) => format!("{} ({variant})", vm.name),
        None => vm.name.clone(),
    }
}

fn vm_page(page: &mut Page, vm: &Vm, kinds: &[String]) {
    let count = |n: Option<u32>, word: &str| match n {
        Some(n) => crate::format::counted(n, word),
        None => format!("{UNKNOWN} number of {word}s"),
    };
    let memory = vm.memory_bytes.map_or("memory unknown".to_owned(), size);
    let (cpus, disks) = (count(vm.vcpus, "vCPU"), count(vm.max_data_disks, "disk"));
    page.title(&format!("{}: {}, {cpus}, {memory}, {disks} at most", title(vm), vm.cloud));
    let mut sources = Sources::default();
    let _ = sources.number(&vm.source);
    let wanted =
        |limit: &&Limit| kinds.is_empty() || kinds.iter().any(|kind| limit.holds_for(kind));
    let limits: Vec<_> = vm.limits.iter().filter(wanted).collect();
    limits_table(page, "Documented limits", &limits, &mut sources);
    let mut facts = vec![];
    let yes = |value: Option<bool>| value.map(|value| if value { "yes" } else { "no" }.to_owned());
    if vm.cloud == iotax_catalog::Cloud::Azure {
        facts.push(("Premium disks", yes(vm.premium_storage)));
        facts.push(("Encryption at host", yes(vm.encryption_at_host_supported)));
        facts.push(("Host cache", vm.cache_bytes.map(size)));
    }
    facts_table(page, facts, &vm.facts);
    let of_limits = limits.iter().flat_map(|limit| &limit.notes);
    page.notes(vm.notes.iter().chain(of_limits));
    for conflict in &vm.conflicts {
        page.warning(&conflict_text(conflict));
        let _ = (sources.number(&conflict.source), sources.number(&conflict.claimed_by));
    }
    page.sources(&sources);
}

/// Figures that were published of a size and are not its own.
pub(super) fn conflict_text(conflict: &Conflict) -> String {
    let figure = |value: Option<f64>| value.map_or(UNKNOWN.to_owned(), amount);
    let mb = |bytes: Option<f64>| bytes.map_or(UNKNOWN.to_owned(), |b| Unit::Mb.amount(b));
    format!(
        "Conflict: {} gives {} IOPS and {} MB/s, bursts of {} and {}, for {} ({}). But {}.",
        conflict.claimed_by.text,
        figure(conflict.iops),
        mb(conflict.bw_bytes),
        figure(conflict.burst_iops),
        mb(conflict.burst_bw_bytes),
        conflict.name,
        conflict.scope,
        conflict.explanation,
    )
}

fn disk_page(page: &mut Page, disk: &Disk) {
    let size = disk.size_bytes.map_or("size not given".to_owned(), size);
    page.title(&format!("{}: {}, {}, {size}", disk.name, disk.cloud, disk.kind));
    let mut sources = Sources::default();
    let _ = sources.number(&disk.source);
    let limits: Vec<_> = disk.limits.iter().collect();
    limits_table(page, "Documented limits", &limits, &mut sources);
    let unit = disk.limits.iter().find_map(|limit| limit.io_unit_bytes);
    let facts = vec![
        ("Host caching", disk.host_cache.map(|cache| cache.to_string())),
        ("Larger I/Os count as several of", unit.map(|unit| crate::format::bytes(unit as f64))),
    ];
    let known = facts.into_iter().filter(|(_, value)| value.is_some()).collect();
    facts_table(page, known, &disk.facts);
    let of_limits = limits.iter().flat_map(|limit| &limit.notes);
    page.notes(disk.notes.iter().chain(of_limits).chain(burst_notes(&limits)));
    page.sources(&sources);
}

fn burst_notes<'a>(limits: &[&'a Limit]) -> impl Iterator<Item = &'a String> {
    let rates = limits.iter().flat_map(|limit| [&limit.iops, &limit.bw_bytes]);
    let notes: Vec<_> =
        rates.flatten().filter_map(|rate| rate.burst.as_ref()?.note.as_ref()).collect();
    notes.into_iter()
}

/// Limits, two lines each: IOPS and throughput.
pub(super) fn limits_table(page: &mut Page, title: &str, limits: &[&Limit], sources: &mut Sources) {
    if limits.is_empty() {
        page.paragraph(&format!("{title}: none were found in the sources."));
        return;
    }
    let unit = Unit::of_limits(limits.iter().copied());
    let mut table = Table::new(&["Limit", "of"], &["sustained", "burst", "lasts", "source"]);
    for limit in limits {
        let mut row =
            |name: String, of: &str, rate: Option<&Rate>, words: &dyn Fn(f64) -> String| {
                let sustained = rate.map_or(UNKNOWN.to_owned(), |rate| words(rate.sustained));
                let burst = rate.and_then(|rate| rate.burst.as_ref()).map(|b| words(b.per_s));
                let lasts = rate.map(burst_lasts).unwrap_or_default();
                let none = if rate.is_some() { ABSENT.to_owned() } else { String::new() };
                let numbers = sources.of(limit);
                table.rows.push(cells([
                    name,
                    of.to_owned(),
                    sustained,
                    burst.unwrap_or(none),
                    lasts,
                    numbers,
                ]));
            };
        row(scope(limit), "IOPS", limit.iops.as_ref(), &amount);
        row(String::new(), unit.word(), limit.bw_bytes.as_ref(), &|bytes| unit.amount(bytes));
    }
    page.table(title, &table);
}

fn facts_table(page: &mut Page, first: Vec<(&str, Option<String>)>, facts: &[Fact]) {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (name, value) in first {
        lines.push((name.to_owned(), value.unwrap_or(UNKNOWN.to_owned())));
    }
    lines.extend(facts.iter().map(|fact| (fact.name.clone(), fact.value.clone())));
    page.facts(&lines);
}

/// One row of ready-made words.
pub(super) fn cells<const N: usize>(words: [String; N]) -> Vec<Cell> {
    words.map(Cell::new).into()
}
