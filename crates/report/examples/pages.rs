//! Writes a page of each kind, made of the tests' figures, into a directory, to be looked at:
//! `cargo run -p iotax-report --example pages DIR`.

use std::path::PathBuf;

#[path = "../tests/common/mod.rs"]
mod common;

fn main() {
    let dir = PathBuf::from(std::env::args().nth(1).expect("a directory"));
    for (name, document) in common::pages::all() {
        let page = iotax_report::html(&document);
        std::fs::write(dir.join(name).with_extension("html"), page).expect("a page");
    }
}
