//! Layers in which bytes live, and the loop device, which gives them a block device's form.

use super::info::{Form, LayerInfo, World, disk_size, parameter};
use crate::error::Error;
use crate::stack::{Layer, Nfs, Stack};
use crate::text::arguments::{Arguments, Value};
use crate::units::Unit;

pub(super) const MEM: LayerInfo = LayerInfo {
    name: "mem",
    about: "base: a disk in memory",
    world: World::InProcess,
    takes: &[],
    gives: Some(Form::File),
    example: "mem(size=64M)",
    parameters: &[parameter("size", Unit::Size, Some("256M"), "size of the disk")],
    build: |arguments| Ok(Layer::Mem { size_bytes: disk_size(arguments)? }),
    values: |layer| match layer {
        Layer::Mem { size_bytes } => vec![("size", Some((*size_bytes).into()))],
        _ => vec![],
    },
};

pub(super) const FILE: LayerInfo = LayerInfo {
    name: "file",
    about: "base: a disk in a file",
    world: World::Both,
    takes: &[],
    gives: Some(Form::File),
    example: "file(size=2G)",
    parameters: &[
        parameter("path", Unit::Path, None, "the file; left out: a nameless one that vanishes"),
        parameter("size", Unit::Size, Some("1G"), "size of the disk"),
        parameter(
            "thin",
            Unit::Switch,
            Some("false"),
            "nameless, sparse and never filled: any size, but unwritten data are no device's",
        ),
    ],
    build: file,
    values: |layer| match layer {
        Layer::File { path, size_bytes, thin } => vec![
            ("path", path.as_ref().map(|path| path.to_string_lossy().into_owned().into())),
            ("size", Some((*size_bytes).into())),
            ("thin", Some((*thin).into())),
        ],
        _ => vec![],
    },
};

pub(super) const DIR: LayerInfo = LayerInfo {
    name: "dir",
    about: "base: a directory; test files go into a private folder in it",
    example: "dir(path=/mnt/data)",
    world: World::System,
    takes: &[],
    gives: Some(Form::Directory),
    parameters: &[parameter("path", Unit::Path, None, "the directory")],
    build: |arguments| Ok(Layer::Dir { path: arguments.required_path("path")? }),
    values: |layer| match layer {
        Layer::Dir { path } => vec![("path", Some(path.to_string_lossy().into_owned().into()))],
        _ => vec![],
    },
};

pub(super) const DEV: LayerInfo = LayerInfo {
    name: "dev",
    about: "base: a block device, its content lost; only with --destroy",
    example: "dev(path=/dev/sdx)",
    world: World::System,
    takes: &[],
    gives: Some(Form::Block),
    parameters: &[parameter("path", Unit::Path, None, "its node, without anything on it")],
    build: |arguments| Ok(Layer::Dev { path: arguments.required_path("path")? }),
    values: |layer| match layer {
        Layer::Dev { path } => vec![("path", Some(path.to_string_lossy().into_owned().into()))],
        _ => vec![],
    },
};

pub(super) const TMPFS: LayerInfo = LayerInfo {
    name: "tmpfs",
    about: "base: a file system in memory",
    example: "tmpfs(size=1G)",
    world: World::System,
    takes: &[],
    gives: Some(Form::Directory),
    parameters: &[parameter("size", Unit::Size, Some("1G"), "capacity")],
    build: |arguments| Ok(Layer::Tmpfs { size_bytes: disk_size(arguments)? }),
    values: |layer| match layer {
        Layer::Tmpfs { size_bytes } => vec![("size", Some((*size_bytes).into()))],
        _ => vec![],
    },
};

pub(super) const NFS: LayerInfo = LayerInfo {
    name: "nfs",
    about: "base: a directory of an existing file server, mounted with these options",
    example: "nfs(server=10.0.0.5, export=/data, sec=krb5p)",
    world: World::System,
    takes: &[],
    gives: Some(Form::Directory),
    parameters: &[
        parameter("server", Unit::Name, None, "host name or address"),
        parameter("export", Unit::Name, None, "path on the server"),
        parameter("vers", Unit::Choice(&["3", "4.0", "4.1", "4.2"]), None, "protocol version"),
        parameter(
            "sec",
            Unit::Choice(&["sys", "krb5", "krb5i", "krb5p"]),
            None,
            "who is trusted, and whether data are signed (i) or encrypted (p)",
        ),
        parameter("nconnect", Unit::Count, None, "connections, 1 to 16"),
        parameter("rsize", Unit::Size, None, "bytes per READ"),
        parameter("wsize", Unit::Size, None, "bytes per WRITE"),
    ],
    build: nfs,
    values: |layer| match layer {
        Layer::Nfs(nfs) => vec![
            ("server", Some(nfs.server.clone().into())),
            ("export", Some(nfs.export.clone().into())),
            ("vers", nfs.vers.clone().map(Value::from)),
            ("sec", nfs.sec.clone().map(Value::from)),
            ("nconnect", nfs.nconnect.map(|n| u64::from(n).into())),
            ("rsize", nfs.rsize_bytes.map(Value::from)),
            ("wsize", nfs.wsize_bytes.map(Value::from)),
        ],
        _ => vec![],
    },
};

pub(super) const VDISK: LayerInfo = LayerInfo {
    name: "vdisk",
    about: "base: a virtual disk of in-process layers, mounted through FUSE",
    example: "vdisk(stack=\"file(size=1G) + throttle(iops=4000)\")",
    world: World::System,
    takes: &[],
    gives: Some(Form::File),
    parameters: &[parameter("stack", Unit::Name, None, "its layers, in quotes")],
    build: vdisk,
    values: |layer| match layer {
        Layer::Vdisk { stack } => vec![("stack", Some(stack.to_string().into()))],
        _ => vec![],
    },
};

pub(super) const LOOP: LayerInfo = LayerInfo {
    name: "loop",
    about: "a loop device; put in wherever a file must become a block device",
    example: "loop(direct=false)",
    world: World::System,
    takes: &[Form::File, Form::Block],
    gives: Some(Form::Block),
    parameters: &[parameter("direct", Unit::Switch, Some("true"), "bypass the page cache below")],
    build: |arguments| Ok(Layer::Loop { direct: arguments.switch("direct")? }),
    values: |layer| match layer {
        Layer::Loop { direct } => vec![("direct", Some((*direct).into()))],
        _ => vec![],
    },
};

fn file(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let (path, thin) = (arguments.path("path"), arguments.switch("thin")?);
    if thin && path.is_some() {
        let problem = "only a nameless file is thin: one with a name is used as it is, or filled";
        return Err(arguments.refuse("thin", problem, "leave out path, or thin"));
    }
    Ok(Layer::File { path, size_bytes: disk_size(arguments)?, thin })
}

fn nfs(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let nconnect = arguments.whole_if_given("nconnect");
    if nconnect.is_some_and(|n| !(1..=16).contains(&n)) {
        return Err(arguments.refuse("nconnect", "the client takes 1 to 16 connections", ""));
    }
    let export = arguments.required_text("export")?;
    if !export.starts_with('/') || export.contains(char::is_control) {
        return Err(arguments.refuse("export", "is a path on the server", "begin it with /"));
    }
    let server = arguments.required_text("server")?;
    // Nothing that a mount program could take for an option, a list, or a file system's label.
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    if server.starts_with('-') || !server.chars().all(is_name) {
        let advice = "for example filer.example.org, 10.0.0.5 or fd00::5";
        return Err(arguments.refuse("server", "is no host name or address", advice));
    }
    Ok(Layer::Nfs(Nfs {
        server,
        export,
        vers: arguments.text("vers"),
        sec: arguments.text("sec"),
        nconnect: nconnect.and_then(|n| u32::try_from(n).ok()),
        rsize_bytes: arguments.whole_if_given("rsize"),
        wsize_bytes: arguments.whole_if_given("wsize"),
    }))
}

fn vdisk(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let text = arguments.required_text("stack")?;
    let stack = Stack::parse(&text).map_err(|error| {
        arguments.refuse("stack", error.headline(), "write the layers of `iotax layers` in quotes")
    })?;
    if !stack.is_in_process() {
        let problem = "only in-process layers can be in a virtual disk";
        return Err(arguments.refuse("stack", problem, "put the others on top of vdisk(...)"));
    }
    Ok(Layer::Vdisk { stack })
}
