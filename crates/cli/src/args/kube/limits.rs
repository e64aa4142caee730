use clap::Args;

use super::ClusterArgs;
use super::pods::PodArgs;
use crate::args::measure::{CAP_RULES, DocumentedArgs, GateArgs, OutputArgs, SearchArgs};

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
