use anyhow::Result;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::measure::measure;
use crate::resolve;

/// `iotax run WORKLOAD TARGET`
pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let spec = resolve::run(args)?;
    measure("run", spec, (&args.load, &args.output, &args.gate), None)
}
