use anyhow::Result;

use crate::args::CompareArgs;
use crate::exit::Exit;
use crate::measure::measure;
use crate::resolve;

/// `iotax compare`
pub fn compare(args: &CompareArgs) -> Result<Exit> {
    let spec = resolve::compare(args)?;
    measure("compare", spec, &args.measure.load, &args.measure.output)
}
