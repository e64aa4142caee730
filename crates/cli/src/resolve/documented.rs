//! The VM and disks that the user names, checked against the catalog before anything is measured.

use std::path::Path;

use iotax_catalog::Caching;
use iotax_experiment::documented::named;
use iotax_experiment::{CloudChoice, file};

use crate::args::DocumentedArgs;
use crate::exit::{Context as _, Result, usage};

/// The VM and disks that the options name.
///
/// # Errors
/// If a caching mode is unknown, if disks are neither one for all targets nor one for each, or if
/// the catalog does not know a name.
pub(crate) fn choice(args: &DocumentedArgs, targets: usize) -> Result<CloudChoice> {
    beside_file(CloudChoice::default(), args, targets).map_err(|refused| usage(refused.problem))
}

/// Like [`choice`], with facts that only the user knows; options take precedence.
///
/// # Errors
/// As [`choice`], and if a fact cannot be read.
pub(crate) fn choice_with_facts(
    facts: &[String],
    args: &DocumentedArgs,
    targets: usize,
) -> Result<CloudChoice> {
    beside_file(told(facts, targets)?, args, targets).map_err(|refused| usage(refused.problem))
}

/// `of` with facts that only the user knows, which take precedence.
///
/// # Errors
/// If a fact cannot be read, or the catalog does not know a name.
pub(crate) fn with_facts(of: CloudChoice, facts: &[String], targets: usize) -> Result<CloudChoice> {
    if facts.is_empty() {
        return Ok(of);
    }
    let told = told(facts, targets)?;
    let is_told = !told.disks.is_empty();
    let choice = CloudChoice {
        variant: of.variant.filter(|_| told.vm.is_none()),
        vm: told.vm.or(of.vm),
        caching: told.caching.or(of.caching),
        disks: if is_told { told.disks } else { of.disks },
        roles: of.roles,
        encryption_at_host: told.encryption_at_host.or(of.encryption_at_host),
    };
    named(&choice, targets).map_err(|error| usage(error.to_string()))?;
    Ok(choice)
}

/// Reads facts, with the same checks as for options.
fn told(facts: &[String], targets: usize) -> Result<CloudChoice> {
    let mut told = CloudChoice::default();
    facts.iter().try_for_each(|fact| told.tell(fact)).context("option --fact")?;
    if let Some(mode) = told.caching.as_deref().filter(|mode| Caching::parse(mode).is_none()) {
        let problem = format!("--fact caching={mode}: use none, readonly or readwrite");
        return Err(usage(problem));
    }
    let disks = told.disks.len();
    if disks > 1 && disks != targets {
        return Err(usage(format!(
            "--fact disk is given {disks} times; give it once for all targets, or once for each \
             target in order"
        )));
    }
    Ok(told)
}

/// A choice that makes no sense.
pub(crate) struct Refused {
    problem: String,
    /// The key of the experiment file that is at fault; `None` for an option.
    key: Option<&'static [&'static str]>,
}

impl Refused {
    fn option(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), key: None }
    }

    /// The error, with the line of the file if the file is at fault.
    pub(crate) fn placed(self, path: &Path, text: &str) -> crate::exit::Failure {
        match self.key {
            None => usage(self.problem),
            Some(key) => {
                file::refused_key(&path.display().to_string(), text, key, &self.problem).into()
            }
        }
    }
}

/// The VM and disks of an experiment file and of the options, which take precedence.
///
/// # Errors
/// As [`choice`].
pub(crate) fn beside_file(
    written: CloudChoice,
    args: &DocumentedArgs,
    targets: usize,
) -> Result<CloudChoice, Refused> {
    if let Some(mode) = args.caching.as_deref().filter(|mode| Caching::parse(mode).is_none()) {
        let problem = format!("--caching {mode}: use none, readonly or readwrite");
        return Err(Refused::option(problem));
    }
    // Without --vm, the metadata service may name the VM, and nothing else would check this.
    let is_variant = |name: &&str| ["scsi", "nvme"].contains(name);
    if let Some(name) =
        args.variant.as_deref().filter(|name| args.vm.is_none() && !is_variant(name))
    {
        return Err(Refused::option(format!("--variant {name}: use scsi or nvme")));
    }
    let disks = args.disk.len();
    if disks > 1 && disks != targets {
        return Err(Refused::option(format!(
            "--disk is given {disks} times for {targets} targets; give it once for all targets, or \
             once for each target in order"
        )));
    }
    let choice = CloudChoice {
        vm: args.vm.clone().or(written.vm),
        variant: args.variant.clone().or(written.variant),
        caching: args.caching.clone().or(written.caching),
        disks: if args.disk.is_empty() { written.disks } else { args.disk.clone() },
        roles: written.roles,
        encryption_at_host: written.encryption_at_host,
    };
    match named(&choice, targets) {
        Ok(_) => Ok(choice),
        Err(error) => {
            Err(Refused { problem: error.to_string(), key: blame(&choice, args, targets) })
        }
    }
}

/// The key of the file that is at fault, alone or together with others; `None` if an option
/// overrides it.
fn blame(
    choice: &CloudChoice,
    args: &DocumentedArgs,
    targets: usize,
) -> Option<&'static [&'static str]> {
    let is_bad = |part: CloudChoice| named(&part, targets).is_err();
    let vm = CloudChoice { vm: choice.vm.clone(), ..CloudChoice::default() };
    let disk = CloudChoice { disks: choice.disks.clone(), ..CloudChoice::default() };
    let variant = CloudChoice { disks: Vec::new(), ..choice.clone() };
    if is_bad(vm) {
        args.vm.is_none().then_some(&["documented", "vm"])
    } else if is_bad(disk) {
        args.disk.is_empty().then_some(&["documented", "disk"])
    } else if is_bad(variant) {
        args.variant.is_none().then_some(&["documented", "variant"])
    } else {
        // Each is possible, but not the combination.
        (args.vm.is_none() || args.disk.is_empty()).then_some(&["documented"])
    }
}
