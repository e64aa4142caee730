//! The machine, as far as it lies under what is measured.

use std::path::Path;
use std::time::Duration;

use iotax_inspect::Look;
use iotax_record::{CloudInstance, Environment, Machine};
use iotax_spec::Target;

/// What lies under those targets that are paths, for the record; `None` if none is. The cloud is
/// not asked again, and neither is the machine about its `environment`.
pub fn under<'a>(
    targets: impl Iterator<Item = &'a Target>,
    instance: Option<&CloudInstance>,
    environment: &Environment,
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
    let environment = Some(environment.clone());
    // A measurement has counters of its own, and should not wait for these.
    let look = Look { metadata: None, watch: Duration::ZERO, environment, ..Look::default() };
    let machine = iotax_inspect::machine(&paths, &look);
    Some(Machine { cloud: instance.cloned(), ..machine })
}
