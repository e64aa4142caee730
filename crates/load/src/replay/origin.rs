//! What a recording was imported from.

use iotax_experiment::FioLogs;
use iotax_quantity::count;
use iotax_trace::import::Imported;

/// Logs of a job of fio, and what the importer found in them.
pub(super) struct Origin {
    pub logs: FioLogs,
    pub imported: Imported,
}

impl Origin {
    /// For people, if not all of the logs is replayed.
    pub(super) fn note(&self) -> Option<String> {
        let Imported { skipped, examples, .. } = &self.imported;
        let first = examples.first().filter(|_| *skipped > 0)?;
        Some(format!(
            "{} of the log cannot be used and are left out; the first: {first}",
            count(*skipped, "line")
        ))
    }
}
