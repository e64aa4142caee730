//! The printed form of known limits.

use iotax_experiment::documented::{Documented, DocumentedLimit, LimitBy, Standing};
use iotax_wording::limit;
use serde::Serialize;

/// The keys, in order.
#[derive(Serialize)]
pub(crate) struct ShownDocumented<'a> {
    target: String,
    quantity: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<f64>,
    limits: Vec<ShownLimit<'a>>,
    /// Index of the binding limit.
    binds: Option<usize>,
    says: String,
}

#[derive(Serialize)]
pub(crate) struct ShownLimit<'a> {
    scope: &'a LimitBy,
    of: &'a str,
    per_s: f64,
    burst_per_s: Option<f64>,
    source: &'a str,
    /// Date of the source; `None` if it was read on the machine.
    as_of: Option<&'a str>,
}

impl<'a> ShownDocumented<'a> {
    pub(crate) fn new(row: &'a Documented) -> Self {
        Self {
            target: limit::targets(row),
            quantity: &row.quantity,
            measured: row.measured,
            limits: row.limits.iter().map(ShownLimit::new).collect(),
            binds: match row.standing() {
                Some(Standing::Binds(at) | Standing::AtBurst(at)) => Some(at),
                Some(Standing::Below(_) | Standing::Above(_)) | None => None,
            },
            says: limit::standing(row),
        }
    }
}

impl<'a> ShownLimit<'a> {
    pub(crate) fn new(limit: &'a DocumentedLimit) -> Self {
        let source = limit.source.as_ref();
        Self {
            scope: &limit.by,
            of: &limit.of,
            per_s: limit.per_s,
            burst_per_s: limit.burst_per_s,
            source: source.map_or(limit::READ_HERE, |source| &source.text),
            as_of: source.map(|source| source.as_of.as_str()),
        }
    }
}
