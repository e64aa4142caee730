//! The change that each level of a matrix causes: rates in percent, latency in time.

use iotax_analyze::{
    Analysis, Comparison, Estimate, FactorEffects, FactorShift, NetworkLoad, Verdict,
    is_within_reach,
};
use iotax_wording::format::{self, ABSENT};
use iotax_wording::verdict::comparison::{change, primary_effects};
use iotax_wording::{name, note, units};

use crate::document::{Cell, Head, Item, Section, ShownIn, Table};
use crate::words::{self, printable};

/// The changes by the levels of a matrix in one phase.
pub(crate) struct Changes<'a> {
    name: &'a str,
    matrix: &'a FactorEffects,
    /// The kind of load on a network path.
    load: Option<NetworkLoad>,
}

impl<'a> Changes<'a> {
    /// `None` if there is no matrix.
    pub(crate) fn of(analysis: &'a Analysis) -> Option<Self> {
        let (name, load) = (&analysis.workload, units::network_load(analysis));
        Some(Self { name, matrix: analysis.matrix.as_ref()?, load })
    }

    fn moves_bytes(&self) -> bool {
        self.load.is_some_and(NetworkLoad::moves_bytes)
    }

    fn has_latency(&self) -> bool {
        !self.moves_bytes() && self.matrix.shifts.iter().any(|shift| shift.latency_ns.is_some())
    }

    /// Changes of rates and of latency, under [`heads`].
    fn figures(&self, shift: &FactorShift) -> Vec<Cell> {
        let bytes = || changed(shift.bytes_per_s, shift.bytes_per_s_interval);
        let texts = match self.load {
            None => vec![rate(shift), bytes(), latency(shift)],
            Some(_) if self.moves_bytes() => vec![bytes(), ABSENT.to_owned()],
            Some(_) => vec![rate(shift), latency(shift)],
        };
        texts.into_iter().map(Cell::new).collect()
    }
}

/// The columns, depending on the load: storage or network.
fn heads(matrices: &[Changes<'_>]) -> &'static [&'static str] {
    if matrices.iter().any(|of| of.load.is_some()) {
        &["rate", "mean latency"]
    } else {
        &["IOPS", "throughput", "mean latency"]
    }
}

/// One row per level. `job`: the name of the first column if there are several phases. With
/// intervals this is too wide for a terminal, which gets one table per phase.
pub(crate) fn sections(job: Option<&str>, matrices: &[Changes<'_>]) -> Vec<Section> {
    let shifts = || matrices.iter().flat_map(|of| &of.matrix.shifts);
    if shifts().next().is_none() {
        return Vec::new();
    }
    let has_intervals = shifts().any(|shift| shift.iops_interval.is_some());
    let has_latency = matrices.iter().any(Changes::has_latency);
    let note = || Item::Note(note::changes(has_intervals, has_latency));
    let all = Item::Table(whole(job, matrices, has_intervals));
    let all = Section::new("Changes", [all, note()]);
    if job.is_none() || !has_intervals {
        return vec![all];
    }
    let each = matrices.iter().map(|of| Item::Table(narrow(of)));
    let each = Section::new("Changes", each.chain([note()]).collect::<Vec<_>>());
    vec![all.at(ShownIn::Wide), each.at(ShownIn::Narrow)]
}

fn whole(job: Option<&str>, matrices: &[Changes<'_>], has_intervals: bool) -> Table {
    let words: Vec<&str> = job.into_iter().chain(["level"]).collect();
    let mut table = Table::new(&words, heads(matrices));
    table.heads.extend(has_intervals.then(|| Head::word("verdict")));
    for of in matrices {
        for shift in &of.matrix.shifts {
            let name = job.iter().map(|_| Cell::new(printable(of.name)));
            let row = name.chain([level(shift)]).chain(of.figures(shift));
            table.rows.push(row.chain(has_intervals.then(|| verdict(of.matrix, shift))).collect());
        }
    }
    table.without_absent_figures()
}

/// Omits the rate of bytes if all I/Os have the same size.
fn narrow(of: &Changes<'_>) -> Table {
    if of.load.is_some() {
        let mut table = whole(None, std::slice::from_ref(of), true);
        table.heads[0] = Head::word(of.name);
        return table;
    }
    let matrix = of.matrix;
    let is_same = |shift: &FactorShift| (shift.iops - shift.bytes_per_s).abs() < 1e-6;
    let both = matrix.shifts.iter().all(is_same);
    let rates = if both { "IOPS, throughput" } else { "IOPS" };
    let mut table = Table::new(&[&printable(of.name)], &[rates, "mean latency"]);
    table.heads.push(Head::word("verdict"));
    for shift in &matrix.shifts {
        let figures = [rate(shift), latency(shift)].map(Cell::new);
        let row = [level(shift)].into_iter().chain(figures);
        table.rows.push(row.chain([verdict(matrix, shift)]).collect());
    }
    table
}

fn level(shift: &FactorShift) -> Cell {
    Cell::new(printable(&format!("{}={}", shift.setting.factor, shift.setting.level)))
}

fn rate(shift: &FactorShift) -> String {
    changed(shift.iops, shift.iops_interval)
}

/// `−53 % [−57, −49]`; a bound of at least twice as much is a factor: `−4 % [100x less, 300x]`.
fn changed(ratio: f64, interval: Option<[f64; 2]>) -> String {
    let Some([lo, hi]) = interval else { return change(ratio) };
    if ratio < 2.0 && hi < 2.0 {
        let sign = if ratio > 1.0 { "+" } else { "" };
        let [value, lo, hi] = [ratio, lo, hi].map(|ratio| 100.0 * (ratio - 1.0));
        let text = iotax_quantity::interval(value, lo, hi, 1.0);
        return format!("{sign}{}", text.replacen(' ', " % ", 1));
    }
    let end = |ratio: f64| match ratio {
        10.0.. => format!("{}x", iotax_quantity::fixed(ratio, 0)),
        _ => change(ratio).replace(" %", ""),
    };
    format!("{} [{}, {}]", change(ratio), end(lo), end(hi))
}

/// `+1.60 ms [1.52, 1.68]`
fn latency(shift: &FactorShift) -> String {
    let Some(ns) = shift.latency_ns else { return ABSENT.to_owned() };
    let sign = if ns > 0.0 { "+" } else { "" };
    match shift.latency_interval_ns {
        Some([lo, hi]) => {
            format!("{sign}{}", format::time_interval(Estimate { value: ns, lo, hi }))
        }
        None if ns < 0.0 => format!("−{}", format::time(-ns)),
        None => format!("{sign}{}", format::time(ns)),
    }
}

/// `slower`, or `undecided (16)`.
fn verdict(matrix: &FactorEffects, shift: &FactorShift) -> Cell {
    let effect = primary_effects(matrix).into_iter().find(|effect| effect.setting == shift.setting);
    let Some(Comparison { verdict, blocks_needed, blocks, .. }) =
        effect.map(|effect| &effect.comparison)
    else {
        return Cell::new(ABSENT);
    };
    let needed = blocks_needed.filter(|needed| is_within_reach(*needed, *blocks));
    let needed = needed.filter(|_| *verdict == Verdict::Undecided);
    let needed = needed.map(|blocks| format!(" ({})", iotax_quantity::grouped(blocks.into())));
    let word = name::verdict(*verdict);
    Cell::toned(format!("{word}{}", needed.unwrap_or_default()), words::verdict_tone(*verdict))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotax_experiment::Setting;

    #[test]
    fn paths_are_told_in_what_their_load_is_about() {
        let shift = FactorShift {
            setting: Setting { factor: "mtu".to_owned(), level: "9000".to_owned() },
            against: "1500".to_owned(),
            iops: 1.5,
            iops_interval: None,
            bytes_per_s: 1.5,
            bytes_per_s_interval: None,
            latency_ns: Some(1_000.0),
            latency_interval_ns: None,
            pairs: 1,
        };
        let matrix = FactorEffects {
            factors: Vec::new(),
            cells: Vec::new(),
            effects: Vec::new(),
            shifts: vec![shift],
            interactions: Vec::new(),
            unpaired: Vec::new(),
        };
        let told = |load| {
            let table = whole(None, &[Changes { name: "w", matrix: &matrix, load }], false);
            let columns = table.heads.iter().zip(&table.rows[0]);
            columns.map(|(head, cell)| format!("{} {}", head.text, cell.text)).collect::<Vec<_>>()
        };
        assert_eq!(told(Some(NetworkLoad::Stream)), ["level mtu=9000", "rate +50 %"]);
        assert_eq!(
            told(Some(NetworkLoad::RoundTrips))[1..],
            ["rate +50 %", "mean latency +1.00 µs"]
        );
        assert_eq!(told(None)[1..3], ["IOPS +50 %", "throughput +50 %"]);
    }

    #[test]
    fn a_change_is_in_percent_up_to_twice_as_much() {
        assert_eq!(changed(0.47, Some([0.43, 0.51])), "−53 % [−57, −49]");
        assert_eq!(changed(1.04, Some([0.98, 1.1])), "+4 % [−2, 10]");
        assert_eq!(changed(0.96, Some([0.01, 300.0])), "−4 % [100x less, 300x]");
        assert_eq!(changed(2.5, Some([2.2, 2.8])), "2.5x [2.2x, 2.8x]");
        assert_eq!(changed(0.47, None), "−53 %");
    }
}
