use std::path::PathBuf;

use clap::Args;

use super::pods::PodArgs;
use crate::args::measure::{Color, Listing};

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
the node where it is used; one that nobody uses is attached for that, as for
any pod, and its driver may make a file system on it if it never had one. iotax
reads no file of it, writes and changes nothing, and removes the pod. What the
account may not list, it says; iotax kube manifest --cluster-reader prints a
role for all of it.")]
#[command(mut_args(|arg| {
    // Of workloads.
    let is_elsewhere = ["containers", "driver_cpu", "driver_memory", "write_to"];
    let is_hidden = is_elsewhere.contains(&arg.get_id().as_str()) || arg.is_hide_set();
    let arg = arg.hide(is_hidden);
    // A look takes little, and has to find room beside whoever uses a claim.
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
