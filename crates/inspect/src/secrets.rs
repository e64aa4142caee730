//! Removes passwords and tokens from mounts, even in records that stay on this machine.

/// Option names, or their endings, whose values are secret.
const SECRET: [&str; 11] = [
    "pass", "password", "passwd", "passphrase", "secret", "token", "key", "session", "sig",
    "signature", "sas",
];
const HIDDEN: &str = "***";

/// A list of options without secret values.
pub(crate) fn without_secrets(options: &str) -> String {
    let clean = options.split(',').map(|option| match option.split_once('=') {
        Some((name, value)) if !value.is_empty() && is_secret(name) => format!("{name}={HIDDEN}"),
        _ => option.to_owned(),
    });
    clean.collect::<Vec<_>>().join(",")
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|secret| name.ends_with(secret))
}

/// The source of a mount, without the password and the query of an address:
/// `//user:***@server/share?***`.
pub(crate) fn without_login(source: &str) -> String {
    let (address, query) = source.split_once('?').map_or((source, ""), |(a, _)| (a, "?***"));
    let Some((scheme, rest)) = address.split_once("//") else { return source.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let login = authority.rsplit_once('@').and_then(|(login, host)| {
        let (user, _password) = login.split_once(':')?;
        Some(format!("{user}:{HIDDEN}@{host}"))
    });
    format!("{scheme}//{}{path}{query}", login.as_deref().unwrap_or(authority))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_of_secret_options_are_hidden() {
        let told = "rw,vers=3.0,password=hunter2,accountkey=a=b,sec=krb5,passphrase=,uid=0";
        let kept = "rw,vers=3.0,password=***,accountkey=***,sec=krb5,passphrase=,uid=0";
        assert_eq!(without_secrets(told), kept);
    }

    #[test]
    fn an_address_keeps_its_host_and_path() {
        let cases = [
            ("//user:hunter2@files.example/share?sig=x", "//user:***@files.example/share?***"),
            ("https://a@b/c", "https://a@b/c"),
            ("//server/share", "//server/share"),
            ("server:/export?x", "server:/export?x"),
            ("/dev/sda1", "/dev/sda1"),
        ];
        for (source, kept) in cases {
            assert_eq!(without_login(source), kept);
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "\\PC*") {
            without_secrets(&text);
            without_login(&text);
        }
    }
}
