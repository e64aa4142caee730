use iotax_experiment::IndexLoads;

use super::row::{PLAIN, Role, Row, Trait};

/// Mean time to load an index.
pub(super) const LOAD_TIME: Row = Row {
    id: "load_time",
    name: "index load time",
    compares: |workload| workload.index.is_some(),
    of: |trial| {
        let (_, mean_ns) = trial.beside.iter().find(|(name, _)| name == IndexLoads::LOAD)?;
        Some(*mean_ns)
    },
    role: Role::NeedsWord,
    traits: &[Trait::MayChange],
    ..PLAIN
};
