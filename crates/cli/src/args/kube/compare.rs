use clap::Args;

use super::cluster::ClusterArgs;
use super::pods::PodArgs;
use crate::args::compare::CompareArgs;

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
pub(super) fn is_elsewhere(option: &str) -> bool {
    ["pair", "agent", "dir", "destroy", "before", "after"].contains(&option)
}
