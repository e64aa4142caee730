//! Documented limits of VM sizes and disks.

use indexmap::IndexSet;
use iotax_catalog::{Cloud, Conflict, Direction, Disk, Fact, Limit, Note, Rate, Scope, Source, Vm};
use iotax_quantity::{count, limit_figure};
use iotax_wording::bandwidth::Unit;
use iotax_wording::catalog::{
    self, UNKNOWN, bandwidth, burst_lasts, scope, size, unit_of_disks, unit_of_vms,
};
use iotax_wording::format::{ABSENT, bit_rate, or_absent};

use crate::document::{Cell, Document, Item, Section, Table};

/// VM sizes in full: the variants of one, or several.
pub fn catalog_vms(vms: &[Vm]) -> Document {
    let mut page = Document::default();
    for vm in vms {
        vm_page(&mut page, vm);
    }
    page
}

/// Disks in full.
pub fn catalog_disks(disks: &[Disk]) -> Document {
    let mut page = Document::default();
    for disk in disks {
        disk_page(&mut page, disk);
    }
    page
}

/// VM sizes, one per line.
pub fn catalog_vm_list(vms: &[Vm]) -> Document {
    let cloud = vms.first().map_or(Cloud::Azure, |vm| vm.cloud);
    let unit = unit_of_vms(cloud, vms.iter().filter_map(widest));
    let figure = |limit: Option<&Limit>, words: &dyn Fn(&Limit) -> Option<String>| match limit {
        Some(limit) => words(limit).unwrap_or_else(|| UNKNOWN.to_owned()),
        None => ABSENT.to_owned(),
    };
    let table = Table::of(vms.iter().map(|vm| (vm, widest(vm))))
        .word("size", |(vm, _)| title(vm))
        .word("limit", |(_, limit)| or_absent(limit.map(|limit| limit.scope.to_string())))
        .figure("vCPUs", |(vm, _)| vm.vcpus.map_or(UNKNOWN.to_owned(), |n| n.to_string()))
        .figure("memory", |(vm, _)| vm.memory_bytes.map_or(UNKNOWN.to_owned(), size))
        .figure("IOPS", |(_, limit)| {
            figure(limit, &|limit| Some(limit_figure(limit.iops.as_ref()?.sustained)))
        })
        .figure(unit.word(), |(_, limit)| {
            figure(limit, &|limit| Some(bandwidth(unit, limit.bw_bytes.as_ref()?.sustained)))
        })
        .table;
    let mut page = Document::default();
    let count = count(vms.len() as u64, "size");
    page.add_table(&count, Some(table), None);
    page
}

/// The limit to show in a list: of uncached disks, or of the instance if it has a single limit.
fn widest(vm: &Vm) -> Option<&Limit> {
    let limits = || vm.limits.iter().filter(|limit| limit.disk_kinds.is_empty());
    limits()
        .find(|limit| limit.scope == Scope::VmUncached)
        .or_else(|| limits().find(|limit| limit.scope == Scope::Instance))
}

fn title(vm: &Vm) -> String {
    match &vm.variant {
        Some(variant) => format!("{} ({variant})", vm.name),
        None => vm.name.clone(),
    }
}

fn vm_page(page: &mut Document, vm: &Vm) {
    let count = |n: Option<u32>, word: &str| match n {
        Some(n) => count(n, word),
        None => format!("{UNKNOWN} number of {word}s"),
    };
    let memory = vm.memory_bytes.map_or("memory unknown".to_owned(), size);
    let (cpus, disks) = (count(vm.vcpus, "vCPU"), count(vm.max_data_disks, "disk"));
    let (name, cloud) = (title(vm), vm.cloud);
    let heading = format!("{name}: {cloud}, {cpus}, {memory}, at most {disks}");
    page.add(Section::new(heading, []));
    let mut sources = Sources::default();
    let _ = sources.number(&vm.source);
    let limits: Vec<_> = vm.limits.iter().map(|limit| (scope(limit), limit)).collect();
    let unit = unit_of_vms(vm.cloud, vm.limits.iter());
    limits_table(page, "Documented limits", &limits, unit, &mut sources);
    network_table(page, &vm.network, &mut sources);
    let mut facts = vec![];
    let yes = |value: Option<bool>| value.map(|value| if value { "yes" } else { "no" }.to_owned());
    if vm.cloud == Cloud::Azure {
        facts.push(("Premium disks", yes(vm.premium_storage)));
        facts.push(("Encryption at host", yes(vm.encryption_at_host_supported)));
        facts.push(("Host cache", vm.cache_bytes.map(size)));
    }
    facts_table(page, facts, &vm.facts);
    let limits = || vm.limits.iter().chain(&vm.network);
    let of_limits = limits().flat_map(|limit| &limit.notes);
    let notes = vm.notes.iter().chain(of_limits).map(catalog::note);
    add_notes(page, notes.chain(burst_notes(limits())));
    let _ = vm.page.as_ref().map(|page| sources.number(page));
    add_conflicts(page, &vm.conflicts, &mut sources);
    page.add(sources.section());
}

/// Adds published figures that contradict the sources, and lists both sources.
pub(super) fn add_conflicts(page: &mut Document, conflicts: &[Conflict], sources: &mut Sources) {
    for conflict in conflicts {
        page.add(Section::of(Item::warning(catalog::conflict(conflict))));
        let _ = (sources.number(&conflict.source), sources.number(&conflict.claimed_by));
    }
}

fn disk_page(page: &mut Document, disk: &Disk) {
    let size = disk.size_bytes.map_or("size not specified".to_owned(), size);
    let heading = format!("{}: {}, {}, {size}", disk.name, disk.cloud, disk.kind);
    page.add(Section::new(heading, []));
    let mut sources = Sources::default();
    let _ = sources.number(&disk.source);
    let limits: Vec<_> = disk.limits.iter().map(|limit| (scope(limit), limit)).collect();
    let unit = unit_of_disks(disk.cloud, disk.limits.iter());
    limits_table(page, "Documented limits", &limits, unit, &mut sources);
    let unit = disk.limits.iter().find_map(|limit| limit.io_unit_bytes);
    let facts = vec![
        ("Host caching", disk.host_cache.map(|cache| catalog::host_cache(cache).to_owned())),
        ("I/O unit", unit.map(iotax_quantity::size)),
    ];
    let known = facts.into_iter().filter(|(_, value)| value.is_some()).collect();
    facts_table(page, known, &disk.facts);
    let of_limits = disk.limits.iter().flat_map(|limit| &limit.notes);
    let notes = disk.notes.iter().chain(of_limits).map(catalog::note);
    add_notes(page, notes.chain(burst_notes(disk.limits.iter())));
    add_conflicts(page, &disk.conflicts, &mut sources);
    page.add(sources.section());
}

/// The conditions of bursts.
fn burst_notes<'a>(limits: impl Iterator<Item = &'a Limit>) -> impl Iterator<Item = String> {
    let rates = limits.flat_map(|limit| [&limit.iops, &limit.bw_bytes]).flatten();
    rates.filter_map(|rate| rate.burst.as_ref()).flat_map(|burst| &burst.notes).map(burst_note)
}

pub(super) fn burst_note(note: &Note) -> String {
    format!("bursts: {}", catalog::note(note))
}

/// Limits by name, with two rows each: IOPS and throughput.
pub(super) fn limits_table(
    page: &mut Document,
    title: &str,
    limits: &[(String, &Limit)],
    unit: Unit,
    sources: &mut Sources,
) {
    if limits.is_empty() {
        page.add_paragraph(catalog::none_found(title));
        return;
    }
    let mut table = Table::new(&["limit", "rate"], &["sustained", "burst", "duration", "source"]);
    for (name, limit) in limits {
        let mut row = |name: &str, of: &str, rate: Option<&Rate>, words: &dyn Fn(f64) -> String| {
            let burst = rate.and_then(|rate| rate.burst.as_ref()).map(|b| words(b.per_s));
            let none = match rate {
                Some(_) if limit.burst_unknown => UNKNOWN,
                Some(_) => ABSENT,
                None => "",
            };
            table.rows.push(cells([
                name.to_owned(),
                of.to_owned(),
                rate.map_or(UNKNOWN.to_owned(), |rate| words(rate.sustained)),
                burst.unwrap_or(none.to_owned()),
                rate.map(burst_lasts).unwrap_or_default(),
                sources.of(limit),
            ]));
        };
        // If an instance limits only one rate, the other is unlimited.
        let is_on_bw_alone = limit.scope == Scope::Instance && limit.iops.is_none();
        let is_on_bw_alone = is_on_bw_alone && limit.bw_bytes.is_some();
        if !is_on_bw_alone {
            row(name, "IOPS", limit.iops.as_ref(), &limit_figure);
        }
        let name = if is_on_bw_alone { name } else { "" };
        row(name, unit.word(), limit.bw_bytes.as_ref(), &|bytes| bandwidth(unit, bytes));
    }
    page.add_table(title, Some(table), None);
}

/// Documented network limits of a VM, in bits.
fn network_table(page: &mut Document, limits: &[Limit], sources: &mut Sources) {
    if limits.is_empty() {
        page.add_paragraph(catalog::NO_NETWORK_LIMITS);
        return;
    }
    let rates = limits.iter().filter_map(|limit| Some((limit, limit.bw_bytes.as_ref()?)));
    let rows: Vec<_> = rates.map(|(limit, rate)| (limit, rate, sources.of(limit))).collect();
    let table = Table::of(&rows)
        .word("scope", |(limit, ..)| match limit.scope {
            Scope::NetworkFlow => "one flow",
            _ => "all flows",
        })
        .word("direction", |(limit, ..)| match limit.direction {
            Direction::Read => "in",
            Direction::Write => "out",
            Direction::Both => "in and out (each)",
        })
        .figure("sustained", |(_, rate, _)| bit_rate(8.0 * rate.sustained))
        .figure("burst", |(_, rate, _)| {
            or_absent(rate.burst.as_ref().map(|burst| bit_rate(8.0 * burst.per_s)))
        })
        .figure("source", |(.., source)| source.clone())
        .table;
    page.add_table("Documented network limits", Some(table), None);
}

fn facts_table(page: &mut Document, first: Vec<(&str, Option<String>)>, facts: &[Fact]) {
    let first = first.into_iter().map(|(name, value)| (name, value.unwrap_or(UNKNOWN.to_owned())));
    let others = facts.iter().map(|fact| catalog::property(&fact.property));
    page.add_facts(first.chain(others.map(|fact| (fact.name, fact.value))));
}

/// Each note once.
pub(super) fn add_notes(page: &mut Document, notes: impl Iterator<Item = String>) {
    let notes: IndexSet<String> = notes.collect();
    page.add_list("Notes", notes.into_iter().collect());
}

/// One row of text.
pub(super) fn cells<const N: usize>(words: [String; N]) -> Vec<Cell> {
    words.map(Cell::new).into()
}

// The sources of a page, numbered in the order of first use.

/// The sources used so far.
#[derive(Debug, Default)]
pub(super) struct Sources {
    known: Vec<Source>,
}

impl Sources {
    pub(super) fn number(&mut self, source: &Source) -> usize {
        if let Some(place) = self.known.iter().position(|known| known == source) {
            return place + 1;
        }
        self.known.push(source.clone());
        self.known.len()
    }

    /// The numbers of a limit's sources: `1`, or `1, 2` if the burst has another source.
    pub(super) fn of(&mut self, limit: &Limit) -> String {
        let first = self.number(&limit.source);
        match &limit.burst_source {
            Some(burst) => format!("{first}, {}", self.number(burst)),
            None => first.to_string(),
        }
    }

    /// One line per source: `[1] 2026-08-17, repository:file`.
    pub(super) fn section(&self) -> Section {
        let line = |(place, source): (usize, &Source)| {
            format!("[{}] {}, {}", place + 1, source.as_of, source.text)
        };
        let lines = self.known.iter().enumerate().map(line).collect();
        Section::new("Sources", [Item::Sources(lines)])
    }
}
