use std::fmt::Write as _;
use std::io::{self, BufRead as _, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::thread;

use iotax_load::{PeerSecret, new_peer_secret, serve_peer};
use iotax_rig::read_token;

use crate::args::PeerArgs;
use crate::exit::{self, Context as _, Exit, Result, usage};
use crate::output::say;

/// Limit for input, longer than any token.
const MAX_TOKEN_BYTES: u64 = 4096;

/// `iotax peer`
pub(crate) fn peer(args: &PeerArgs) -> Result<Exit> {
    let token = args.token_file.as_deref().map(token).transpose()?;
    if args.token_file.as_deref().is_some_and(is_input) {
        // The process that started this one holds the other end.
        thread::spawn(|| {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
            exit::served()
        });
    }
    let is_new = token.is_none();
    let secret = match token {
        Some(secret) => secret,
        None => new_peer_secret().context("cannot create a token")?,
    };
    let shown = secret.clone();
    let ready = |address: SocketAddr| {
        let mut text = format!("listening at {address} for TCP and UDP\n");
        if is_new {
            let _ = write!(
                text,
                "token {}\nOn the near end, save the token to FILE and run: IOTAX_TOKEN_FILE=FILE \
                 iotax run tcp-rr tcp://HOST:{}\n",
                *shown.text(),
                address.port()
            );
        }
        say(&text).map_err(|failure| io::Error::other(failure.to_string()))
    };
    serve_peer(args.listen, secret, ready)
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    Ok(Exit::Done)
}

/// Whether the path means standard input.
fn is_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a token from a file, or the first line of standard input.
fn token(path: &Path) -> Result<PeerSecret> {
    if !is_input(path) {
        let shown = path.display();
        let read =
            read_token(path).map_err(|error| usage(format!("--token-file {shown}: {error}")))?;
        if let Some(warning) = read.warning {
            let _ = writeln!(io::stderr(), "warning: {}", exit::printable(&warning));
        }
        return Ok(read.secret);
    }
    let mut text = String::new();
    io::stdin()
        .lock()
        .take(MAX_TOKEN_BYTES)
        .read_line(&mut text)
        .context("cannot read the token from standard input")?;
    PeerSecret::parse(&text).ok_or_else(|| {
        usage("--token-file -: standard input does not contain a token of 64 hexadecimal digits")
    })
}
