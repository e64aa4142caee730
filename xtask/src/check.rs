//! The steps of `cargo xtask check`, quick ones first. Their results do not depend on how busy the
//! machine is. Steps that measure are in `measure`.

use anyhow::Result;

use crate::cargo::{cargo, with_env};
use crate::steps::Step;
use crate::suite::{Kind, run_tests};
use crate::{dist, fuzz, models, path, prose, rooms, sources, tuples, workflows};

/// All steps in order.
pub(crate) const STEPS: &[Step] = &[
    Step::new(
        "rooms",
        "crates import only what the architecture allows; no import cycles within a crate",
        rooms::check,
    ),
    Step::new("modules", "modules with submodules are NAME/mod.rs", sources::modules),
    Step::new("hops", "the main path is at most as long as the architecture allows", path::hops),
    Step::new("sizes", "no source file over 800 lines", sources::sizes),
    Step::new(
        "skips",
        "tests are skipped only through the helper, which fails in CI",
        sources::skips,
    ),
    Step::new("prose", "only the `wording` crate contains sentences", prose::prose),
    Step::new("quantities", "only the `quantity` crate formats quantities", prose::quantities),
    Step::new("matching", "no code parses sentences", prose::matching),
    Step::new("tuples", "no function takes a tuple", tuples::check),
    Step::new("fmt", "formatting", || cargo(&["fmt", "--all", "--check"])),
    Step::new("loom", "thread interleavings in the models, with loom", models::loom),
    Step::new("miri", "unsafe code in the models, with Miri", models::miri),
    Step::new("clippy", "lints; warnings are errors", clippy),
    Step::new("unit", "unit tests", || run_tests(Kind::Unit)),
    Step::new("test", "integration tests", || run_tests(Kind::Integration)),
    Step::new(
        "packages",
        "install and use a package and an image made from the test build",
        dist::check,
    ),
    Step::new(
        "workflows",
        "lint workflows and the Action, and run their scripts",
        workflows::check,
    ),
    // With `--workspace`, libraries have the same features as in the other tests. Otherwise most of
    // them would be built again.
    Step::new("kubernetes", "tests of the Kubernetes build, without a cluster", || {
        let which = ["test", "--quiet", "--workspace", "--features", "iotax/kubernetes"];
        cargo(
            &[&which[..], &["--bin", "iotax", "--test", "kube", "--test", "kube_doctor"]].concat(),
        )
    }),
    Step::new("doctest", "examples in the documentation", || {
        cargo(&["test", "--workspace", "--doc", "--quiet"])
    }),
    Step::new("fuzz", "a short run of every fuzz target", fuzz::check),
    // clippy has already built all features, and the examples with their libraries.
    Step::new("doc", "documentation builds without warnings", || {
        let what = ["doc", "--workspace", "--all-features", "--no-deps", "--quiet"];
        let targets = ["--lib", "--bins", "--examples"];
        with_env(&[&what[..], &targets].concat(), &[("RUSTDOCFLAGS", "-D warnings")])
    }),
];

/// Uses all features, to include code that only `measure` builds.
fn clippy() -> Result<()> {
    let what = ["clippy", "--workspace", "--all-targets", "--all-features", "--quiet"];
    cargo(&[&what[..], &["--", "-D", "warnings"]].concat())
}
