//! Builds reports as documents and renders them in several formats.
//!
//! A [`Document`] is built once, and each format is a function of it. This crate does not print,
//! open files, or compute statistics; it only rounds numbers and adds units.
//!
//! | document | function |
//! |---|---|
//! | an experiment, with its phases | [`experiments`] |
//! | a search for caps | [`search`] |
//! | a recording of an application's I/O | [`recording()`] |
//! | the first look at a disk | [`check()`] |
//! | several of them | [`several`] |
//! | what lies under the claims of a cluster, and what may hurt | [`cluster_doctor`] |
//! | what lies under a path, and what may hurt | [`doctor`], [`explained`], [`known_causes`] |
//! | documented limits | [`catalog_vms`], [`catalog_disks`], [`catalog_plan`], [`catalog_check`] |
//!
//! | format | function | for |
//! |---|---|---|
//! | HTML | [`html`] | reading offline, sharing |
//! | text | [`text`] | the terminal |
//! | Markdown | [`markdown`] | issues, wikis |
//!
//! Formats for programs are made directly from the data: JSON ([`json_compare`], [`json_run`],
//! [`search_json`], [`doctor_json`]), CSV ([`csv`], [`search_csv`]), and rules as test cases
//! ([`junit`]) or annotations ([`github`]). Two more formats are made from the record: the bundle
//! for recipients without iotax ([`bundle::bundle`]), and the tables of [`iostat`].
#![forbid(unsafe_code)]
#![allow(
    clippy::format_push_string,
    reason = "reports are small, and `write!` to a string returns a result although it cannot fail"
)]

pub mod bundle;
mod caps;
mod catalog;
mod changes;
mod check;
mod cloud_disks;
mod csv;
mod doctor;
mod document;
mod experiment;
mod facts;
mod figures;
mod html;
mod iostat;
mod json;
mod junit;
mod machine;
mod markdown;
mod matrix;
mod network;
mod phases;
mod recording;
mod redact;
mod rules;
mod search;
mod several;
mod tables;
mod targets;
mod text;
mod words;

pub use catalog::{
    catalog_check, catalog_disks, catalog_json, catalog_plan, catalog_vm_list, catalog_vms,
};
pub use check::{CheckResult, check, check_json};
pub use csv::{CSV_COLUMNS, csv};
pub use doctor::{
    Detail as DoctorDetail, HostFindings, Probed, cause_json, cluster_doctor, cluster_doctor_json,
    doctor, doctor_json, explained, known_causes,
};
pub use document::Document;
pub use experiment::{AnalyzedPhase, experiment};
pub use html::html;
pub use iostat::iostat;
pub use iotax_wording::name::is_unprintable;
pub use iotax_wording::rule::{Ruling, rulings};
pub use iotax_wording::search::SearchResult;
pub use iotax_wording::search::rulings as search_rulings;
pub use json::{COMPARE_FORMAT, json_compare, json_run, json_text};
pub use junit::{github, junit};
pub use markdown::markdown;
pub use phases::{experiments, phases_json_compare, phases_json_run};
pub use recording::{ShownRecording, recording, recording_json};
pub use redact::Redactor;
pub use search::{search, search_csv, search_json};
pub use several::several;
pub use text::{Style, answer, parts_of_paths, screen, text};
