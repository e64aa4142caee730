//! Encryption by the kernel: device mapper's, with or without a LUKS header.

use crate::declaration::prelude::*;

/// Device-mapper encryption, with the flags of its table line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of dm-crypt, independent of each other"
)]
pub struct Dmcrypt {
    /// `plain`, which has no header, or `luks2`.
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

const NEEDS: &[Need] = &[
    Need::Root,
    CRYPTSETUP,
    Need::program("dmsetup", "dmsetup"),
    Need::Device { path: "/dev/mapper/control", module: "dm-mod" },
    Need::Module { module: "dm-crypt", about: "device mapper encryption (dm-crypt)" },
];

/// The two names differ in the header alone.
const fn word(name: &'static str, about: &'static str, example: &'static str) -> LayerInfo {
    LayerInfo {
        name,
        about,
        example,
        takes: &[Form::Block],
        gives: Some(Form::Block),
        does: Does::Encrypts,
        needs: NEEDS,
        parameters: Dmcrypt::PARAMETERS,
        ..IN_SYSTEM
    }
}

/// `format` of each name.
const FORMATS: [&str; 2] = ["luks2", "plain"];

impl Dmcrypt {
    /// Whether it has a LUKS header.
    pub fn is_luks(&self) -> bool {
        self.format == FORMATS[0]
    }
}

impl Declared for Dmcrypt {
    const WORDS: &'static [LayerInfo] = &[
        word(
            "luks",
            "LUKS2 in the kernel (dm-crypt), as on laptops and servers",
            "luks(no_read_workqueue, no_write_workqueue)",
        ),
        word(
            "dmcrypt",
            "dm-crypt without a LUKS header (plain)",
            "dmcrypt(no_read_workqueue, no_write_workqueue)",
        ),
    ];

    fn word(&self) -> usize {
        usize::from(!self.is_luks())
    }

    const PARAMETERS: &'static [Parameter] = &[
        parameter("cipher", Unit::Name, Some("aes-xts-plain64"), "cipher, mode and IV"),
        parameter(
            "key_size",
            Unit::Count,
            Some("512"),
            "key size in bits; XTS splits it into two keys",
        ),
        parameter(
            "sector_size",
            Unit::Choice(&["512", "1024", "2048", "4096"]),
            Some("512"),
            "encryption sector size in bytes",
        ),
        switch("no_read_workqueue", "decrypt in the context that completes the read"),
        switch("no_write_workqueue", "encrypt in the context that submits the write"),
        switch("same_cpu_crypt", "encrypt on the submitting CPU"),
        switch("submit_from_crypt_cpus", "submit writes without the extra thread that sorts them"),
    ];

    fn from_arguments(arguments: &Arguments<'_>) -> Result<Self, Error> {
        let word = Self::WORDS.iter().position(|info| info.name == arguments.word());
        Ok(Self {
            format: FORMATS[word.expect("it was found by one of its words")].to_owned(),
            cipher: Field::from_argument(arguments, "cipher")?,
            key_bits: Field::from_argument(arguments, "key_size")?,
            sector_bytes: Field::from_argument(arguments, "sector_size")?,
            no_read_workqueue: Field::from_argument(arguments, "no_read_workqueue")?,
            no_write_workqueue: Field::from_argument(arguments, "no_write_workqueue")?,
            same_cpu_crypt: Field::from_argument(arguments, "same_cpu_crypt")?,
            submit_from_crypt_cpus: Field::from_argument(arguments, "submit_from_crypt_cpus")?,
        })
    }

    fn values(&self) -> Values {
        vec![
            ("cipher", self.cipher.value()),
            ("key_size", self.key_bits.value()),
            ("sector_size", self.sector_bytes.value()),
            ("no_read_workqueue", self.no_read_workqueue.value()),
            ("no_write_workqueue", self.no_write_workqueue.value()),
            ("same_cpu_crypt", self.same_cpu_crypt.value()),
            ("submit_from_crypt_cpus", self.submit_from_crypt_cpus.value()),
        ]
    }

    fn validate(&self, arguments: &Arguments<'_>) -> Result<(), Error> {
        let is_size = self.key_bits.is_multiple_of(8) && self.key_bits <= 512;
        let advice = "for example 512 for AES-XTS with 256-bit strength";
        arguments.demand(is_size, "key_size", "must be a multiple of 8, at most 512", advice)?;
        let may_be = |c: char| c.is_ascii_alphanumeric() || "-_:(),".contains(c);
        let is_cipher = !self.cipher.starts_with('-') && self.cipher.chars().all(may_be);
        arguments.demand(is_cipher, "cipher", "is not a cipher", "for example aes-xts-plain64")
    }
}

const fn switch(name: &'static str, about: &'static str) -> Parameter {
    parameter(name, Unit::Switch, Some("false"), about)
}
