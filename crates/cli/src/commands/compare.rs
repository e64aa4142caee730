use anyhow::Result;

use crate::args::{CompareArgs, MeasureArgs};
use crate::exit::Exit;
use crate::measure::measure;
use crate::{resolve, results};

/// `iotax compare`
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit> {
    if let Some(arms) = results::arms(args)? {
        return results::compare(arms, args);
    }
    let resolved = resolve::compare(args)?;
    let MeasureArgs { documented, load, output, gate, .. } = &args.measure;
    measure("compare", resolved, (load, output, gate), documented)
}
