//! Charts of operation times: the share of operations that completed within a time.

use iotax_analyze::{Analysis, OperationSummary};
use iotax_wording::chart;
use serde::Serialize;

use crate::document::ChartFrame;
use crate::words;

/// One kind of operation on all arms.
#[derive(Debug, Serialize)]
pub(super) struct OperationChart {
    id: String,
    title: String,
    /// Limit above which an operation is slow.
    slow_ns: Option<u64>,
    curves: Vec<Curve>,
}

#[derive(Debug, Serialize)]
struct Curve {
    arm: usize,
    /// Quantiles with their times in nanoseconds.
    points: Vec<(f64, u64)>,
}

/// Operations with a time limit. Percentiles of the others are in the table.
pub(super) fn operations(analysis: &Analysis) -> Vec<OperationChart> {
    let mut charts: Vec<OperationChart> = Vec::new();
    for (arm, summary) in analysis.arms.iter().enumerate() {
        for done in summary.operations.iter().filter(|done| done.slow.is_some()) {
            let title = words::printable(&done.name);
            let curve = Curve { arm, points: points(done) };
            match charts.iter_mut().find(|chart| chart.title == title) {
                _ if curve.points.is_empty() => {}
                Some(chart) => chart.curves.push(curve),
                None => charts.push(OperationChart {
                    id: format!("operation-{}", charts.len() + 1),
                    title,
                    slow_ns: done.slow.map(|slow| slow.above_ns),
                    curves: vec![curve],
                }),
            }
        }
    }
    charts
}

fn points(done: &OperationSummary) -> Vec<(f64, u64)> {
    done.latency.iter().map(|point| (point.q, point.latency_ns)).collect()
}

impl OperationChart {
    /// Where it is drawn.
    pub(super) fn of_page(&self) -> ChartFrame {
        ChartFrame {
            id: self.id.clone().into(),
            title: format!("Time per {}", self.title).into(),
            caption: chart::operations(self.slow_ns.is_some()),
        }
    }
}
