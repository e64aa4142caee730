//! What targets are said to be, checked against the catalog before anything is measured.

use anyhow::Result;
use iotax_analyze::documented;
use iotax_catalog::Caching;
use iotax_spec::{CloudChoice, Spec};

use crate::args::DocumentedArgs;
use crate::exit::Usage;

/// What was said of so many targets.
///
/// # Errors
/// For a caching mode that is none, disks that are neither one for all targets nor one for each, and
/// what the catalog does not know.
pub fn choice(args: &DocumentedArgs, targets: usize) -> Result<CloudChoice> {
    if let Some(mode) = args.caching.as_deref().filter(|mode| Caching::parse(mode).is_none()) {
        let problem = format!("--caching {mode}: write none, readonly or readwrite");
        return Err(Usage(problem).into());
    }
    let disks = args.disk.len();
    if disks > 1 && disks != targets {
        return Err(Usage(format!(
            "--disk was given {disks} times for {targets} targets: give it once for all of them, \
             or once for each, in their order"
        ))
        .into());
    }
    let choice = CloudChoice {
        vm: args.vm.clone(),
        variant: args.variant.clone(),
        caching: args.caching.clone(),
        disks: args.disk.clone(),
    };
    documented::named(&choice, targets).map_err(|error| Usage(error.to_string()))?;
    Ok(choice)
}

/// The experiment with what was said of its arms.
///
/// # Errors
/// As [`choice`].
pub fn with(mut spec: Spec, args: &DocumentedArgs) -> Result<Spec> {
    spec.cloud = choice(args, spec.arms.len())?;
    Ok(spec)
}
