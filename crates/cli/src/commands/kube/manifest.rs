use anyhow::Result;
use clap::Parser as _;
use iotax_cluster::{JobOptions, job};

use crate::args::{Cli, KubeManifestArgs};
use crate::exit::Exit;
use crate::output::say;

/// `iotax kube manifest`
pub(super) fn manifest(args: KubeManifestArgs) -> Result<Exit> {
    let KubeManifestArgs { namespace, cluster_reader, image, pull_secret, results, words } = args;
    let mut text = if cluster_reader {
        iotax_cluster::reader_manifest(&namespace)
    } else {
        iotax_cluster::manifest(&namespace)
    };
    if !words.is_empty() {
        // What is wrong with it is told now, and not by a pod.
        let command = ["iotax", "kube"].into_iter().chain(words.iter().map(String::as_str));
        if let Err(error) = Cli::try_parse_from(command) {
            error.exit();
        }
        text += &job(&JobOptions { namespace, image, pull_secrets: pull_secret, results, words });
    }
    say(&text)?;
    Ok(Exit::Done)
}
