//! Device mapper's encryption.

use serde::{Deserialize, Serialize};

use crate::declaration::info::{Does, Form, IN_SYSTEM, LayerInfo, parameter};
use crate::declaration::need::{Need, Version};
use crate::declaration::{Arguments, Declared, Values};
use crate::error::Error;
use crate::units::Unit;

/// Device mapper's encryption, with the flags of its table line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of dm-crypt, independent of each other"
)]
pub struct Dmcrypt {
    /// `plain` or `luks2`.
    pub format: String,
    /// As in the kernel: `aes-xts-plain64`.
    pub cipher: String,
    /// Length of the key in bits, as cryptsetup counts it.
    pub key_bits: u32,
    /// Encryption sector: 512 to 4096.
    pub sector_bytes: u32,
    /// Decrypts in the context that completes the read.
    pub no_read_workqueue: bool,
    /// Encrypts in the context that submits the write.
    pub no_write_workqueue: bool,
    /// Encrypts on the CPU that submits the I/O.
    pub same_cpu_crypt: bool,
    /// Writes are submitted by the thread that encrypted them.
    pub submit_from_crypt_cpus: bool,
}

/// The work-queue options came with 2.3.4 (and Linux 5.9). Where only the patch level is too low,
/// cryptsetup itself refuses them.
const CRYPTSETUP: Need = Need::Program {
    name: "cryptsetup",
    package: "cryptsetup-bin",
    at_least: Some(Version { argument: "--version", number: (2, 3) }),
};

impl Declared for Dmcrypt {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "dmcrypt",
        about: "device mapper's encryption, as a guest does it",
        example: "dmcrypt(no_read_workqueue, no_write_workqueue)",
        takes: &[Form::Block],
        gives: Some(Form::Block),
        does: Does::Encrypts,
        needs: &[
            Need::Root,
            CRYPTSETUP,
            Need::program("dmsetup", "dmsetup"),
            Need::Device { path: "/dev/mapper/control", module: "dm-mod" },
            Need::Module { module: "dm-crypt", about: "device mapper encryption (dm-crypt)" },
        ],
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
            parameter(
                "no_read_workqueue",
                Unit::Switch,
                Some("false"),
                "decrypt where reads complete",
            ),
            parameter(
                "no_write_workqueue",
                Unit::Switch,
                Some("false"),
                "encrypt where writes start",
            ),
            parameter(
                "same_cpu_crypt",
                Unit::Switch,
                Some("false"),
                "encrypt on the submitting CPU",
            ),
            parameter(
                "submit_from_crypt_cpus",
                Unit::Switch,
                Some("false"),
                "no extra thread that sorts writes",
            ),
        ],
        ..IN_SYSTEM
    }];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let key_bits = arguments.small("key_size")?;
        if key_bits % 8 != 0 || key_bits > 512 {
            let advice = "for example 512 for AES-XTS with 256 bits of strength";
            return Err(arguments.refuse(
                "key_size",
                "must be whole bytes, up to 512 bits",
                advice,
            ));
        }
        let cipher = arguments.required_text("cipher")?;
        let is_name =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '(' | ')' | ',');
        if cipher.starts_with('-') || !cipher.chars().all(is_name) {
            return Err(arguments.refuse("cipher", "is no cipher", "for example aes-xts-plain64"));
        }
        Ok(Self {
            format: arguments.required_text("format")?,
            cipher,
            key_bits,
            sector_bytes: arguments.small("sector_size")?,
            no_read_workqueue: arguments.switch("no_read_workqueue")?,
            no_write_workqueue: arguments.switch("no_write_workqueue")?,
            same_cpu_crypt: arguments.switch("same_cpu_crypt")?,
            submit_from_crypt_cpus: arguments.switch("submit_from_crypt_cpus")?,
        })
    }

    fn values(&self) -> Values {
        vec![
            ("format", Some(self.format.clone().into())),
            ("cipher", Some(self.cipher.clone().into())),
            ("key_size", Some(u64::from(self.key_bits).into())),
            ("sector_size", Some(self.sector_bytes.to_string().into())),
            ("no_read_workqueue", Some(self.no_read_workqueue.into())),
            ("no_write_workqueue", Some(self.no_write_workqueue.into())),
            ("same_cpu_crypt", Some(self.same_cpu_crypt.into())),
            ("submit_from_crypt_cpus", Some(self.submit_from_crypt_cpus.into())),
        ]
    }
}
