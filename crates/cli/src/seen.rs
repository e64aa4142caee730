//! The machine, as far as it lies under what is measured.

use std::path::Path;
use std::time::Duration;

use iotax_inspect::Look;
use iotax_record::{CloudInstance, Machine};
use iotax_spec::Target;

/// What lies under those targets that are paths, for the record; `None` if none is. The cloud is
/// not asked again.
pub fn under<'a>(
    targets: impl Iterator<Item = &'a Target>,
    instance: Option<&CloudInstance>,
) -> Option<Machine> {
    let paths: Vec<&Path> = targets
        .filter_map(|target| match target {
            Target::Path(path) => Some(path.as_path()),
            _ => None,
        })
        .collect();
    if paths.is_empty() {
        return None;
    }
    // A measurement has counters of its own, and should not wait for these.
    let look = Look { metadata: None, watch: Duration::ZERO, ..Look::default() };
    let machine = iotax_inspect::machine(&paths, &look);
    Some(Machine { cloud: instance.cloned(), ..machine })
}
