//! What a recording was imported from.

use iotax_experiment::FioLogs;
use iotax_quantity::grouped;
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
            "Lines of the log that cannot be used are left out (number: {}; the first: {first})",
            grouped(*skipped)
        ))
    }
}
