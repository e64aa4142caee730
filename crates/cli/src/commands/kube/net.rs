use std::sync::Arc;

use iotax_cluster::{Cluster, Ends, NetPath, PodOptions, host_network_refused};
use iotax_experiment::{Arm, Draft, Driver, Engine, Spec};

use crate::args::{CompareArgs, KubeNetArgs, MeasureArgs, RunArgs};
use crate::commands::measure::measured;
use crate::exit::{Context as _, Exit, Result, failed, usage};
use crate::in_cluster::{NetInCluster, connect, options, refuse_elsewhere};
use crate::resolve::{self, Resolved};
use crate::run::Backend;

/// `iotax kube net`
pub(super) fn net(args: KubeNetArgs) -> Result<Exit> {
    let KubeNetArgs { from, to, across_zones, paths, port, workload, cluster, pods, measure } =
        args;
    refuse_elsewhere(&measure.load)?;
    let options = options(&pods)?;
    let asked = asked(&paths)?;
    let cluster = connect(&cluster)?;
    let paths = possible(asked, !paths.is_empty(), &cluster, &options)?;
    let resolved = resolved(&paths, workload, &measure)?;
    refuse_ports_of_their_own(resolved.spec(), &paths)?;
    let ends = Ends { from, to, are_across_zones: across_zones };
    let asked = NetInCluster { cluster: Arc::new(cluster), options, paths, ends, port };
    measured(&resolved, &Backend::Paths(&asked), &measure.asked("kube-net"))
}

/// The named paths, once each and in the usual order; without names, all.
fn asked(texts: &[String]) -> Result<Vec<NetPath>> {
    let named: Vec<NetPath> = texts
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, _>>()
        .context("option --paths")?;
    let is_asked = |path: &NetPath| named.is_empty() || named.contains(path);
    Ok(NetPath::ALL.into_iter().filter(is_asked).collect())
}

/// Leaves out the path on the host network if the namespace forbids it and the user does not name
/// it.
fn possible(
    mut paths: Vec<NetPath>,
    are_named: bool,
    cluster: &Cluster,
    options: &PodOptions,
) -> Result<Vec<NetPath>> {
    if !paths.contains(&NetPath::Node) {
        return Ok(paths);
    }
    let refused = host_network_refused(cluster, options)?;
    let Some(why) = refused else { return Ok(paths) };
    let namespace = cluster.namespace();
    let told = format!("namespace {namespace} does not allow pods on the host network: {why}");
    if are_named {
        return Err(failed(format!(
            "{told}\nleave `node` out of --paths, or choose a namespace that allows such pods"
        )));
    }
    eprintln!("note: leaving out the path `node`, so `pod` is the baseline: {told}");
    paths.retain(|path| *path != NetPath::Node);
    Ok(paths)
}

/// Resolves a comparison, or a run for one path. The addresses are known when the pods exist.
fn resolved(paths: &[NetPath], workload: String, measure: &MeasureArgs) -> Result<Resolved> {
    let target = |path: &NetPath| format!("tcp://{path}:{}", iotax_cluster::PORT);
    if let [path] = paths {
        let trials = measure.certainty.max_blocks;
        let run = RunArgs::of(vec![target(path)], workload, trials, measure.clone());
        let called = |arm: Arm| Arm { name: path.name().to_owned(), ..arm };
        return resolve::run(&run, |spec| {
            Ok(Draft { arms: spec.arms.into_iter().map(called).collect(), ..spec })
        });
    }
    let arms = paths.iter().map(|path| format!("{path}={}", target(path))).collect();
    resolve::compare_placed(&CompareArgs::of(arms, workload, measure.clone()), Ok)
}

/// Refuses workloads that need a second port, which a Service does not have, and others that cannot
/// run.
fn refuse_ports_of_their_own(spec: &Spec, paths: &[NetPath]) -> Result<()> {
    let through = paths.iter().any(|path| path.is_through_service());
    let connects =
        |engine| spec.phases().any(|one| one.jobs.iter().any(|job| job.engine == engine));
    if through && connects(Engine::TcpConnect) {
        return Err(usage(
            "tcp-connect needs a second port, which a Service does not have; leave out service and \
             dns, as in --paths node,pod,same-node",
        ));
    }
    if spec.arms.iter().any(|arm| arm.driver == Driver::Iperf3) {
        return Err(usage("the image does not contain iperf3; leave out --engine"));
    }
    if let Some(other) = spec.phases().find(|workload| !workload.is_network()) {
        return Err(usage(format!(
            "{} is not a network workload; choose one, such as network-baseline, tcp-rr, \
             tcp-stream or udp-stream",
            other.name
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_measured_once_and_from_the_least_in_the_way() {
        let asked = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            asked(&texts)
        };
        assert_eq!(asked(&[]).unwrap(), NetPath::ALL);
        assert_eq!(asked(&["dns", "pod", "dns"]).unwrap(), [NetPath::Pod, NetPath::Dns]);
        let refused = format!("{:#}", asked(&["ingress"]).unwrap_err());
        assert!(
            refused.starts_with("option --paths: `ingress` is not a cluster path"),
            "{refused}"
        );
    }
}
