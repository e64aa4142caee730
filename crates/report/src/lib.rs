//! Analysis to html, text, json, markdown, csv.
#![forbid(unsafe_code)]
