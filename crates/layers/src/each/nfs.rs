//! An export of an existing NFS server.

use crate::declaration::prelude::*;

/// An export and its mount options; absent means the client's default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Nfs {
    /// Host name or address.
    pub server: String,
    /// Path on the server.
    pub export: String,
    /// Protocol version, e.g. `4.1`.
    pub vers: Option<String>,
    /// Security mode: `sys`, `krb5`, `krb5i` or `krb5p`.
    pub sec: Option<String>,
    pub nconnect: Option<u64>,
    /// Bytes per READ.
    pub rsize_bytes: Option<u64>,
    /// Bytes per WRITE.
    pub wsize_bytes: Option<u64>,
    /// Protection of the transport: `none`, `tls` or `mtls`.
    pub xprtsec: Option<String>,
    /// Read-ahead of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
}

impl Nfs {
    /// Reads `server:/export` as mount(8) does; `None` for other text, such as an address with a
    /// scheme (`tcp://`) or a drive (`e:/`).
    pub fn of_source(text: &str) -> Option<Self> {
        let (server, path) = text.split_once(":/")?;
        let server = match server.strip_prefix('[') {
            Some(address) => address.strip_suffix(']')?,
            None if server.contains(':') => return None,
            None => server,
        };
        let export = format!("/{path}");
        let is_server = server.len() > 1 && is_server(server) && !path.starts_with('/');
        (is_server && is_export(&export)).then(|| Self {
            server: server.to_owned(),
            export,
            ..Self::default()
        })
    }
}

/// Rejects anything that a mount program could take for an option, a list, or a file system label.
fn is_server(text: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    !text.starts_with('-') && text.chars().all(is_name)
}

/// Whether it is an absolute path that fits on one line.
fn is_export(text: &str) -> bool {
    text.starts_with('/') && !text.contains(char::is_control)
}

impl Declared for Nfs {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "nfs",
        about: "base: an existing NFS server's export, mounted with these options",
        example: "nfs(server=10.0.0.5, export=/data, sec=krb5p)",
        gives: Some(Form::Directory),
        submitter: Submitter::Nobody,
        needs: &[
            Need::Root,
            Need::program("mount.nfs", "nfs-common"),
            Need::FileSystem { name: "nfs" },
        ],
        parameters: Self::PARAMETERS,
        ..BASE
    }];

    parameters! {
        server: parameter("server", Unit::Name, None, "host name or address"),
        export: parameter("export", Unit::Name, None, "path on the server"),
        vers: parameter("vers", Unit::Choice(&["3", "4.0", "4.1", "4.2"]), None,
            "protocol version"),
        sec: parameter("sec", Unit::Choice(&["sys", "krb5", "krb5i", "krb5p"]), None,
            "authentication method; krb5i also signs data, and krb5p also encrypts it"),
        nconnect: parameter("nconnect", Unit::Count, None, "number of connections, 1 to 16"),
        rsize_bytes: parameter("rsize", Unit::Size, None, "bytes per READ"),
        wsize_bytes: parameter("wsize", Unit::Size, None, "bytes per WRITE"),
        xprtsec: parameter("xprtsec", Unit::Choice(&["none", "tls", "mtls"]), None,
            "TLS for the connection, in addition to or instead of Kerberos"),
        read_ahead_bytes: READ_AHEAD,
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let is_possible = self.nconnect.is_none_or(|n| (1..=16).contains(&n));
        arguments.demand(is_possible, "nconnect", "the client supports 1 to 16 connections", "")?;
        let problem = "must be an absolute path on the server";
        arguments.demand(is_export(&self.export), "export", problem, "start it with /")?;
        let advice = "for example filer.example.org, 10.0.0.5 or fd00::5";
        let is_server = is_server(&self.server);
        arguments.demand(is_server, "server", "is not a host name or address", advice)?;
        demand_read_ahead(arguments, self.read_ahead_bytes)
    }
}
