//! Interfaces of a network path over the measured window.

use iotax_record::{Counters, InterfaceCounters, PathEnd};
use serde::Serialize;

use crate::counters::interfaces::{InterfaceFigures, QdiscFigures};
use crate::counters::mean::mean;
use crate::counters::samples::Stretch;

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct InterfaceSummary {
    /// At which end of the path it is.
    pub end: PathEnd,
    pub name: String,
    pub figures: InterfaceFigures,
    /// Its queueing disciplines that count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub qdiscs: Vec<QdiscSummary>,
}

/// One queueing discipline.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct QdiscSummary {
    /// Its kind, e.g. `tbf`.
    pub kind: String,
    /// Which one it is, as `tc` says it: `1:`, `root`.
    pub place: String,
    pub figures: QdiscFigures,
}

/// The interfaces over one stretch, which is made of `parts`: what waits is known at their ends.
pub(super) fn of_trial(
    counters: &Counters,
    whole: Stretch<'_>,
    parts: &[Stretch<'_>],
) -> Vec<InterfaceSummary> {
    let of_interface = |interface: &InterfaceCounters| {
        let qdiscs = interface.qdiscs.iter().filter_map(|qdisc| {
            let waiting = mean(parts.iter().filter_map(|part| part.qdisc(qdisc)));
            let figures = whole.qdisc(qdisc)?;
            let backlog_bytes = waiting.map_or(figures.backlog_bytes, |mean| mean.backlog_bytes);
            Some(QdiscSummary {
                kind: qdisc.kind.clone(),
                place: qdisc.place.clone(),
                figures: QdiscFigures { backlog_bytes, ..figures },
            })
        });
        Some(InterfaceSummary {
            end: interface.end,
            name: interface.name.clone(),
            figures: whole.interface(interface)?,
            qdiscs: qdiscs.collect(),
        })
    };
    counters.interfaces.iter().filter_map(of_interface).collect()
}

/// The mean over trials. Names may have been made anew, but not the places of interfaces on the
/// path.
pub(super) fn of_arm(trials: &[&[InterfaceSummary]]) -> Vec<InterfaceSummary> {
    let Some(first) = trials.first() else { return Vec::new() };
    let of_place = |(place, interface): (usize, &InterfaceSummary)| {
        let same = || {
            let others = trials.iter().filter_map(|trial| trial.get(place));
            others.filter(|other| other.end == interface.end)
        };
        let qdiscs = interface.qdiscs.iter().filter_map(|qdisc| {
            let is =
                |other: &&QdiscSummary| (&other.kind, &other.place) == (&qdisc.kind, &qdisc.place);
            let figures = same().filter_map(|i| i.qdiscs.iter().find(is).map(|q| q.figures));
            Some(QdiscSummary { figures: mean(figures)?, ..qdisc.clone() })
        });
        Some(InterfaceSummary {
            figures: mean(same().map(|interface| interface.figures))?,
            qdiscs: qdiscs.collect(),
            ..interface.clone()
        })
    };
    first.iter().enumerate().filter_map(of_place).collect()
}
