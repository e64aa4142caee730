use std::path::PathBuf;

use clap::Args;

use super::pods::PodArgs;
use crate::args::output::{Color, Listing};

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
  iotax kube doctor class:gp2 --probe
      also: devices and file systems under a new volume of that class, down to the
      disk, as a pod sees them
  kubectl get storageclasses,csidrivers,csinodes,volumeattachments,nodes,pv,pvc,\\
pods,daemonsets -A -o json > objects.json
  iotax kube doctor --objects objects.json
      look here, think elsewhere

It only reads; without --probe it makes nothing at all. What the account may not list, it says; iotax
kube manifest --cluster-reader prints a role for all of it.")]
#[command(mut_args(|arg| {
    // Of workloads.
    let is_elsewhere = ["containers", "driver_cpu", "driver_memory", "write_to"];
    let is_hidden = is_elsewhere.contains(&arg.get_id().as_str()) || arg.is_hide_set();
    arg.hide(is_hidden)
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
    /// Make a volume and a pod for each class of the subjects, look at what lies under it there, and
    /// remove both
    #[arg(long, requires = "subjects", conflicts_with = "objects", help_heading = "Kubernetes")]
    pub probe: bool,
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
