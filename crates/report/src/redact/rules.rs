//! What has a form of its own.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// What kind of thing is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    Host,
    Ip,
    Mac,
    Uuid,
    /// Of an account, a subscription, an instance, a disk or another resource.
    Id,
    User,
    /// A password, a token, a signature.
    Secret,
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Ip => "ip",
            Self::Mac => "mac",
            Self::Uuid => "uuid",
            Self::Id => "id",
            Self::User => "user",
            Self::Secret => "secret",
        }
    }
}

/// A form, and what it is.
pub(super) struct Rule {
    pub(super) kind: Kind,
    regex: Regex,
    is_secret: fn(&str) -> bool,
}

impl Rule {
    /// The next secret at or after `from`: group `s` of the form, or all of it.
    pub(super) fn find(&self, text: &str, mut from: usize) -> Option<Range<usize>> {
        while let Some(captures) = self.regex.captures_at(text, from) {
            let all = captures.get(0)?;
            let found = captures.name("s").unwrap_or(all);
            // Addresses take in a separator at either end that is not theirs.
            let range = match self.kind {
                Kind::Ip => trimmed(text, found.range()),
                _ => found.range(),
            };
            if (self.is_secret)(&text[range.clone()]) && !is_placeholder(&text[range.clone()]) {
                return Some(range);
            }
            from = found.end().max(from + 1);
            if from > text.len() {
                return None;
            }
            while !text.is_char_boundary(from) {
                from += 1;
            }
        }
        None
    }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let address = &text[range.clone()];
    let mut cut = range;
    if address.ends_with('.') || (address.ends_with(':') && !address.ends_with("::")) {
        cut.end -= 1;
    }
    if address.starts_with(':') && !address.starts_with("::") {
        cut.start += 1;
    }
    cut
}

/// Whether a text is one of ours.
pub(super) fn is_placeholder(text: &str) -> bool {
    let words = ["host", "ip", "mac", "uuid", "id", "user", "secret"];
    text.rsplit_once('-').is_some_and(|(word, number)| {
        words.contains(&word) && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Values that are secret by their names, in options and addresses.
const SECRETS: &str = r"(?i)(?:pass|password|passwd|passphrase|secret|token|key|session|sig|signature|sas)=(?P<s>[^,&;\s]+)";

/// Forms that nothing else has.
pub(super) fn specific() -> impl Iterator<Item = &'static Rule> {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        vec![
            rule(Kind::Secret, SECRETS),
            rule(Kind::Secret, r"\bA(?:KI|SI)A[0-9A-Z]{16}\b"),
            rule(Kind::Id, r"(?i)\baccount_?name=(?P<s>[^,&;\s]+)"),
            rule(Kind::Host, r"(?i)\b(?:mounthost|unc)=(?P<s>[^,&;\s]+)"),
            rule(Kind::Id, r#"(?i)/subscriptions/(?P<s>[^/\s"',;)]+)"#),
            rule(Kind::Id, r#"(?i)/resourceGroups/(?P<s>[^/\s"',;)]+)"#),
            rule(Kind::Id, r#"(?i)/providers/[^/\s]+/[^/\s]+/(?P<s>[^/\s"',;)]+)"#),
            rule(
                Kind::Id,
                r"(?i)\b(?:projects|instances|disks|volumes|snapshots)/(?P<s>[a-z0-9](?:[a-z0-9._:-]*[a-z0-9])?)",
            ),
            rule(Kind::Id, r"\bocid1\.[a-z0-9._-]+"),
            rule(Kind::Id, r#"\barn:[a-z-]+:[^\s"',;)]+"#),
            // With underscores, too: groups of pods.
            rule(Kind::Uuid, r"[0-9a-fA-F]{8}[-_](?:[0-9a-fA-F]{4}[-_]){3}[0-9a-fA-F]{12}"),
            rule(
                Kind::Id,
                r"\b(?:i|vol|snap|eni|fs|fsap|fsvol|subnet|vpc|sg|ami|lt|r)-[0-9a-f]{8,17}\b",
            ),
            rule(Kind::Id, r"vol[0-9a-f]{17}"),
            rule(
                Kind::Id,
                r#"/dev/disk/by-(?:id|uuid|partuuid|label|partlabel)/(?P<s>[^/\s"',;)]+)"#,
            ),
            rule(Kind::Id, r"(?i)\b(?:wwn-|nvme-eui\.|naa\.|eui\.|scsi-)(?:0x)?[0-9a-f]{8,64}"),
            // Containers, multipath devices, machine ids.
            rule(Kind::Id, r"\b[0-9a-f]{32,64}\b"),
            rule(Kind::Id, r"\b0x[0-9a-f]{16}\b"),
            rule(Kind::Id, r"\buser-(?P<s>[0-9]+)\.slice\b"),
            rule(Kind::User, r"\b(?:username|user|domain|name|cruid)=(?P<s>[^,\s]+)"),
            rule(Kind::Mac, r"\b(?:[0-9a-fA-F]{2}[:-]){5,19}[0-9a-fA-F]{2}\b"),
            Rule {
                is_secret: is_ipv6,
                // Not within a word: `std::fmt` has an address in it.
                ..rule(
                    Kind::Ip,
                    r"(?:^|[^0-9A-Za-z_])(?P<s>[0-9A-Fa-f]*:[0-9A-Fa-f]*:[0-9A-Fa-f:.]*)",
                )
            },
            Rule { is_secret: is_ipv4, ..rule(Kind::Ip, r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b") },
        ]
    });
    RULES.iter()
}

/// Forms of names, which known names are looked for before.
pub(super) fn general() -> impl Iterator<Item = &'static Rule> {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        vec![
            rule(Kind::User, r"(?P<s>[A-Za-z0-9_][A-Za-z0-9._-]*)@[A-Za-z0-9]"),
            rule(Kind::Host, r"[A-Za-z0-9_.-]@(?P<s>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)"),
            rule(Kind::User, HOMES),
            // Servers of NFS and CIFS, and of anything with an address.
            rule(Kind::Host, r#"(?:^|[\s=,("'\[])(?P<s>[A-Za-z0-9][A-Za-z0-9._-]*):/(?:[^/]|$)"#),
            rule(Kind::Host, r#"(?:^|[\s=,("':])//(?P<s>[A-Za-z0-9][A-Za-z0-9._-]*)"#),
            rule(
                Kind::Host,
                r"\b(?:server|host|hostname|addr|clientaddr|mountaddr)=(?P<s>[A-Za-z0-9][A-Za-z0-9._-]*)",
            ),
            rule(
                Kind::Host,
                r"(?i)\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:internal|local|lan|corp|intra|intranet|localdomain|home|arpa|com|net|org|edu|gov|mil|cloud)\b",
            ),
            Rule {
                is_secret: |text| !FILES.iter().any(|file| text.ends_with(file)),
                ..rule(
                    Kind::Host,
                    r"\b[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+\.(?:[a-z]{2}|dev|app|cluster)\b",
                )
            },
        ]
    });
    RULES.iter()
}

/// Endings of files that look like those of countries.
const FILES: [&str; 9] = [".gz", ".xz", ".sh", ".so", ".md", ".py", ".rs", ".js", ".ko"];

/// Users' directories.
const HOMES: &str = r#"/(?:home|Users|media|run/media)/(?P<s>[^/\s"',;:)]+)"#;

/// Who a text says works on which host: `NAME@HOST`.
pub(super) fn logins(text: &str) -> impl Iterator<Item = (&str, &str)> {
    static LOGIN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?P<u>[A-Za-z0-9_][A-Za-z0-9._-]*)@(?P<h>[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)",
        )
        .expect("a constant")
    });
    LOGIN
        .captures_iter(text)
        .filter_map(|captures| Some((captures.name("u")?.as_str(), captures.name("h")?.as_str())))
}

/// The users whose directories a text names.
pub(super) fn users(text: &str) -> impl Iterator<Item = &str> {
    static HOME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"/(?:home|Users)/(?P<s>[^/\s"',;:)]+)"#).expect("a constant")
    });
    HOME.captures_iter(text).filter_map(|captures| Some(captures.name("s")?.as_str()))
}

fn rule(kind: Kind, pattern: &str) -> Rule {
    let regex = Regex::new(pattern).expect("a constant");
    Rule { kind, regex, is_secret: |_| true }
}

fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok_and(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok_and(|ip| !ip.is_loopback() && !ip.is_unspecified())
}
