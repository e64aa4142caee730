use anyhow::{Context as _, Result};
use iotax_record::{Error, Location, Reader, SearchHead};
use iotax_rig::Held;

use super::limits::report_search;
use crate::args::ReportArgs;
use crate::exit::{Exit, Usage};
use crate::{gate, output, recorded, results};

/// `iotax report DIR`, or results of other tools.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit> {
    let dir = match args.paths.as_slice() {
        [path] if path.is_dir() || !path.exists() => path,
        paths => {
            if let Some(dir) = paths.iter().find(|path| path.is_dir()) {
                let dir = dir.display();
                return Err(Usage(format!("{dir} is a directory: report it alone")).into());
            }
            return results::report(args);
        }
    };
    if let Some(out) = &args.out {
        return Err(Usage(format!(
            "the report of a record is written into it, not to {}: leave out --out",
            out.display()
        ))
        .into());
    }
    if !dir.exists() {
        return Err(Error::NotARecord { dir: dir.clone() }.into());
    }
    // What is written goes where it was read.
    let held = Held::existing(dir).with_context(|| dir.display().to_string())?;
    let dir = &Location::from(&held);
    if Reader::<SearchHead>::is_in(dir) {
        return report_search(dir, &args.gate, (args.format, args.color));
    }
    let mut reader = recorded::open(dir)?;
    gate::set(&mut reader.head.spec, &args.gate, args.format)?;
    let parts = recorded::parts(dir, &reader)?;
    output::show(dir, &reader.head.spec, &parts, args.gate.printing(args.format, args.color))?;
    Ok(gate::judged(Exit::Done, &parts, &args.gate, args.format))
}
