//! The steps of `cargo xtask check`, quick ones first: all that comes out alike each time, however
//! busy the machine is. What judges a measurement is in `measure`.

use anyhow::Result;

use crate::cargo::{cargo, with_env};
use crate::steps::Step;
use crate::suite::{Kind, run_tests};
use crate::{dist, fuzz, rooms, sources};

/// All steps in order.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "rooms",
        what: "each crate imports only what the architecture allows, its files no circles",
        run: rooms::check,
    },
    Step { name: "sizes", what: "no source file over 500 lines", run: sources::sizes },
    Step {
        name: "skips",
        what: "a test is skipped by the one helper alone, which fails in CI",
        run: sources::skips,
    },
    Step { name: "fmt", what: "formatting", run: fmt },
    Step { name: "clippy", what: "lints, warnings are errors", run: clippy },
    Step { name: "unit", what: "unit tests", run: unit },
    Step { name: "test", what: "all other tests", run: test },
    Step {
        name: "packages",
        what: "a package and an image of the tests' program, installed and used",
        run: dist::check,
    },
    Step { name: "doctest", what: "examples in the documentation", run: doctest },
    Step { name: "fuzz", what: "every fuzz target survives a short run", run: fuzz::check },
    Step { name: "doc", what: "documentation builds without warnings", run: doc },
];

fn fmt() -> Result<()> {
    cargo(&["fmt", "--all", "--check"])
}

/// With all features, so that what only `measure` builds is looked at, too.
fn clippy() -> Result<()> {
    let what = ["clippy", "--workspace", "--all-targets", "--all-features", "--quiet"];
    cargo(&[&what[..], &["--", "-D", "warnings"]].concat())
}

fn unit() -> Result<()> {
    run_tests(Kind::Unit)
}

fn test() -> Result<()> {
    run_tests(Kind::Integration)
}

fn doctest() -> Result<()> {
    cargo(&["test", "--workspace", "--doc", "--quiet"])
}

fn doc() -> Result<()> {
    with_env(&["doc", "--workspace", "--no-deps", "--quiet"], &[("RUSTDOCFLAGS", "-D warnings")])
}
