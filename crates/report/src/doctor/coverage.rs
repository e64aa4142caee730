//! Which layers there are rules for, in words.

use iotax_diagnose::LayerCoverage;
use iotax_quantity::{count, list};
use iotax_record::Machine;

/// Layers that a sentence names.
const MOST: usize = 6;

/// What "nothing was found" is about.
pub(super) fn nothing_found(machine: &Machine, coverage: &[LayerCoverage]) -> String {
    if !machine.paths.iter().any(|path| path.top.is_some()) {
        return if machine.paths.is_empty() {
            "It is not recorded what lay under the targets.".to_owned()
        } else {
            "Nothing could be looked at.".to_owned()
        };
    }
    let mut checked: Vec<&str> =
        coverage.iter().filter(|one| one.has_rules).map(|one| one.layer.as_str()).collect();
    if checked.is_empty() {
        return if coverage.is_empty() {
            "None of the known causes was found.".to_owned()
        } else {
            "iotax checked nothing: it has no rules for these layers.".to_owned()
        };
    }
    let more = checked.len().saturating_sub(MOST);
    checked.truncate(MOST);
    let more = (more > 0).then(|| count(more as u64, "more layer"));
    checked.extend(more.as_deref());
    format!("None of the known causes was found in {}.", list(&checked))
}

/// Layers without rules, and facts that rules lacked.
pub(super) fn not_checked(coverage: &[LayerCoverage]) -> Vec<String> {
    let lines = |one: &LayerCoverage| {
        let none =
            (!one.has_rules).then(|| format!("{}: iotax has no rules for {}", one.layer, one.kind));
        let missing = one.missing.iter().map(|fact| format!("{}: {fact}", one.layer));
        none.into_iter().chain(missing).collect::<Vec<_>>()
    };
    coverage.iter().flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use iotax_record::machine::PathSeen;

    use super::*;

    fn layer(name: &str, has_rules: bool, missing: &[&str]) -> LayerCoverage {
        LayerCoverage {
            layer: format!("/mnt ({name})"),
            kind: name.to_owned(),
            has_rules,
            missing: missing.iter().map(|&fact| fact.to_owned()).collect(),
        }
    }

    #[test]
    fn nothing_is_only_said_of_layers_with_rules() {
        let path = PathSeen { top: Some(0), ..PathSeen::default() };
        let machine = Machine { paths: vec![path], ..Machine::default() };
        let said = |coverage: &[LayerCoverage]| nothing_found(&machine, coverage);
        insta::assert_snapshot!(said(&[layer("ext4", true, &[]), layer("gfs2", false, &[])]), @"None of the known causes was found in /mnt (ext4).");
        insta::assert_snapshot!(said(&[layer("gfs2", false, &[])]), @"iotax checked nothing: it has no rules for these layers.");
        let many = [(); 9].map(|()| layer("ext4", true, &[]));
        assert!(said(&many).ends_with("and 3 more layers."), "{}", said(&many));
        assert_eq!(
            nothing_found(&Machine::default(), &[]),
            "It is not recorded what lay under the targets."
        );
        let lines = not_checked(&[layer("gfs2", false, &[]), layer("zfs", true, &["its vdevs"])]);
        assert_eq!(lines, ["/mnt (gfs2): iotax has no rules for gfs2", "/mnt (zfs): its vdevs"]);
    }
}
