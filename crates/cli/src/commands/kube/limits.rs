use anyhow::Result;
use iotax_cluster::{Place, Volume, survey};
use iotax_diagnose::{VolumeInUse, choice_of};
use iotax_experiment::documented::named;
use iotax_experiment::{CloudChoice, Opened, OpenedTarget, Search, SearchTarget, parse_arms};

use crate::args::{GateArgs, KubeLimitsArgs};
use crate::commands::limits::{burst, refuse_small, search_at};
use crate::exit::Exit;
use crate::in_cluster::{InCluster, connect, usable_bytes};
use crate::session::Session;
use crate::{documented, gate, resolve};

/// Size of the file that is read, if there is room for it.
const USUAL_BYTES: u64 = 1 << 30;

/// `iotax kube limits`
pub(super) fn limits(args: &KubeLimitsArgs) -> Result<Exit> {
    let mut asked = InCluster::new(&args.cluster, &args.pods)?;
    let mut search = search(args, asked.options.size_bytes)?;
    let gate = GateArgs::from(&args.gate);
    gate::set_in_search(&mut search, &gate, args.output.format)?;
    refuse_small(&search)?;
    let mut spec = search.spec();
    asked.place(&mut spec, &args.pods)?;
    for (target, arm) in search.targets.iter_mut().zip(spec.arms) {
        target.arm = arm;
    }
    let session = Session::elsewhere("kube-limits", args.output.out.as_deref())?;
    search_at(search, &session, (&args.output, &gate), &mut |search, flags, making| {
        let (hosts, known, nodes) = asked.open_on_nodes(&search.spec(), flags, making)?;
        let targets = vec![OpenedTarget::default(); search.targets.len()];
        let mut seen = Opened { cloud: search.cloud.clone(), targets };
        complete(&mut seen.cloud, &asked, nodes);
        Ok((Box::new(hosts), known, seen))
    })
}

fn search(args: &KubeLimitsArgs, size_bytes: u64) -> Result<Search> {
    let of_class = |class: &String| {
        let node = args.node.as_ref().map_or_else(String::new, |node| format!("@{node}"));
        let one = |number| format!("{class}-{number}=class:{class}{node}");
        (1..=args.claims).map(one).collect()
    };
    let targets: Vec<String> = args.class.as_ref().map_or_else(|| args.targets.clone(), of_class);
    let arms = parse_arms(targets.iter().map(String::as_str))?;
    let cloud = documented::choice(&args.documented, arms.len())?;
    let span_bytes = USUAL_BYTES.min(usable_bytes(size_bytes));
    let target = |arm| SearchTarget { arm, span_bytes };
    Ok(Search {
        targets: arms.into_iter().map(target).collect(),
        writes: args.write,
        quick: args.search.quick,
        burst: burst(args.search.burst.as_deref(), &args.search.pauses)?,
        cloud,
        fail_if: Vec::new(),
        seed: resolve::seed(args.search.seed),
    })
}

/// Names the VM size and the kinds of disk, as far as the cluster tells them and the user did not.
fn complete(cloud: &mut CloudChoice, asked: &InCluster<'_>, nodes: Vec<Option<String>>) {
    if cloud.vm.is_some() && !cloud.disks.is_empty() {
        return;
    }
    let placed = |(place, node): (&Place, Option<String>)| {
        let class = match &place.volume {
            Volume::Class(name) | Volume::Block(name) | Volume::Ephemeral(name) => {
                Some(name.clone())
            }
            Volume::EmptyDir | Volume::Claim { .. } | Volume::HostPath(_) => None,
        };
        VolumeInUse { class, bytes: asked.options.size_bytes, node }
    };
    let placed: Vec<VolumeInUse> = asked.places.iter().zip(nodes).map(placed).collect();
    let seen =
        connect(asked.cluster).and_then(|cluster| Ok(survey(&cluster, Some(cluster.namespace()))?));
    // Only what stands beside the measurement depends on it.
    let told = match seen {
        Ok(seen) => choice_of(&seen, &placed),
        Err(error) => {
            eprintln!("note: it is not known what documents say of these volumes: {error}");
            return;
        }
    };
    let vm = cloud.vm.clone().or(told.vm);
    let disks = if cloud.disks.is_empty() { told.disks } else { cloud.disks.clone() };
    let with = |vm: Option<String>, disks: Vec<String>| CloudChoice { vm, disks, ..cloud.clone() };
    let choices = [
        with(vm.clone(), disks.clone()),
        with(vm, cloud.disks.clone()),
        with(cloud.vm.clone(), disks),
    ];
    if let Some(known) = choices.into_iter().find(|one| named(one, placed.len()).is_ok()) {
        *cloud = known;
    }
}
