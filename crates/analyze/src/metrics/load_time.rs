use super::row::{PLAIN, Role, Row, Trait};

/// Mean time to load an index.
pub(super) const LOAD_TIME: Row = Row {
    id: "load_time",
    name: "index load time",
    compares: |workload| workload.index.is_some(),
    of: |trial| Some(trial.index.as_ref().filter(|index| index.loads > 0)?.mean_load_ns),
    role: Role::NeedsWord,
    traits: &[Trait::MayChange],
    ..PLAIN
};
