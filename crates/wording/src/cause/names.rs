use iotax_diagnose::Component;
use iotax_quantity::list;

/// `a, b and c`.
pub(super) fn listed(names: &[String]) -> String {
    list(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Names of components: `a, b and c`.
pub(super) fn names(about: &[Component]) -> String {
    list(&about.iter().map(|one| one.name.as_str()).collect::<Vec<_>>())
}
