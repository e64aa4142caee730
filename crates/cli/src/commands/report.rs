use anyhow::{Context as _, Result};
use iotax_analyze::Analyzer;
use iotax_record::Reader;

use crate::args::ReportArgs;
use crate::exit::Exit;
use crate::output;

/// `iotax report DIR`
pub fn report(args: &ReportArgs) -> Result<Exit> {
    let reader = Reader::open(&args.dir)?;
    let stop = &reader.experiment.spec.stop;
    stop.validate().with_context(|| format!("the record in {}", args.dir.display()))?;
    let mut analyzer = Analyzer::new(&reader.experiment);
    for trial in reader.trials()? {
        analyzer.add(&trial?);
    }
    let analysis = analyzer.finish(reader.end.as_ref());
    output::show(&args.dir, &reader.experiment, &analysis, args.format, args.color)?;
    Ok(Exit::Done)
}
