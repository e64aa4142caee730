use anyhow::Result;

use crate::args::PeelArgs;
use crate::exit::Exit;
use crate::follow_up::Asked;
use crate::measure::measure;
use crate::resolve;

/// `iotax peel [STACK]`
pub fn peel(args: &PeelArgs) -> Result<Exit> {
    let spec = resolve::peel(args)?;
    let asked = Asked::from(&args.measure.caps);
    measure("peel", spec, &args.measure.load, &args.measure.output, asked)
}
