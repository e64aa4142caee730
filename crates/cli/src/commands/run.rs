use anyhow::Result;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::measure::measure;
use crate::resolve;

/// `iotax run WORKLOAD TARGET`
pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let resolved = resolve::run(args)?;
    measure("run", resolved, (&args.load, &args.output, &args.gate), None)
}
