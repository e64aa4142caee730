//! What was saved is read, and never driven at.

use std::path::Path;

use iotax_experiment::{Base, Stack, Target};
use iotax_record::{Reader, SearchHead, record_around};

use crate::exit::{Result, usage};

/// Refuses targets, and the `scratch` directory of stacks that make files, that are or lie in results
/// of an earlier run. Those of other hosts are not known here.
///
/// # Errors
/// If one does.
pub(crate) fn refuse_targets<'a>(
    targets: impl IntoIterator<Item = &'a Target>,
    scratch: &Path,
) -> Result<()> {
    for target in targets {
        for path in target.named_paths() {
            refuse(&path)?;
        }
        if uses_scratch(target) {
            refuse(scratch)?;
        }
    }
    Ok(())
}

fn uses_scratch(target: &Target) -> bool {
    let mut base = target.stack().and_then(Stack::base);
    while let Some(Base::Disk(stack)) = base {
        base = stack.base();
    }
    matches!(base, Some(Base::File(file)) if file.path.is_none())
}

/// Refuses one path.
///
/// # Errors
/// If it is or lies in results of an earlier run.
pub(crate) fn refuse(path: &Path) -> Result<()> {
    let Some(dir) = record_around(path) else { return Ok(()) };
    let is_it = path.canonicalize().is_ok_and(|path| path == dir);
    let shown = path.display();
    let what = if is_it {
        format!("{shown} holds the results of an earlier iotax run")
    } else {
        format!(
            "{shown} lies in {}, which holds the results of an earlier iotax run",
            dir.display()
        )
    };
    let name = if is_it { shown.to_string() } else { dir.display().to_string() };
    let compared = if Reader::<SearchHead>::is_in(&dir) {
        String::new()
    } else {
        format!(", iotax compare {name} OTHER compares them with others")
    };
    Err(usage(format!("{what}: no load is driven there; iotax report {name} shows them{compared}")))
}
