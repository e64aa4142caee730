use iotax_cluster::{FleetNode, Toleration, nodes};
use iotax_experiment::{Design, Draft};

use crate::args::{ClusterArgs, CompareArgs, KubeFleetArgs};
use crate::commands::measure::measured;
use crate::exit::{Exit, Result, usage};
use crate::in_cluster::{InCluster, connect, refuse_elsewhere};
use crate::resolve;
use crate::run::Backend;

/// From this number of nodes on, they are judged as a population, in stages: all nodes in the first
/// rounds, then only those that may be slow.
const POPULATION: usize = 20;
const ROUNDS: (u32, u32) = (4, 16);

/// `iotax kube fleet`
pub(super) fn fleet(args: KubeFleetArgs) -> Result<Exit> {
    let KubeFleetArgs { nodes, disk, at_once, workload, cluster, pods, mut measure } = args;
    refuse_elsewhere(&measure.load)?;
    let mut volumes = InCluster::new(&cluster, &pods)?;
    let names = names(&nodes, &cluster, &volumes.options.tolerations)?;
    // The search for the slow node does not need to know caps.
    measure.caps.no_depth_check |= !measure.caps.below_cap;
    let target = disk.target();
    let arms = names.iter().map(|name| format!("{name}={target}@{name}")).collect();
    let compare = CompareArgs::of(arms, workload, measure);
    let asks_for_rounds = compare.measure.certainty.max_blocks.is_some();
    let resolved = resolve::compare_placed(&compare, |spec| {
        let spec = Draft { at_once, ..as_fleet(spec, asks_for_rounds) };
        volumes.place(spec, &pods)
    })?;
    measured(&resolved, &Backend::Volumes(&volumes), &compare.measure.asked("kube-fleet"))
}

fn as_fleet(spec: Draft, asks_for_rounds: bool) -> Draft {
    let mut stop = spec.stop;
    if spec.arms.len() >= POPULATION {
        let asked = stop.max_blocks;
        (stop.min_blocks, stop.max_blocks) = if asks_for_rounds { (asked, asked) } else { ROUNDS };
    }
    Draft { design: Design::Fleet, stop, ..spec }
}

/// The selected nodes, at least two.
fn names(text: &str, cluster: &ClusterArgs, tolerations: &[Toleration]) -> Result<Vec<String>> {
    let names = if text == "all" || text.contains('=') {
        let cluster = connect(cluster)?;
        let selector = (text != "all").then_some(text);
        let seen = nodes(&cluster, selector, tolerations)?;
        let (names, left_out) = divided(seen);
        for told in &left_out {
            eprintln!("note: {told}");
        }
        names
    } else {
        by_name(text)?
    };
    if let [] | [_] = names.as_slice() {
        let found = names.first().map_or("none", String::as_str);
        return Err(usage(format!(
            "--nodes {text}: a comparison needs at least two nodes that accept pods; selected: \
             {found}"
        )));
    }
    Ok(names)
}

fn by_name(text: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in text.split(',') {
        if names.iter().any(|known| known == name) {
            return Err(usage(format!("--nodes {text}: {name} is given twice")));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Nodes that accept pods, and a note on each of the others.
fn divided(seen: Vec<FleetNode>) -> (Vec<String>, Vec<String>) {
    let (mut names, mut told) = (Vec::new(), Vec::new());
    for FleetNode { name, refuses } in seen {
        match refuses {
            None => names.push(name),
            Some(why) => told.push(format!("leaving out node {name}: {why}")),
        }
    }
    (names, told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_named_once_and_those_left_out_are_told() {
        assert_eq!(by_name("n1,n2").unwrap(), ["n1", "n2"]);
        insta::assert_snapshot!(by_name("n1,n2,n1").unwrap_err(), @"--nodes n1,n2,n1: n1 is given twice");
        let seen = |name: &str, refuses: Option<&str>| FleetNode {
            name: name.to_owned(),
            refuses: refuses.map(str::to_owned),
        };
        let (names, told) = divided(vec![seen("n1", None), seen("n2", Some("it is cordoned"))]);
        assert_eq!(names, ["n1"]);
        assert_eq!(told, ["leaving out node n2: it is cordoned"]);
    }
}
