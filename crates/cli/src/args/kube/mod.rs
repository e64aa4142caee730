//! Arguments of `iotax kube`.

mod capture;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, value_parser};

pub(crate) use self::capture::KubeCaptureArgs;
use super::measure::{
    CAP_RULES, Color, CompareArgs, DocumentedArgs, GateArgs, Listing, MeasureArgs, OutputArgs,
    RunArgs, SearchArgs,
};

/// `iotax kube`
#[derive(Debug, Subcommand)]
pub(crate) enum KubeCommand {
    /// Compare storage classes, volumes or nodes; each arm gets a pod and a volume
    Compare(Box<KubeCompareArgs>),
    /// Find slow nodes by measuring the same kind of volume on each node
    Fleet(Box<KubeFleetArgs>),
    /// Run one workload on one volume
    Run(Box<KubeRunArgs>),
    /// Compare network paths: node to node, pod to pod, pod to Service
    Net(Box<KubeNetArgs>),
    /// Record the I/O of a running pod, to analyze it and to replay it as a workload
    Capture(Box<KubeCaptureArgs>),
    /// Show the storage under volume claims and check it for known performance problems
    Doctor(Box<KubeDoctorArgs>),
    /// Find the caps of volumes in pods, and show their documented limits
    Limits(Box<KubeLimitsArgs>),
    /// Write the container image for the pods to a file, for example for air-gapped clusters
    Image(KubeImageArgs),
    /// Print YAML for a service account with only the permissions that a run needs, and optionally
    /// for a job
    Manifest(KubeManifestArgs),
}

/// The cluster, and the namespace in it.
#[derive(Debug, Args)]
pub(crate) struct ClusterArgs {
    /// Context in KUBECONFIG or ~/.kube/config [default: the current context; without a kubeconfig,
    /// the cluster that iotax runs in]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub context: Option<String>,
    /// Namespace for everything that iotax creates [default: the context's namespace]
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
      for clusters with both amd64 and arm64 nodes")]
pub(crate) struct KubeImageArgs {
    /// File to write the image to, as a tar archive in the OCI image layout
    #[arg(long, value_name = "FILE")]
    pub save: PathBuf,
    /// Also include this iotax program, built for another architecture; can be repeated
    #[arg(long, value_name = "FILE")]
    pub program: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text)]
    pub format: Listing,
}

/// `iotax kube manifest`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube manifest --namespace bench | kubectl apply -f -
      a service account, for which kubectl can create a token
  iotax kube manifest --namespace bench -- compare -w randread-4k \\
      a=class:fast b=class:slow | kubectl apply -f -
      also a job that runs the comparison in the cluster; to see its report:
      kubectl --namespace bench logs --follow job/iotax")]
pub(crate) struct KubeManifestArgs {
    /// Namespace that the permissions apply to
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub namespace: String,
    /// Print only a role that lets the service account read the whole cluster
    #[arg(long, conflicts_with = "words")]
    pub cluster_reader: bool,
    /// Container image with this version of iotax
    #[arg(long, value_name = "IMAGE", default_value = concat!("iotax:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// Image pull secret; can be repeated
    #[arg(long, value_name = "NAME")]
    pub pull_secret: Vec<String>,
    /// Volume claim for the job's results [default: none; the results are only in the log]
    #[arg(long, value_name = "CLAIM")]
    pub results: Option<String>,
    /// Command and options for a job to run in the cluster, such as `compare -w randread-4k
    /// a=class:x b=class:y`
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
}

/// `iotax kube run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube run randread-4k class:fast
  iotax kube run driver-searcher --class fast --size 20G --scale 0.05
      a pod with two containers on one volume: a driver that downloads and
      publishes an index, and a searcher that loads it and answers queries
  iotax kube run driver-searcher --class fast --scale 0.05 --containers one
      the same in one container, for comparison
  iotax kube run driver-searcher --class fast --scale 0.05 --cpu 2 \\
      --driver-cpu 500m --driver-memory 256M")]
#[command(mut_arg("targets", |arg| arg.required(false).help(
    "class:CLASS (a new volume of that storage class), block:CLASS (the same without a file \
     system), ephemeral:CLASS (a new volume that is deleted with its pod), emptydir, pvc:CLAIM \
     (an existing claim) or hostpath:/PATH@NODE; append @NODE to use the volume from that node"
)))]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeRunArgs {
    /// Storage class; short for the target class:CLASS
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

iotax creates all objects in one namespace, and removes them at the end.
A lease owns these objects; iotax renews it during the run. After kill -9, run
iotax undo --cluster.
iotax never touches existing claims unless you name them with --write-to.")]
#[command(mut_arg("arms", |arg| arg.help(
    "NAME=TARGET for each arm, or one experiment file (.toml). Targets are class:CLASS (a new \
     volume of that storage class), block:CLASS (the same without a file system), ephemeral:CLASS \
     (a new volume that is deleted with its pod), emptydir, pvc:CLAIM (an existing claim) or \
     hostpath:/PATH@NODE; append @NODE to use the volume from that node"
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

/// Options for saved results, this machine or other hosts, which do not apply in a cluster.
fn is_elsewhere(option: &str) -> bool {
    ["pair", "agent", "dir", "destroy", "before", "after"].contains(&option)
}

/// `iotax kube limits`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  iotax kube limits --class fast --size 100G
      IOPS cap, bandwidth cap and useful queue depth of a new volume of that
      size, next to the documented limits of its disk type and the node's VM
      size
  iotax kube limits --class fast --claims 2
      also: whether both volumes share one bucket
  iotax kube limits --class gp2 --size 100G --burst=40m
      load the volume until its burst ends
  iotax kube limits fast=class:fast@node-1 raw=block:fast@node-1

iotax creates volumes, reads them and deletes them. It writes only the test data
that it then reads, unless you pass --write. It touches existing volumes only if
you name them with --write-to. Use the volume size that you use in production,
because many cloud disks are faster if they are larger.")]
#[command(mut_arg("fail_if", |arg| arg.long_help(CAP_RULES)))]
#[command(mut_args(|arg| {
    // Options for this machine, and for workloads that publish an index.
    let is_elsewhere = ["no_metadata", "containers", "driver_cpu", "driver_memory"].contains(&arg.get_id().as_str());
    let is_hidden = is_elsewhere || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeLimitsArgs {
    /// class:CLASS, block:CLASS, ephemeral:CLASS or emptydir; with --write-to also pvc:CLAIM or
    /// `hostpath:/PATH@NODE`. Append @NODE to use the volume from that node; use NAME=TARGET to
    /// name the target
    #[arg(value_name = "TARGET", required_unless_present = "class", conflicts_with = "class")]
    pub targets: Vec<String>,
    /// Storage class of new volumes
    #[arg(long, value_name = "CLASS", help_heading = "Kubernetes")]
    pub class: Option<String>,
    /// Number of --class volumes to load at the same time, to find caps that they share
    #[arg(long, value_name = "N", requires = "class", default_value_t = 1,
          value_parser = clap::value_parser!(u8).range(1..=16), help_heading = "Kubernetes")]
    pub claims: u8,
    /// Node on which to use the --class volumes
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

/// Volume options, which do not apply to network paths.
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

Paths (the first one measured is the baseline):
  node       node to node, between pods on the host network
  pod        pod to pod, between the two nodes
  same-node  pod to pod, both on the near end's node
  service    pod to a Service (ClusterIP) whose pod is on the other node
  dns        the same, but through the Service's DNS name (resolved once per turn)

The Pod Security levels `baseline` and `restricted` forbid pods on the host
network. In such a namespace, iotax leaves out `node`, says so, and uses `pod`
as the baseline.")]
#[command(mut_args(|arg| {
    let id = arg.get_id().as_str();
    let is_hidden = OF_VOLUMES.contains(&id) || is_elsewhere(id) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeNetArgs {
    /// Node for the near end, which generates the load [default: chosen by the cluster]
    #[arg(long, value_name = "NODE", help_heading = "Paths")]
    pub from: Option<String>,
    /// Node for the far end [default: chosen by the cluster, but not the near end's node]
    #[arg(long, value_name = "NODE", help_heading = "Paths")]
    pub to: Option<String>,
    /// Use two nodes in different zones
    #[arg(long, help_heading = "Paths")]
    pub across_zones: bool,
    /// Paths to measure, separated by commas: node, pod, same-node, service, dns
    /// [default: all]
    #[arg(long, value_name = "PATH", value_delimiter = ',', help_heading = "Paths")]
    pub paths: Vec<String>,
    /// Port that the far end listens on [default: 7474 in pods, any free port on the host network]
    #[arg(long, value_name = "PORT", value_parser = value_parser!(u16).range(1..), help_heading = "Paths")]
    pub port: Option<u16>,
    /// Network workload or suite to run
    #[arg(short, long, value_name = "WORKLOAD", default_value = "network-baseline")]
    pub workload: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// Number of containers in a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Containers {
    /// The whole workload in one container
    One,
    /// A driver and a searcher
    Two,
}

/// Options of pods and their volumes.
#[derive(Debug, Args)]
pub(crate) struct PodArgs {
    /// Container image with this version of iotax
    #[arg(long, value_name = "IMAGE", default_value = concat!("iotax:", env!("CARGO_PKG_VERSION")), help_heading = "Kubernetes")]
    pub image: String,
    /// Image pull secret; can be repeated
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes")]
    pub pull_secret: Vec<String>,
    /// Size of each new volume
    #[arg(long, value_name = "SIZE", default_value = "10G", help_heading = "Kubernetes")]
    pub size: String,
    /// Containers in each pod. With two containers, a driver runs the jobs that write and publish,
    /// and a searcher runs the jobs that read and load, on the same volume [default: two for a
    /// workload that publishes an index, otherwise one]
    #[arg(long, value_enum, help_heading = "Kubernetes")]
    pub containers: Option<Containers>,
    /// CPU request and limit of each container, such as 2 or 500m
    #[arg(long, value_name = "CPUS", default_value = "1", help_heading = "Kubernetes")]
    pub cpu: String,
    /// CPU request and limit of the driver, with --containers two [default: same as --cpu]
    #[arg(long, value_name = "CPUS", help_heading = "Kubernetes")]
    pub driver_cpu: Option<String>,
    /// Memory request and limit of the driver, with --containers two [default: same as --memory]
    #[arg(long, value_name = "SIZE", help_heading = "Kubernetes")]
    pub driver_memory: Option<String>,
    /// Memory request and limit of each container
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = "Kubernetes")]
    pub memory: String,
    /// Label that nodes must have; can be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Kubernetes")]
    pub node_selector: Vec<String>,
    /// Taint that pods tolerate, or `all`; can be repeated
    #[arg(long, value_name = "KEY[=VALUE][:EFFECT]", help_heading = "Kubernetes")]
    pub toleration: Vec<String>,
    /// YAML or JSON file to merge into every pod, for fields that have no option here, such as
    /// affinity, runtimeClassName, priorityClassName, securityContext, annotations and labels; for
    /// example `spec: {runtimeClassName: gvisor}`
    #[arg(long, value_name = "FILE", help_heading = "Kubernetes")]
    pub pod_overrides: Option<PathBuf>,
    /// Create a namespace for this run, and delete it at the end with everything in it; needs
    /// cluster-wide permissions
    #[arg(long, conflicts_with = "namespace", help_heading = "Kubernetes")]
    pub create_namespace: bool,
    /// User ID for all containers, or `cluster` to let the cluster choose it, as OpenShift does
    #[arg(long, value_name = "UID", default_value = "65532", help_heading = "Kubernetes")]
    pub user: String,
    /// Maximum time to wait until the pods and their volumes are ready
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = "Kubernetes")]
    pub wait: String,
    /// Existing claim (`pvc:NAME`) or node directory (`hostpath:/PATH`) that iotax is allowed to
    /// write to, in a private folder that it removes afterwards; can be repeated
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
      one new volume of the class on each node that accepts pods
  iotax kube fleet --nodes n1,n2,n3 --class fast -w etcd-wal
      nodes selected by name (needs no cluster-wide permissions)
  iotax kube fleet --nodes pool=disks --emptydir
      the nodes' own disks, on all nodes with that label

In each round, iotax measures every node once: one node at a time, or K at a
time with --at-once K. Rounds come in pairs: the first in random order, the
second in reverse. With 20 or more nodes, iotax reports outliers at a false
discovery rate of 5 %. It runs 4 rounds on all nodes, and up to 16 rounds on
nodes that could be slow; with --max-blocks N, it runs N rounds on all nodes.
With fewer than 20 nodes, it compares each node with the mean of the others
until the result is clear. Each node runs one pod for the whole run; iotax
removes all pods at the end.")]
#[command(mut_args(|arg| {
    let is_hidden = is_elsewhere(arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
}))]
pub(crate) struct KubeFleetArgs {
    /// Nodes to measure: `all` (every node that accepts pods), names separated by commas, or a
    /// label KEY=VALUE
    #[arg(long, value_name = "NODES", default_value = "all", help_heading = "Fleet")]
    pub nodes: String,
    #[command(flatten)]
    pub disk: FleetDisk,
    /// Number of nodes to measure at the same time; more than one saves time if the nodes do not
    /// share storage
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u32).range(1..), help_heading = "Fleet")]
    pub at_once: u32,
    /// Workload to run on each node, as in `iotax run`
    #[arg(short, long, value_name = "WORKLOAD", default_value = "randread-4k")]
    pub workload: String,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    #[command(flatten)]
    pub pods: PodArgs,
    #[command(flatten)]
    pub measure: MeasureArgs,
}

/// The volume to measure on each node.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct FleetDisk {
    /// Measure a new volume of this storage class
    #[arg(long, value_name = "CLASS", help_heading = "Fleet")]
    pub class: Option<String>,
    /// Measure an ephemeral volume (deleted with its pod) of this storage class
    #[arg(long, value_name = "CLASS", help_heading = "Fleet")]
    pub ephemeral: Option<String>,
    /// Measure the node's own disk
    #[arg(long, help_heading = "Fleet")]
    pub emptydir: bool,
}

impl FleetDisk {
    /// The target, as an argument.
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
      everything: claims (down to VM sizes), classes, nodes and network, with
      their known problems
  iotax kube doctor --namespace shop
  iotax kube doctor pvc:shop/data class:gp2 node:node-1
      only what concerns this claim, this class and this node
  iotax kube doctor --all
      also full details of findings that are not yet confirmed
  iotax kube doctor pvc:shop/data --probe
      also: devices and file systems under that claim, down to the disk, as
      seen by a pod that mounts the claim read-only
  iotax kube doctor class:gp2 --probe --privileged --namespace probes
      the same for a new volume of that class, as seen by root on the node
  kubectl get storageclasses,csidrivers,csinodes,volumeattachments,nodes,pv,\\
pvc,pods,daemonsets -A -o json > objects.json
  iotax kube doctor --objects objects.json
      examine a cluster from its saved objects, without access to it

The doctor only reads; without --probe it creates nothing. With --probe, naming
a claim allows iotax to start a pod that mounts the claim read-only for a few
seconds, on the node where the claim is used. If no pod uses the claim,
Kubernetes attaches its volume first, as it would for any pod. The driver may
then create a file system on a volume that never had one. iotax reads no files
on the volume, changes nothing there, and removes the pod. The doctor lists
everything that the account is not allowed to read; iotax kube manifest
--cluster-reader prints a role that grants this access.")]
#[command(mut_args(|arg| {
    // Options for workloads.
    let is_elsewhere = ["containers", "driver_cpu", "driver_memory", "write_to"];
    let is_hidden = is_elsewhere.contains(&arg.get_id().as_str()) || arg.is_hide_set();
    let arg = arg.hide(is_hidden);
    // A probe needs little, and must fit on the node next to the pods that use a claim.
    match arg.get_id().as_str() {
        "cpu" => arg.default_value("100m"),
        "memory" => arg.default_value("128M"),
        _ => arg,
    }
}))]
pub(crate) struct KubeDoctorArgs {
    /// pvc:[NAMESPACE/]CLAIM, class:CLASS or node:NODE to examine [default: everything]
    #[arg(value_name = "SUBJECT")]
    pub subjects: Vec<String>,
    /// Context in KUBECONFIG or ~/.kube/config [default: the current context; without a kubeconfig,
    /// the cluster that iotax runs in]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes", conflicts_with = "objects")]
    pub context: Option<String>,
    /// Examine only the claims in this namespace [default: all claims that the account can list]
    #[arg(long, value_name = "NAME", help_heading = "Kubernetes", conflicts_with = "objects")]
    pub namespace: Option<String>,
    /// Instead of a cluster, examine FILE, which contains the output of kubectl get -o json
    #[arg(long, value_name = "FILE")]
    pub objects: Option<PathBuf>,
    /// Start pods to examine the storage under each named claim and under a new volume of each
    /// named class; the pods mount claims read-only, and iotax removes the pods and new volumes
    /// afterwards
    #[arg(long, requires = "subjects", conflicts_with = "objects", help_heading = "Kubernetes")]
    pub probe: bool,
    /// Run the --probe pods as root and in privileged mode, with the node's root directory mounted
    /// read-only, to also see device mapper tables (without keys), files behind loop devices, and
    /// controllers
    #[arg(long, requires = "probe", conflicts_with = "user", help_heading = "Kubernetes")]
    pub privileged: bool,
    #[command(flatten)]
    pub pods: PodArgs,
    /// Show full details for every finding, including those not yet confirmed, and list all claims
    /// and nodes
    #[arg(long)]
    pub all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Listing::Text, help_heading = "Output")]
    pub format: Listing,
    /// When to use colors
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
}
