//! Device-mapper encryption.

use crate::declaration::prelude::*;

/// Device-mapper encryption, with the flags of its table line.
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
    /// The thread that encrypted a write submits it.
    pub submit_from_crypt_cpus: bool,
}

/// The work-queue options exist since 2.3.4 (and Linux 5.9). If only the patch level is too low,
/// cryptsetup itself refuses them.
const CRYPTSETUP: Need = Need::program_since("cryptsetup", "cryptsetup-bin", 2, 3);

impl Declared for Dmcrypt {
    const WORDS: &'static [LayerInfo] = &[LayerInfo {
        name: "dmcrypt",
        about: "device-mapper encryption (dm-crypt), as inside a VM",
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
        parameters: Self::PARAMETERS,
        ..IN_SYSTEM
    }];

    parameters! {
        format: parameter("format", Unit::Choice(&["plain", "luks2"]), Some("plain"),
            "plain (no header), or with a LUKS2 header"),
        cipher: parameter("cipher", Unit::Name, Some("aes-xts-plain64"), "cipher, mode and IV"),
        key_bits: parameter("key_size", Unit::Count, Some("512"),
            "key size in bits; XTS splits it into two keys"),
        sector_bytes: parameter("sector_size", Unit::Choice(&["512", "1024", "2048", "4096"]), Some("512"),
            "size of an encryption sector in bytes"),
        no_read_workqueue: parameter("no_read_workqueue", Unit::Switch, Some("false"),
            "decrypt in the context that completes the read"),
        no_write_workqueue: parameter("no_write_workqueue", Unit::Switch, Some("false"),
            "encrypt in the context that submits the write"),
        same_cpu_crypt: parameter("same_cpu_crypt", Unit::Switch, Some("false"),
            "encrypt on the submitting CPU"),
        submit_from_crypt_cpus: parameter("submit_from_crypt_cpus", Unit::Switch, Some("false"),
            "submit writes without the extra thread that sorts them"),
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let is_size = self.key_bits.is_multiple_of(8) && self.key_bits <= 512;
        let advice = "for example 512 for AES-XTS with 256 bits of strength";
        arguments.demand(is_size, "key_size", "must be a multiple of 8, at most 512", advice)?;
        let may_be = |c: char| c.is_ascii_alphanumeric() || "-_:(),".contains(c);
        let is_cipher = !self.cipher.starts_with('-') && self.cipher.chars().all(may_be);
        arguments.demand(is_cipher, "cipher", "is not a cipher", "for example aes-xts-plain64")
    }
}
