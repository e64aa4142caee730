use anyhow::Result;

use super::{compare, run};
use crate::args::{CompareArgs, HostCommandArgs, MeasureArgs, NetArgs, RunArgs};
use crate::exit::Exit;

/// The path that is there on every machine.
const HERE: &str = "loopback";

/// `iotax net`: a run on one path, a comparison of several.
pub(crate) fn net(args: NetArgs) -> Result<Exit> {
    let NetArgs { paths, workload, trials, matrix, measure } = args;
    if paths.len() > 1 || !matrix.factors.is_empty() {
        let workload = Some(workload);
        return compare(&CompareArgs {
            arms: paths,
            workload,
            pair: Vec::new(),
            host: HostCommandArgs::default(),
            matrix,
            measure,
        });
    }
    let targets = if paths.is_empty() { vec![HERE.to_owned()] } else { paths };
    let MeasureArgs { gate, documented, load, output, .. } = measure;
    run(&RunArgs { workload, targets, trials, gate, documented, load, output })
}
