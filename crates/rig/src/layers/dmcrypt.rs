//! Device mapper's encryption, set up by cryptsetup.
//!
//! The key is passed through standard input. For `plain` it is used directly: cryptsetup would hash
//! it with RIPEMD-160, which newer cryptographic libraries no longer have.

use std::fs;
use std::path::Path;

use iotax_layers::Dmcrypt;

use crate::layers::maker::prelude::*;

/// Space that cryptsetup reserves by default for a LUKS2 header and its key slots.
const LUKS2_HEADER_BYTES: u64 = 16 << 20;

impl System for Dmcrypt {
    fn overhead_bytes(&self) -> u64 {
        if self.is_luks() { LUKS2_HEADER_BYTES } else { 0 }
    }

    fn make(&self, below: Top, context: &mut BuildContext<'_>) -> Result<Top, Error> {
        if self.is_luks() {
            context.run(format(self, &below.path, context)?)?;
        }
        let name = format!("iotax-{}", new_token()?);
        context.journal.announce(Entry::Mapping { name: name.clone() })?;
        context.run(open(self, &below.path, &name, context))?;
        verify(self, &context.run(Program::new("dmsetup").args(["table", &name]))?)?;
        let node = Path::new("/dev/mapper").join(&name);
        let found = fs::canonicalize(&node);
        found.map(Top::block).map_err(Error::cannot("find the device node of this mapping", &node))
    }
}

/// Encryption options: given when a header is made, or when there is none.
fn geometry(crypt: &Dmcrypt) -> [String; 6] {
    let option = str::to_owned;
    [
        option("--cipher"),
        crypt.cipher.clone(),
        option("--key-size"),
        crypt.key_bits.to_string(),
        option("--sector-size"),
        crypt.sector_bytes.to_string(),
    ]
}

/// Flags of the table line, and whether they are requested.
fn flags(crypt: &Dmcrypt) -> [(&'static str, bool); 4] {
    [
        ("no_read_workqueue", crypt.no_read_workqueue),
        ("no_write_workqueue", crypt.no_write_workqueue),
        ("same_cpu_crypt", crypt.same_cpu_crypt),
        ("submit_from_crypt_cpus", crypt.submit_from_crypt_cpus),
    ]
}

fn format(crypt: &Dmcrypt, below: &Path, context: &BuildContext<'_>) -> Result<Program, Error> {
    // A slow key derivation protects pass phrases; random keys do not need it.
    let format = Program::new("cryptsetup")
        .args(["luksFormat", "--batch-mode", "--disable-locks", "--type", "luks2"])
        .args(["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"])
        .args(geometry(crypt))
        .args(["--uuid", &context.mark.uuid()?, "--key-file", "-"]);
    Ok(format.arg(below).input(context.key.text().as_bytes()))
}

fn open(crypt: &Dmcrypt, below: &Path, name: &str, context: &BuildContext<'_>) -> Program {
    let asked = flags(crypt).into_iter().filter(|(_, asked)| *asked);
    let open = Program::new("cryptsetup")
        .args(["open", "--batch-mode", "--disable-locks", "--key-file", "-"])
        .args(asked.map(|(flag, _)| format!("--perf-{flag}")));
    let open = if crypt.is_luks() {
        open.args(["--type", "luks2"]).input(context.key.text().as_bytes())
    } else {
        let key_bytes = (crypt.key_bits / 8) as usize;
        let key = context.key.bytes();
        open.args(["--type", "plain", "--hash", "plain"])
            .args(geometry(crypt))
            .input(&key[..key_bytes.min(key.len())])
    };
    open.arg(below).arg(name)
}

/// Checks that the kernel's table line matches the request, because kernels and programs silently
/// drop flags that they do not know.
fn verify(crypt: &Dmcrypt, line: &str) -> Result<(), Error> {
    let differs = |asked: String, made: String| {
        let remedy = "use a newer kernel and cryptsetup";
        let layer = if crypt.is_luks() { "luks" } else { "dmcrypt" };
        Err(Error::NotAsAsked { layer, asked, made, remedy })
    };
    let Some(table) = Table::parse(line) else {
        return differs("a crypt mapping".to_owned(), format!("`{line}`"));
    };
    if table.cipher != crypt.cipher {
        return differs(crypt.cipher.clone(), table.cipher.to_owned());
    }
    for (flag, asked) in flags(crypt) {
        let made = table.options.contains(&flag);
        if made != asked {
            return differs(format!("{flag}={asked}"), format!("{flag}={made}"));
        }
    }
    let sector = table.options.iter().find_map(|option| option.strip_prefix("sector_size:"));
    let made = sector.unwrap_or("512");
    if made != crypt.sector_bytes.to_string() {
        let asked = format!("sector_size={}", crypt.sector_bytes);
        return differs(asked, format!("sector_size={made}"));
    }
    Ok(())
}

/// The table line of a crypt target, as in the kernel's `Documentation/admin-guide/device-mapper/
/// dm-crypt.rst`, with its length in front:
/// `0 1048576 crypt aes-xts-plain64 <key> 0 98:0 0 2 no_read_workqueue no_write_workqueue`.
struct Table<'a> {
    cipher: &'a str,
    options: Vec<&'a str>,
}

impl<'a> Table<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(2);
        if words.next()? != "crypt" {
            return None;
        }
        let cipher = words.next()?;
        let (_key, _iv_offset, _device, _offset) =
            (words.next()?, words.next()?, words.next()?, words.next()?);
        let count = words.next().map_or(Some(0), |count| count.parse().ok())?;
        let options: Vec<_> = words.collect();
        (options.len() == count).then_some(Self { cipher, options })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Dmcrypt {
        Dmcrypt {
            format: "plain".into(),
            cipher: "aes-xts-plain64".into(),
            key_bits: 512,
            sector_bytes: 512,
            no_read_workqueue: true,
            no_write_workqueue: true,
            same_cpu_crypt: false,
            submit_from_crypt_cpus: false,
        }
    }

    fn plain() -> Dmcrypt {
        Dmcrypt { no_read_workqueue: false, no_write_workqueue: false, ..asked() }
    }

    const BYPASSED: &str =
        "0 524288 crypt aes-xts-plain64 0000 0 98:0 0 2 no_read_workqueue no_write_workqueue";
    const AS_IT_COMES: &str = "0 524288 crypt aes-xts-plain64 0000 0 98:0 0";
    const LUKS2: &str = "0 32768 crypt capi:xts(aes)-plain64 :64:logon:cryptsetup:5d1c-d0 0 7:0 \
                         32768 3 same_cpu_crypt submit_from_crypt_cpus sector_size:4096";

    #[test]
    fn tables_that_say_what_was_asked_for_pass() {
        verify(&asked(), BYPASSED).unwrap();
        verify(&plain(), AS_IT_COMES).unwrap();
        let luks = Dmcrypt {
            cipher: "capi:xts(aes)-plain64".into(),
            same_cpu_crypt: true,
            submit_from_crypt_cpus: true,
            sector_bytes: 4096,
            ..plain()
        };
        verify(&luks, LUKS2).unwrap();
    }

    #[test]
    fn what_was_dropped_or_added_is_named() {
        let told = |crypt: &Dmcrypt, line: &str| verify(crypt, line).unwrap_err().to_string();
        insta::assert_snapshot!(told(&asked(), AS_IT_COMES), @"dmcrypt: no_read_workqueue=true was requested, but the kernel reports no_read_workqueue=false; use a newer kernel and cryptsetup");
        insta::assert_snapshot!(told(&plain(), BYPASSED), @"dmcrypt: no_read_workqueue=false was requested, but the kernel reports no_read_workqueue=true; use a newer kernel and cryptsetup");
        let large = Dmcrypt { sector_bytes: 4096, ..plain() };
        insta::assert_snapshot!(told(&large, AS_IT_COMES), @"dmcrypt: sector_size=4096 was requested, but the kernel reports sector_size=512; use a newer kernel and cryptsetup");
        let serpent = Dmcrypt { cipher: "serpent-xts-plain64".into(), ..plain() };
        insta::assert_snapshot!(told(&serpent, AS_IT_COMES), @"dmcrypt: serpent-xts-plain64 was requested, but the kernel reports aes-xts-plain64; use a newer kernel and cryptsetup");
        insta::assert_snapshot!(told(&plain(), "0 8 linear 8:0 0"), @"dmcrypt: a crypt mapping was requested, but the kernel reports `0 8 linear 8:0 0`; use a newer kernel and cryptsetup");
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".*", words in "0 8 crypt( [a-z0-9:]{0,9}){0,9}") {
            Table::parse(&text);
            Table::parse(&words);
        }
    }
}
