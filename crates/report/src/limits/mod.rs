//! The report of a search for caps, in all formats.

mod csv;
mod html;
mod json;
mod quantity;
mod sentences;
mod tables;

use iotax_caps::Caps;
use iotax_record::{End, LimitsHead};

pub use self::csv::limits_csv;
pub use self::html::limits_html;
pub use self::json::limits_json;

use crate::bandwidth::{MEASURED, Unit};
use crate::tables::Table;
use crate::text::{Style, paragraph, titled};
use crate::{format, markdown, provenance, words};

/// A search: what was asked, what was found, how it ended.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// What was asked, and where.
    pub head: &'a LimitsHead,
    /// What was found.
    pub caps: &'a Caps,
    /// How it ended; `None` if it was cut off.
    pub end: Option<&'a End>,
}

/// For a terminal.
pub fn limits_text(search: Search<'_>, style: Style) -> String {
    let mut parts = vec![head(search), String::new()];
    parts.extend(sentences::all(search).iter().map(|text| paragraph(text, style)));
    for (title, table) in tables::all(search) {
        parts.push(String::new());
        parts.push(titled(title, &table, style).trim_end().to_owned());
    }
    for text in sentences::notes(search) {
        parts.push(String::new());
        parts.push(paragraph(&text, style));
    }
    let mut text = parts.join("\n");
    text.push('\n');
    text
}

/// For a ticket.
pub fn limits_markdown(search: Search<'_>) -> String {
    let mut out = format!("## {}\n", markdown::escape(&head(search)));
    for text in sentences::all(search) {
        out.push_str(&format!("\n{}\n", markdown::escape(&text)));
    }
    for (title, table) in tables::all(search) {
        markdown::section(&mut out, title, &table);
    }
    for text in sentences::notes(search) {
        out.push_str(&format!("\n{}\n", markdown::escape(&text)));
    }
    out
}

/// `limits: 2 targets, reads, 34 s; on Standard_DS1_v2 (as Azure's metadata service says)`
fn head(search: Search<'_>) -> String {
    let Search { head, end, .. } = search;
    let targets = format::counted(head.limits.targets.len() as u64, "target");
    let what = if head.limits.writes { "writes" } else { "reads" };
    let took = end.map_or_else(String::new, |end| format!(", {}", format::span(end.wall_ns)));
    let vm = provenance::vm(head.host().instance.as_ref(), &head.limits.cloud);
    format!("limits: {targets}, {what}{took}{vm}")
}

impl Search<'_> {
    /// The unit of all bandwidths: that of the limits which stand beside what was measured.
    fn unit(self) -> Unit {
        let rows = self.caps.documented.iter().filter(|row| row.is_bytes());
        let limits: Vec<_> = rows.flat_map(|row| &row.limits).map(|limit| limit.per_s).collect();
        let undecided = if limits.is_empty() { MEASURED } else { Unit::Mb };
        Unit::of(&limits).unwrap_or(undecided)
    }
}

/// Four digits, and thousands apart: `3.251`, `80.02`, `3,998`, `24,310`.
fn plain(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
            return format::count(value.round().max(0.0) as u64);
        }
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        _ => 3,
    };
    format::fixed(value, decimals)
}

fn name(text: &str) -> String {
    words::printable(text)
}

type Titled = (&'static str, Table);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_cloud_calls_the_vm_is_no_markup() {
        let head = serde_json::json!({
            "format": 1, "iotax_version": "0", "started": "", "command": [],
            "hosts": [{
                "role": "local",
                "environment": iotax_record::Environment::default(),
                "instance":
                    { "cloud": "a", "vm": "<img src=x>\u{1b}[2J", "region": null, "disks": [] },
            }],
            "sites": [],
            "limits": { "targets": [], "writes": false, "quick": true, "burst": null, "seed": 1 },
        });
        let head: LimitsHead = serde_json::from_value(head).unwrap();
        let caps = serde_json::json!({
            "format": 1, "targets": [], "sharing": [], "documented": [], "levels": [],
            "ended": null,
        });
        let caps: Caps = serde_json::from_value(caps).unwrap();
        let text = limits_markdown(Search { head: &head, caps: &caps, end: None });
        assert!(text.contains("on \\<img"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
