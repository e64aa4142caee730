//! What keeps a plan from being run on this machine, now: in the words in which a run would refuse
//! it. A plan may be for another machine, or for later, so it is said and not an error.

use iotax_rig::GivenUp;
use iotax_run::Drivers;

use crate::args::LoadArgs;
use crate::exit::Failure;
use crate::output::wrap;
use crate::resolve::Resolved;
use crate::session::Destination;

/// Each reason that a run would give; empty if it would start. Looks, and makes nothing.
pub(super) fn lacks(
    resolved: &Resolved,
    load: &LoadArgs,
    destination: &Destination,
) -> Vec<String> {
    let spec = resolved.spec();
    let place = destination.refuse_unusable().err().map(|error| error.to_string());
    let driver = Drivers::find(spec).err().map(|error| error.to_string());
    let targets =
        iotax_rig::refuse(spec, &load.dir, &GivenUp::by_user(&load.destroy)).map_err(Failure::from);
    let targets = resolved.advised(targets).err();
    let targets = targets.map(|error| error.to_string());
    place.into_iter().chain(driver).chain(targets).collect()
}

/// The reasons under a title; nothing if there are none.
pub(super) fn text(lacks: &[String]) -> String {
    if lacks.is_empty() {
        return String::new();
    }
    let mut out = "\nRun here and now it would be refused\n".to_owned();
    for line in lacks.iter().flat_map(|reason| reason.lines()) {
        let indent = if line.starts_with(' ') { "    " } else { "  " };
        wrap(&mut out, line.trim_start(), indent, "    ");
    }
    out
}
