//! Analysis to html, text, json, markdown, csv.
//!
//! Each format is one pure function from what was run and what it showed to a string. Nothing
//! here prints, opens a file, or computes a statistic: numbers are rounded and given units.
//!
//! | format | function | for |
//! |---|---|---|
//! | HTML | [`html`] | people, offline, to be handed on |
//! | text | [`text`] | the terminal |
//! | Markdown | [`markdown`] | issues, wikis |
//! | JSON | [`json_compare`], [`json_run`] | programs |
//! | CSV | [`csv`] | spreadsheets, notebooks: trials as rows |
//! | bundle | [`bundle::bundle`] | people without iotax: job files and a script for fio |
//! | catalog | [`catalog_vms`], [`catalog_disks`], [`catalog_plan`], [`catalog_check`] | the terminal: documented limits |
//! | doctor | [`doctor_text`], [`doctor_json`] | what lies under a path, and what may hurt |
//! | tables of iostat | [`iostat`] | the terminal: one trial second by second |
#![forbid(unsafe_code)]
#![allow(
    clippy::format_push_string,
    reason = "a report is small, and `write!` to a string brings a result that cannot fail"
)]

mod bandwidth;
pub mod bundle;
mod caps;
mod catalog;
mod csv;
mod doctor;
mod format;
mod html;
mod iostat;
mod json;
mod limits;
mod machine;
mod markdown;
mod notices;
mod page;
mod phases;
mod preconditioning;
mod provenance;
mod redact;
mod sentence;
mod stalls;
mod tables;
mod text;
mod words;

pub use catalog::{catalog_check, catalog_disks, catalog_plan, catalog_vm_list, catalog_vms};
pub use csv::{CSV_COLUMNS, csv};
pub use doctor::{
    Detail as DoctorDetail, cause_json, cause_list, cause_text, doctor_json, doctor_text,
};
pub use html::html;
pub use iostat::iostat;
pub use json::{COMPARE_FORMAT, json_compare, json_run, json_text};
pub use limits::{Search, limits_csv, limits_html, limits_json, limits_markdown, limits_text};
pub use markdown::markdown;
pub use page::parts_of_paths;
pub use phases::{
    Part, phases_html, phases_json_compare, phases_json_run, phases_markdown, phases_text,
};
pub use redact::Redactor;
pub use text::{Style, text};
pub use words::is_unprintable;
