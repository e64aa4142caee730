use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead as _, Read as _};
use std::net::SocketAddr;
use std::path::Path;
use std::thread;

use anyhow::{Context as _, Result};
use iotax_load::{new_peer_secret, serve_peer};
use iotax_vdisk::PeerSecret;

use crate::args::PeerArgs;
use crate::exit::{self, Exit, Usage};
use crate::output::say;

/// Longer than any token; what is longer is none.
const MAX_TOKEN_BYTES: u64 = 4096;

/// `iotax peer`
pub(crate) fn peer(args: &PeerArgs) -> Result<Exit> {
    let token = args.token_file.as_deref().map(token).transpose()?;
    if args.token_file.as_deref().is_some_and(is_input) {
        // Whoever started it holds the other end.
        thread::spawn(|| {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            exit::served()
        });
    }
    let is_new = token.is_none();
    let secret = match token {
        Some(secret) => secret,
        None => new_peer_secret().context("cannot make a token")?,
    };
    let shown = secret.clone();
    let ready = |address: SocketAddr| {
        let mut text = format!("listening at {address} for TCP and UDP\n");
        if is_new {
            let _ = write!(
                text,
                "token {}\nAt the near end, with the token in a file: IOTAX_TOKEN_FILE=FILE iotax run \
                 tcp-rr tcp://HOST:{}\n",
                *shown.text(),
                address.port()
            );
        }
        say(&text).map_err(io::Error::other)
    };
    serve_peer(args.listen, secret, ready)
        .with_context(|| format!("cannot listen at {}", args.listen))?;
    Ok(Exit::Done)
}

/// Whether it stands for standard input.
fn is_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a token from a file, or the first line of standard input.
fn token(path: &Path) -> Result<PeerSecret> {
    let mut text = String::new();
    let read = if is_input(path) {
        io::stdin().lock().take(MAX_TOKEN_BYTES).read_line(&mut text)
    } else {
        File::open(path).and_then(|file| file.take(MAX_TOKEN_BYTES).read_to_string(&mut text))
    };
    read.with_context(|| format!("cannot read the token in {}", path.display()))?;
    PeerSecret::parse(&text).ok_or_else(|| {
        Usage(format!(
            "--token-file {}: holds no token, which is 64 hexadecimal digits as `iotax peer` prints \
             them",
            path.display()
        ))
        .into()
    })
}
