use anyhow::Result;

use crate::args::{MeasureArgs, PeelArgs};
use crate::exit::Exit;
use crate::measure::measure;
use crate::resolve;

/// `iotax peel [STACK]`
pub(crate) fn peel(args: &PeelArgs) -> Result<Exit> {
    let spec = resolve::peel(args)?;
    let MeasureArgs { documented, load, output, gate, .. } = &args.measure;
    measure("peel", spec, (load, output, gate), Some(documented))
}
