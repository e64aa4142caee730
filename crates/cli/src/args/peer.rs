use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// The far end of a network path.
#[derive(Debug, Args)]
pub(crate) struct PeerArgs {
    /// Address and port to listen at; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:7474")]
    pub listen: SocketAddr,
    /// File that holds the token both ends know; `-` is standard input. Without it, a new token is
    /// made and printed
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}
