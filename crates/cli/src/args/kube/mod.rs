//! The words of `iotax kube`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, value_parser};

use super::measure::{
    CAP_RULES, Color, CompareArgs, DocumentedArgs, GateArgs, Listing, MeasureArgs, OutputArgs,
    RunArgs, SearchArgs,
};

/// `iotax kube`
#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Compare storage classes: a pod with a volume for each arm
    Compare(Box<KubeCompareArgs>),
    /// Find the slow one among nodes: the same volume on each of them
    Fleet(Box<KubeFleetArgs>),
    /// Run one workload on one volume
    Run(Box<KubeRunArgs>),
    /// Compare network paths: node to node, pod to pod, pod to Service
    Net(Box<KubeNetArgs>),
    /// What lies under claims, and what of it is known to hurt
    Doctor(Box<KubeDoctorArgs>),
    /// Find the caps of volumes in pods, and what documents say of them
    Limits(Box<KubeLimitsArgs>),
    /// Write the image that pods run, for clusters without a way to a registry
    Image(KubeImageArgs),
    /// Print an account with no more rights than a run needs, and a job, as YAML
    Manifest(KubeManifestArgs),
}

/// Which cluster, and where in it.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// Context of the configuration in KUBECONFIG or ~/.kube/config [default: its
    /// current one; without a configuration, the cluster that this runs in]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub context: Option<String>,
    /// Namespace for everything that is made [default: the context's]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub namespace: Option<String>,
}

/// `iotax kube image`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube image --save iotax.tar
      then, on each node: ctr --namespace k8s.io images import iotax.tar
  iotax kube image --save iotax.tar --program iotax-0.1.0-linux-arm64
      for clusters with nodes of both kinds; nodes take what they can run")]
pub(crate) struct KubeImageArgs {
    /// File to write: an archive of an OCI image layout
    #[arg(long, value_name = "FILE")]
    pub save: PathBuf,
    /// Program of a release for another kind of machine; repeat for several
    #[arg(long, value_name = "FILE")]
    pub program: Vec<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax kube manifest`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube manifest --namespace bench | kubectl apply -f -
      an account, for which kubectl can make a token
  iotax kube manifest --namespace bench -- compare -w randread-4k \\
      a=class:fast b=class:slow | kubectl apply -f -
      and a job that compares, from inside of the cluster; what it finds:
      kubectl --namespace bench logs --follow job/iotax")]
pub(crate) struct KubeManifestArgs {
    /// Namespace that the rights are for
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Print a role for looking at all of a cluster instead, for the same account
    #[arg(long, conflicts_with = "words")]
    pub cluster_reader: bool,
    /// Image with this version of iotax
    #[arg(long, value_name = "IMAGE", default_value = concat!("iotax:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Secret to pull the image with; repeat for several
    #[arg(long, value_name = "NAME")]
    pub pull_secret: Vec<String>,
    /// Claim for the results of the job [default: none; then what it prints is all]
    #[arg(long, value_name = "CLAIM")]
    pub results: Option<String>,
    /// Command that a job runs, with its options, as in `compare -w randread-4k a=class:x b=class:y`
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
}

/// `iotax kube run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube run randread-4k class:fast
  iotax kube run driver-searcher --class fast --size 20G --scale 0.05
      two containers of one pod on one volume: a driver that downloads and
      publishes, a searcher that maps, loads and answers
  iotax kube run driver-searcher --class fast --scale 0.05 --containers one
      the same in one container, for contrast
  iotax kube run driver-searcher --class fast --scale 0.05 --cpu 2 \\
      --driver-cpu 500m --driver-memory 256M")]
#[command(mut_arg("targets", |arg| arg.required(false).help(
    "class:CLASS (a new volume of that storage class), block:CLASS (one without a file system), \
     ephemeral:CLASS (one that lives as long as its pod), emptydir, pvc:CLAIM (a claim that is \
     there) or hostpath:/PATH@NODE; with @NODE, it is used from that node"
)))]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeRunArgs {
    /// Storage class, for a target class:CLASS
    #[arg(long, value_name = "CLASS", help_heading = "Kubernetes", conflicts_with = "targets")]
    pub class: Option<String>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub run: RunArgs,
}

/// `iotax kube compare`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube compare -w randread-4k fast=class:fast slow=class:slow
  iotax kube compare etcd-wal --namespace bench --size 20G \\
      disk=class:managed-premium node=emptydir
  iotax kube compare -w randread-4k raw=block:fast ext4=class:fast
  iotax kube compare -w randread-4k mine=pvc:data new=class:fast \\
      --write-to pvc:data
  iotax kube compare -w randread-4k --matrix class=fast,slow 'class:{class}'
  iotax kube compare -w randread-4k a=class:fast@node-1 b=class:fast@node-2

Everything is made in one namespace, under one lease that is renewed while the
run lives, and removed with it; after a kill -9, iotax undo --cluster does it.
Claims of others are never touched, unless --write-to names them.")]
#[command(mut_arg("arms", |arg| arg.help(
    "NAME=TARGET for each arm: class:CLASS (a new volume of that storage class), block:CLASS (one \
     without a file system), ephemeral:CLASS (one that lives as long as its pod), emptydir, \
     pvc:CLAIM (a claim that is there) or hostpath:/PATH@NODE; with @NODE, each is used from that \
     node; or one experiment file (.toml)"
)))]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeCompareArgs {
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub compare: CompareArgs,
}

/// Options of saved results, of this machine, of other hosts: nothing of that is in a cluster.
fn is_elsewhere(option: &str) -> bool {
    ["pair", "agent", "dir", "destroy", "before", "after"].contains(&option)
}

/// `iotax kube limits`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube limits --class fast --size 100G
      IOPS cap, bandwidth cap, useful depth of a new volume of that size; beside
      them what is documented of its kind and of the VM size of its node
  iotax kube limits --class fast --claims 2
      also: one bucket for both, or two
  iotax kube limits --class gp2 --size 100G --burst=40m
      load it until its burst has run out
  iotax kube limits fast=class:fast@node-1 raw=block:fast@node-1

Volumes are made, read, and deleted; nothing else is written, and nothing of
others is touched. A volume has to be as large as those in use: many disks of
clouds are as fast as they are large.")]
#[command(mut_arg("fail_if", |arg| arg.long_help(CAP_RULES)))]
#[command(mut_args(|arg| {
    // Of this machine; of workloads that publish an index.
    let is_elsewhere = ["no_metadata", "containers", "driver_cpu", "driver_memory"].contains(&arg.get_id().as_str());
    let is_hidden = is_elsewhere || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeLimitsArgs {
    /// class:CLASS, block:CLASS, ephemeral:CLASS, emptydir, or with --write-to pvc:CLAIM and
    /// `hostpath:/PATH@NODE`; each also @NODE, with or without NAME= before it
    #[arg(value_name = "TARGET", required_unless_present = "class", conflicts_with = "class")]
    pub targets: Vec<String>,
    /// Storage class of new volumes
    #[arg(long, value_name = "CLASS", help_heading = "Kubernetes")]
    pub class: Option<String>,
    /// How many volumes of it, all in use at once when it is asked what they share
    #[arg(long, value_name = "N", requires = "class", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=16), help_heading = "Kubernetes")]
    pub claims: u8,
    /// Node that they are used from
    #[arg(long, value_name = "NODE", requires = "class", help_heading = "Kubernetes")]
    pub node: Option<String>,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub documented: DocumentedArgs,
    /// Write instead of reading
    #[arg(long, help_heading = "Search")]
    pub write: bool,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Paths have none.
const OF_VOLUMES: [&str; 7] =
    ["size", "containers", "driver_cpu", "driver_memory", "write_to", "drain", "precondition"];

/// `iotax kube net`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube net --namespace bench
      all paths between two nodes that the cluster chooses
  iotax kube net --from node-1 --to node-2 --paths node,pod -w tcp-stream
  iotax kube net --across-zones -w constellation-network --max-blocks 3
  iotax kube net --paths pod,service,dns -w tcp-rr --fail-if 'slower by 10%'

Paths, of which the first that is measured is the baseline:
  node       from node to node, by pods on the hosts' network
  pod        from pod to pod on the other node
  same-node  from pod to pod on the near end's node
  service    from pod to a Service (ClusterIP) whose pod is on the other node
  dns        the same by the Service's name, which is looked up once each turn

Pod Security `baseline` and `restricted` forbid pods on the hosts' network. iotax
then leaves out `node` and says so, and `pod` is the baseline.")]
#[command(mut_args(|arg| {
    let id = arg.get_id().as_str();
    let is_hidden = OF_VOLUMES.contains(&id) || is_elsewhere(id) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeNetArgs {
    /// Node of the near end, which drives the load [default: the cluster's choice]
    #[arg(long, value_name = "NODE", help_heading = "Paths")]
    pub from: Option<String>,
    /// Node of the far end [default: the cluster's choice, another than the near end's]
    #[arg(long, value_name = "NODE", help_heading = "Paths")]
    pub to: Option<String>,
    /// Have the two nodes in different zones
    #[arg(long, help_heading = "Paths")]
    pub across_zones: bool,
    /// Paths to measure, with commas between: node, pod, same-node, service, dns
    /// [default: all]
    #[arg(long, value_name = "PATH", value_delimiter = ',', help_heading = "Paths")]
    pub paths: Vec<String>,
    /// Port that the far end listens at [default: 7474 in pods, any that is free on nodes]
    #[arg(long, value_name = "PORT", value_parser = value_parser!(u16).range(1..), help_heading = "Paths")]
    pub port: Option<u16>,
    /// Network workload or suite to drive
    #[arg(short, long, value_name = "WORKLOAD", default_value = "network-baseline")]
    pub workload: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// How many containers a pod has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Containers {
    /// All of a workload in one
    One,
    /// A driver, and a searcher
    Two,
}

/// What pods are like.
#[derive(Debug, Args)]
pub(crate) struct PodArgs {
    /// Image with this version of iotax
    #[arg(long, value_name = "IMAGE", default_value = concat!("iotax:", env!("CARGO_PKG_VERSION")), help_heading = "Kubernetes")]
    pub image: String,
    /// Secret to pull the image with; repeat for several
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub pull_secret: Vec<String>,
    /// Size of each volume
    #[arg(long, value_name = "SIZE", default_value = "10G", help_heading = "Kubernetes")]
    pub size: String,
    /// Containers of each pod: two are a driver that does what writes, and publishes, and a
    /// searcher that does what reads, and loads, on one volume [default: two for a workload that
    /// publishes an index]
    #[arg(long, value_enum, help_heading = "Kubernetes")]
    pub containers: Option<Containers>,
    /// CPUs of each container, requested and as its limit: 2, 500m
    #[arg(long, value_name = "CPUS", default_value = "1", help_heading = "Kubernetes")]
    pub cpu: String,
    /// CPUs of the driver, with --containers two [default: --cpu]
    #[arg(long, value_name = "CPUS", help_heading = "Kubernetes")]
    pub driver_cpu: Option<String>,
    /// Memory of the driver, with --containers two [default: --memory]
    #[arg(long, value_name = "SIZE", help_heading = "Kubernetes")]
    pub driver_memory: Option<String>,
    /// Memory of each container, requested and as its limit
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = "Kubernetes")]
    pub memory: String,
    /// Label that nodes must have; repeat for several
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Kubernetes")]
    pub node_selector: Vec<String>,
    /// Taint of nodes that does not keep pods off, `all` for each; repeat for several
    #[arg(long, value_name = "KEY[=VALUE][:EFFECT]", help_heading = "Kubernetes")]
    pub toleration: Vec<String>,
    /// YAML or JSON that is merged into every pod, for what has no option of its own: affinity,
    /// runtimeClassName, priorityClassName, securityContext, annotations and labels, as in
    /// `spec: {runtimeClassName: gvisor}`
    #[arg(long, value_name = "FILE", help_heading = "Kubernetes")]
    pub pod_overrides: Option<PathBuf>,
    /// Make a namespace for this run alone, and delete it in the end with all that is in it; this takes
    /// rights in the whole cluster
    #[arg(long, conflicts_with = "namespace", help_heading = "Kubernetes")]
    pub create_namespace: bool,
    /// User id of everything in a pod, or `cluster` where the cluster chooses it, as
    /// OpenShift does
    #[arg(long, value_name = "UID", default_value = "65532", help_heading = "Kubernetes")]
    pub user: String,
    /// How long pods may take to start, volumes included
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Kubernetes")]
    pub wait: String,
    /// Claim (`pvc:NAME`) or directory of a node (`hostpath:/PATH`) that is there, and may be
    /// written to: in a folder of its own, which is removed; repeat for several
    #[arg(long, value_name = "VOLUME", help_heading = "Kubernetes")]
    pub write_to: Vec<String>,
}

/// `iotax kube fleet`
#[derive(Debug, Args)]
#[command(
    override_usage = "iotax kube fleet [OPTIONS] <--class CLASS|--ephemeral CLASS|--emptydir>"
)]
#[command(after_help = "\
Examples:
  iotax kube fleet --class fast
      one new volume of the class on each node that takes pods
  iotax kube fleet --nodes n1,n2,n3 --class fast -w etcd-wal
      by name, which takes no right in the whole cluster
  iotax kube fleet --nodes pool=disks --emptydir
      the own disks of the nodes with that label

In each round every node is measured once, one after the other or --at-once so
many, in an order drawn afresh. Of 20 nodes or more those are named that lie outside of all the
others, at 5 % false discoveries: after 4 rounds of all, and up to 16 of those
that may be slow (with --max-blocks N after N rounds of all). Of fewer each is
held against the mean of the others until the data decide. Each node has a pod
for as long as it takes; none is left behind.")]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeFleetArgs {
    /// Which: `all` that take pods, names with commas between, or a label KEY=VALUE
    #[arg(long, value_name = "NODES", default_value = "all", help_heading = "Fleet")]
    pub nodes: String,
    #[command(flatten)]
    pub disk: FleetDisk,
    /// Nodes that are measured at the same time: saves time, where they share no storage
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u32).range(1..), help_heading = "Fleet")]
    pub at_once: u32,
    /// Workload to drive on each node, as in `iotax run`
    #[arg(short, long, value_name = "WORKLOAD", default_value = "randread-4k")]
    pub workload: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// What is measured on each node.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct FleetDisk {
    /// A new volume of this storage class
    #[arg(long, value_name = "CLASS", help_heading = "Fleet")]
    pub class: Option<String>,
    /// A volume of this storage class that lives as long as its pod
    #[arg(long, value_name = "CLASS", help_heading = "Fleet")]
    pub ephemeral: Option<String>,
    /// The node's own disk
    #[arg(long, help_heading = "Fleet")]
    pub emptydir: bool,
}

impl FleetDisk {
    /// As an arm is written.
    pub(crate) fn target(&self) -> String {
        match (&self.class, &self.ephemeral) {
            (Some(class), _) => format!("class:{class}"),
            (_, Some(class)) => format!("ephemeral:{class}"),
            _ => "emptydir".to_owned(),
        }
    }
}

/// `iotax kube doctor`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube doctor
      claims down to VM sizes, classes, nodes, network; what is known to hurt
  iotax kube doctor --namespace shop
  iotax kube doctor pvc:shop/data class:gp2 node:node-1
      what concerns a claim, a class, a node
  iotax kube doctor --all
      what is yet to be tested in full, too
  iotax kube doctor pvc:shop/data --probe
      also: devices and file systems under that claim, down to the disk, as
      a pod sees them that has it mounted read only
  iotax kube doctor class:gp2 --probe --privileged --namespace probes
      the same under a new volume of that class, as root sees it on the node
  kubectl get storageclasses,csidrivers,csinodes,volumeattachments,nodes,pv,\\
pvc,pods,daemonsets -A -o json > objects.json
  iotax kube doctor --objects objects.json
      look here, think elsewhere

It only reads; without --probe it makes nothing at all. With --probe, naming
a claim is consent to a pod that mounts it for a few seconds, read only, on
the node where it is used. A claim that no pod uses is attached for that, as
for any pod, and its driver may make a file system on it if it never had one.
iotax reads no file of it, writes and changes nothing, and removes the pod. It
lists what the account may not read; iotax kube manifest --cluster-reader
prints a role for all of it.")]
#[command(mut_args(|arg| {
    // Of workloads.
    let is_elsewhere = ["containers", "driver_cpu", "driver_memory", "write_to"];
    let is_hidden = is_elsewhere.contains(&arg.get_id().as_str()) || arg.is_hide_set();
    let arg = arg.hide(is_hidden);
    // A look needs little, and must fit on the node beside the pods that use a claim.
    match arg.get_id().as_str() {
        "cpu" => arg.default_value("100m"),
        "memory" => arg.default_value("128M"),
        _ => arg,
    }
}))]
pub(crate) struct KubeDoctorArgs {
    /// pvc:[NAMESPACE/]CLAIM, class:CLASS, node:NODE [default: all there is]
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    /// Context of the configuration in KUBECONFIG or ~/.kube/config [default: its
    /// current one; without a configuration, the cluster that this runs in]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes", conflicts_with = "objects")]
    pub context: Option<String>,
    /// Look at claims of this namespace alone [default: of all that may be listed]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes", conflicts_with = "objects")]
    pub namespace: Option<String>,
    /// Look at what kubectl get -o json has printed into this file, not at a cluster
    #[arg(long, value_name = "FILE")]
    pub objects: Option<PathBuf>,
    /// Look from a pod at what lies under each claim of the subjects, mounted read only,
    /// and under a new volume of each class; pods and new volumes are removed
    #[arg(long, requires = "subjects", conflicts_with = "objects", help_heading = "Kubernetes")]
    pub probe: bool,
    /// Have the pods of --probe privileged, as root, with the node's root directory read only:
    /// also device mapper tables without keys, files under loop devices, what controllers tell
    #[arg(long, requires = "probe", conflicts_with = "user", help_heading = "Kubernetes")]
    pub privileged: bool,
    #[command(flatten)]
    pub pods: PodArgs,
    /// Tell all of findings that are to be tested, and of all claims and nodes
    #[arg(long)]
    pub all: bool,
    /// What to print
    #[arg(long, value_enum, default_value_t = Listing::Text, help_heading = "Output")]
    pub format: Listing,
    /// Colours
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
}
