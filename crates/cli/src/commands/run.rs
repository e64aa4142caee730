use anyhow::Result;

use crate::args::RunArgs;
use crate::exit::Exit;
use crate::measure::measure;
use crate::resolve;

/// `iotax run WORKLOAD TARGET`
pub(crate) fn run(args: &RunArgs) -> Result<Exit> {
    let resolved = resolve::run(args)?;
    let RunArgs { documented, load, output, gate, .. } = args;
    measure("run", resolved, (load, output, gate), documented)
}
