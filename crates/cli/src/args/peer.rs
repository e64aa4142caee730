use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// The far end of a network path.
#[derive(Debug, Args)]
pub(crate) struct PeerArgs {
    /// Address and port to listen at; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:7474")]
    pub listen: SocketAddr,
    /// File that holds the token both ends know. Without it, a new token is made and printed
    ///
    /// `-` reads it from the first line of standard input, and ends when that ends.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}
