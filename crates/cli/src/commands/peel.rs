use anyhow::Result;

use crate::args::{MeasureArgs, PeelArgs};
use crate::exit::Exit;
use crate::measure::measure;
use crate::resolve;

/// `iotax peel [STACK]`
pub(crate) fn peel(args: &PeelArgs) -> Result<Exit> {
    let resolved = resolve::peel(args)?;
    let MeasureArgs { documented, load, output, gate, .. } = &args.measure;
    measure("peel", resolved, (load, output, gate), documented)
}
