//! The steps of `cargo xtask check`, quick ones first: all that comes out alike each time, however
//! busy the machine is. What judges a measurement is in `measure`.

use anyhow::Result;

use crate::cargo::{cargo, with_env};
use crate::steps::Step;
use crate::suite::{Kind, run_tests};
use crate::{dist, fuzz, models, path, prose, rooms, sources, tuples, workflows};

/// All steps in order.
pub(crate) const STEPS: &[Step] = &[
    Step::new(
        "rooms",
        "each crate imports only what the architecture allows, its directories no circles",
        rooms::check,
    ),
    Step::new("modules", "a module with children is NAME/mod.rs", sources::modules),
    Step::new("hops", "the main path is as short as the architecture says", path::hops),
    Step::new("sizes", "no source file over 800 lines", sources::sizes),
    Step::new(
        "skips",
        "a test is skipped by the one helper alone, which fails in CI",
        sources::skips,
    ),
    Step::new("prose", "rooms that conclude return data, and wording says it", prose::prose),
    Step::new("quantities", "figures get their digits and units in one crate", prose::quantities),
    Step::new("matching", "no room looks into sentences", prose::matching),
    Step::new("tuples", "what functions take has names", tuples::check),
    Step::new("fmt", "formatting", || cargo(&["fmt", "--all", "--check"])),
    Step::new("loom", "threads in every order, where they meet", models::loom),
    Step::new("miri", "unsafe code that calls nobody, interpreted", models::miri),
    Step::new("clippy", "lints, warnings are errors", clippy),
    Step::new("unit", "unit tests", || run_tests(Kind::Unit)),
    Step::new("test", "all other tests", || run_tests(Kind::Integration)),
    Step::new(
        "packages",
        "a package and an image of the tests' program, installed and used",
        dist::check,
    ),
    Step::new(
        "workflows",
        "workflows and the Action: linted, and their scripts run",
        workflows::check,
    ),
    // The whole workspace is named, so that libraries have the features of all other tests: otherwise
    // most of them would be built again.
    Step::new("kubernetes", "the program with a client of Kubernetes, without a cluster", || {
        let which = ["test", "--quiet", "--workspace", "--features", "iotax/kubernetes"];
        cargo(
            &[&which[..], &["--bin", "iotax", "--test", "kube", "--test", "kube_doctor"]].concat(),
        )
    }),
    Step::new("doctest", "examples in the documentation", || {
        cargo(&["test", "--workspace", "--doc", "--quiet"])
    }),
    Step::new("fuzz", "every fuzz target survives a short run", fuzz::check),
    // All features, and the examples with their libraries, are what clippy has built already.
    Step::new("doc", "documentation builds without warnings", || {
        let what = ["doc", "--workspace", "--all-features", "--no-deps", "--quiet"];
        let targets = ["--lib", "--bins", "--examples"];
        with_env(&[&what[..], &targets].concat(), &[("RUSTDOCFLAGS", "-D warnings")])
    }),
];

/// With all features, so that what only `measure` builds is looked at, too.
fn clippy() -> Result<()> {
    let what = ["clippy", "--workspace", "--all-targets", "--all-features", "--quiet"];
    cargo(&[&what[..], &["--", "-D", "warnings"]].concat())
}
