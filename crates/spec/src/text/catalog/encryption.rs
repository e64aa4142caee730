//! Layers of the system that encrypt.

use super::info::{Form, LayerInfo, World, parameter};
use crate::error::Error;
use crate::stack::{Dmcrypt, Layer};
use crate::text::arguments::Arguments;
use crate::units::Unit;

pub(super) const LUKS: LayerInfo = LayerInfo {
    name: "luks",
    about: "LUKS as a hypervisor does it: qemu-storage-daemon, served through FUSE",
    example: "luks",
    world: World::System,
    takes: &[Form::File, Form::Block],
    gives: Some(Form::File),
    parameters: &[parameter(
        "key",
        Unit::Choice(&["128", "256"]),
        Some("256"),
        "strength of AES-XTS in bits (two such keys)",
    )],
    build: |arguments| Ok(Layer::Luks { key_bits: arguments.small("key")? }),
    values: |layer| match layer {
        Layer::Luks { key_bits } => vec![("key", Some(key_bits.to_string().into()))],
        _ => vec![],
    },
};

pub(super) const DMCRYPT: LayerInfo = LayerInfo {
    name: "dmcrypt",
    about: "device mapper's encryption, as a guest does it",
    example: "dmcrypt(no_read_workqueue, no_write_workqueue)",
    world: World::System,
    takes: &[Form::Block],
    gives: Some(Form::Block),
    parameters: &[
        parameter("format", Unit::Choice(&["plain", "luks2"]), Some("plain"), "header or none"),
        parameter("cipher", Unit::Name, Some("aes-xts-plain64"), "cipher, mode and IV"),
        parameter("key_size", Unit::Count, Some("512"), "bits of the key; XTS halves it"),
        parameter(
            "sector_size",
            Unit::Choice(&["512", "1024", "2048", "4096"]),
            Some("512"),
            "bytes encrypted as one unit",
        ),
        parameter("no_read_workqueue", Unit::Switch, Some("false"), "decrypt where reads complete"),
        parameter("no_write_workqueue", Unit::Switch, Some("false"), "encrypt where writes start"),
        parameter("same_cpu_crypt", Unit::Switch, Some("false"), "encrypt on the submitting CPU"),
        parameter(
            "submit_from_crypt_cpus",
            Unit::Switch,
            Some("false"),
            "no extra thread that sorts writes",
        ),
    ],
    build: dmcrypt,
    values: |layer| match layer {
        Layer::Dmcrypt(crypt) => vec![
            ("format", Some(crypt.format.clone().into())),
            ("cipher", Some(crypt.cipher.clone().into())),
            ("key_size", Some(u64::from(crypt.key_bits).into())),
            ("sector_size", Some(crypt.sector_bytes.to_string().into())),
            ("no_read_workqueue", Some(crypt.no_read_workqueue.into())),
            ("no_write_workqueue", Some(crypt.no_write_workqueue.into())),
            ("same_cpu_crypt", Some(crypt.same_cpu_crypt.into())),
            ("submit_from_crypt_cpus", Some(crypt.submit_from_crypt_cpus.into())),
        ],
        _ => vec![],
    },
};

pub(super) const FSCRYPT: LayerInfo = LayerInfo {
    name: "fscrypt",
    about: "encryption of files by ext4 itself",
    example: "fscrypt",
    world: World::System,
    takes: &[Form::Directory],
    gives: Some(Form::Directory),
    parameters: &[],
    build: |_| Ok(Layer::Fscrypt),
    values: |_| vec![],
};

pub(super) const GOCRYPTFS: LayerInfo = LayerInfo {
    name: "gocryptfs",
    about: "encryption of files by a FUSE program",
    example: "gocryptfs",
    world: World::System,
    takes: &[Form::Directory],
    gives: Some(Form::Directory),
    parameters: &[parameter(
        "cipher",
        Unit::Choice(&["aes-gcm", "aes-siv", "xchacha"]),
        Some("aes-gcm"),
        "cipher of the contents",
    )],
    build: |arguments| Ok(Layer::Gocryptfs { cipher: arguments.required_text("cipher")? }),
    values: |layer| match layer {
        Layer::Gocryptfs { cipher } => vec![("cipher", Some(cipher.clone().into()))],
        _ => vec![],
    },
};

fn dmcrypt(arguments: &Arguments<'_>) -> Result<Layer, Error> {
    let key_bits = arguments.small("key_size")?;
    if key_bits % 8 != 0 || key_bits > 512 {
        let advice = "for example 512 for AES-XTS with 256 bits of strength";
        return Err(arguments.refuse("key_size", "must be whole bytes, up to 512 bits", advice));
    }
    let cipher = arguments.required_text("cipher")?;
    let is_name =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '(' | ')' | ',');
    if cipher.starts_with('-') || !cipher.chars().all(is_name) {
        return Err(arguments.refuse("cipher", "is no cipher", "for example aes-xts-plain64"));
    }
    Ok(Layer::Dmcrypt(Dmcrypt {
        format: arguments.required_text("format")?,
        cipher,
        key_bits,
        sector_bytes: arguments.small("sector_size")?,
        no_read_workqueue: arguments.switch("no_read_workqueue")?,
        no_write_workqueue: arguments.switch("no_write_workqueue")?,
        same_cpu_crypt: arguments.switch("same_cpu_crypt")?,
        submit_from_crypt_cpus: arguments.switch("submit_from_crypt_cpus")?,
    }))
}
