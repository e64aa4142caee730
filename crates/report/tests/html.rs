//! The page, without a browser.

mod common;

use common::analyses;
use iotax_report::html;

#[test]
fn write_samples() {
    let Some(dir) = std::env::var_os("SAMPLES") else { return };
    let dir = std::path::PathBuf::from(dir);
    for (name, page) in [
        ("peel", html(&common::peel(), &analyses::peel())),
        ("compare", html(&common::compare(), &analyses::compare())),
        ("run", html(&common::run(), &analyses::run())),
        ("troubled", html(&common::compare(), &analyses::troubled())),
        ("hostile", html(&common::hostile(), &analyses::hostile())),
    ] {
        std::fs::write(dir.join(format!("{name}.html")), page).unwrap();
    }
}
