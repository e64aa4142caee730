//! Targets and arms as written on a command line: `base=/mnt/a`, `slow=mem + delay(latency=1ms)`.
//!
//! Whether a path exists, and its kind, is determined on the machine. After the syntax: how
//! workloads and targets relate.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use iotax_layers::{Error, Layer, LayerInfo, Nfs, Stack, numbered_from, quote_value};

use crate::engine::{Engine, PageCache};
use crate::spec::{Arm, Driver, Target};
use crate::workload::{Job, Workload};

impl Target {
    /// Reads a path or a stack.
    ///
    /// A stack starts with the name of a layer, followed by `(`, a space, `+` or nothing; `./mem`
    /// is the file with that name. Text in the form of a stack, `word(...)` or `word + ...`, is
    /// read as one even if the word is unknown, so that `ase + mem` is a misspelt stack and not a
    /// missing file. All other text is a path, kept as written.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text.is_empty() {
            let advice = "specify a path, or a stack such as mem(size=64M) + aes";
            return Err(Error::syntax("the target is empty", advice));
        }
        if let Some(layer) = of_url(text) {
            return Stack::parse(&layer).map(Self::Stack);
        }
        if looks_like_stack(text) {
            return Stack::parse(text).map(Self::Stack);
        }
        if text.contains('\0') {
            return Err(Error::syntax("a path cannot contain a NUL byte", ""));
        }
        let exported = Nfs::of_source(text).map(|nfs| Stack { layers: vec![Layer::Nfs(nfs)] });
        Ok(exported.map_or_else(|| Self::Path(PathBuf::from(text)), Self::Stack))
    }
}

/// The layer for the short form `tcp://host:port` or `ssh://host`.
fn of_url(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let rest = quote_value(rest.trim_end_matches('/'));
    match scheme {
        "tcp" => Some(format!("peer(address={rest})")),
        "ssh" => Some(format!("remote(host={rest})")),
        _ => None,
    }
}

fn looks_like_stack(text: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let next = rest.chars().next();
    if word.is_empty() {
        return false;
    }
    let spaced_plus = rest.starts_with(char::is_whitespace) && rest.trim_start().starts_with('+');
    match next {
        Some('(') => true,
        _ if LayerInfo::named(word).is_err() => spaced_plus,
        next => next.is_none_or(|c| c == '+' || c.is_whitespace()),
    }
}

/// Splits `name=TARGET` into its name, if it has one, and the text of the target.
///
/// A name consists of letters, digits, `.`, `_` and `-`. Text before the first `=` is read as a
/// name unless it contains a `/`, a bracket, a quote or a `+`, which only targets have.
pub(crate) fn split_name<'a>(
    text: &'a str,
    what: &str,
) -> Result<(Option<&'a str>, &'a str), Error> {
    let Some((name, target)) = text.split_once('=') else { return Ok((None, text)) };
    if name.contains(['/', '(', ')', '"', '+']) {
        return Ok((None, text));
    }
    let is_named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    match name.chars().find(|c| !is_named(*c)) {
        Some(_) => Err(Error::syntax(
            format!("`{name}` is not a valid {what} name"),
            "use letters, digits, `.`, `_` and `-`, as in base=/mnt/a",
        )),
        None if name.is_empty() => Err(Error::syntax(
            format!("`{text}` has no {what} name before the `=`"),
            "use base=TARGET",
        )),
        None => Ok((Some(name), target)),
    }
}

impl Arm {
    /// Reads `name=TARGET`, or a bare `TARGET`, which is named by its own canonical text.
    ///
    /// A relative path that contains `=` must be written `./a=b`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (name, target_text) = split_name(text, "arm")?;
        // `text` is trimmed, so the target is its end.
        let target_start = text.len() - target_text.trim_start().len();
        let target = Target::parse(target_text).map_err(|e| e.shifted(text, target_start))?;
        let name = name.map_or_else(|| target.to_string(), str::to_owned);
        Ok(Self::new(name, target))
    }
}

/// Reads the arms of one comparison; the first is the baseline.
///
/// Given names must differ. Bare targets that occur more than once (an A/A check) are numbered:
/// `/mnt/a`, `/mnt/a#2`.
pub fn parse_arms<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<Arm>, Error> {
    let (arms, repeats) = parse_repeated_arms(texts)?;
    match repeats.into_iter().next() {
        Some(Arm { name, .. }) => Err(Error::Duplicate { what: "arm", name }),
        None => Ok(arms),
    }
}

/// The same, followed by arms that already have names.
pub fn parse_repeated_arms<'a>(
    texts: impl IntoIterator<Item = &'a str>,
) -> Result<(Vec<Arm>, Vec<Arm>), Error> {
    let (mut arms, mut repeats): (Vec<Arm>, Vec<Arm>) = Default::default();
    let (mut taken, mut numbers) = (HashSet::new(), HashMap::new());
    for text in texts {
        refuse_too_many(arms.len() + 1)?;
        let mut arm = Arm::parse(text)?;
        if taken.contains(&arm.name) {
            if split_name(text.trim(), "arm")?.0.is_some() {
                repeats.push(arm);
                continue;
            }
            // Earlier arms already use the earlier numbers.
            let number = numbers.entry(arm.name.clone()).or_insert(2);
            (arm.name, *number) = numbered_from(*number, &arm.name, |name| taken.contains(name));
        }
        taken.insert(arm.name.clone());
        arms.push(arm);
    }
    Ok((arms, repeats))
}

/// Maximum number of arms in a comparison: a plan has a trial of each in every block.
const MAX_ARMS: usize = 4096;

pub(crate) fn refuse_too_many(arms: usize) -> Result<(), Error> {
    if arms <= MAX_ARMS {
        return Ok(());
    }
    let problem = format!("more than {MAX_ARMS} arms");
    Err(Error::syntax(problem, "compare fewer arms at a time, or remove levels of the matrix"))
}

/// The far end of a path to another host, or out of this namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere<'a> {
    /// As requested: `tcp://HOST:PORT`, `ssh://HOST`.
    pub name: String,
    /// Its name or address.
    pub host: &'a str,
    /// Whether the host is an ssh host, possibly an alias.
    pub is_for_ssh: bool,
}

impl Target {
    /// Where the path leads, if it was not created for this run.
    pub fn elsewhere(&self) -> Option<Elsewhere<'_>> {
        let (scheme, place, is_for_ssh) = match self.layers().first()? {
            Layer::Peer(peer) => ("tcp", &peer.address, false),
            Layer::Remote(remote) => ("ssh", &remote.host, true),
            _ => return None,
        };
        let host = place.rsplit_once(':').filter(|_| !is_for_ssh).map_or(place.as_str(), |at| at.0);
        Some(Elsewhere { name: format!("{scheme}://{place}"), host, is_for_ssh })
    }
}

impl Workload {
    /// Whether its load runs over a network path.
    pub fn is_network(&self) -> bool {
        self.jobs.iter().any(|job| job.engine.is_network())
    }

    /// The unit of work of the primary job: see [`Engine::unit`](crate::Engine::unit).
    pub fn unit(&self) -> &'static str {
        self.primary_job().map_or("I/O", |job| job.engine.unit())
    }

    /// Whether the primary job measures throughput in one direction.
    pub fn is_stream(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_stream())
    }

    /// Whether all its jobs are streams, some to the peer and some from it, so that the total of
    /// both directions is measured.
    pub fn goes_both_ways(&self) -> bool {
        self.jobs.iter().all(|job| job.engine.is_stream())
            && self.jobs.iter().any(Job::reads)
            && self.jobs.iter().any(Job::writes)
    }

    /// Whether the primary job sends datagrams.
    pub fn is_datagrams(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_datagrams())
    }

    /// Whether it is measured by bytes over a network path, not by single I/Os.
    pub fn moves_bytes(&self) -> bool {
        self.is_stream() || self.is_datagrams()
    }

    /// Whether the primary job measures the time until the response to a request.
    pub fn is_round_trips(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_round_trips())
    }

    /// Whether the primary job opens a connection for each request.
    pub fn is_connections(&self) -> bool {
        self.primary_job().is_some_and(|job| job.engine.is_connections())
    }
}

impl Arm {
    /// Options of `workload` without effect on this arm; empty if all have one.
    pub fn unheeded(&self, workload: &Workload) -> Vec<String> {
        if !self.target.is_in_process() || self.driver != Driver::Native {
            return Vec::new();
        }
        let from_file = workload.origin.is_some();
        workload.jobs.iter().filter_map(|job| job.unheeded(from_file)).collect()
    }
}

impl Job {
    fn unheeded(&self, from_file: bool) -> Option<String> {
        // fio's default is not a choice.
        let is_chosen = self.engine_asked || from_file && self.engine != Engine::Psync;
        let is_of_system = self.engine.info().cache != PageCache::Never && is_chosen;
        let engine = is_of_system.then(|| format!("engine={}", self.engine.name()));
        let sqpoll = self.sqpoll.then(|| "sqpoll".to_owned());
        let asked: Vec<String> = engine.into_iter().chain(sqpoll).collect();
        (!asked.is_empty()).then(|| {
            format!(
                "job {}: layers inside iotax bypass the kernel and ignore {}; to go through the \
                 kernel, mount the layers with vdisk(stack=\"...\")",
                self.name,
                asked.join(" and ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;
    use crate::abbreviated;

    fn is_stack(text: &str) -> bool {
        matches!(Target::parse(text), Ok(Target::Stack(_)))
    }

    #[test]
    fn layer_words_make_stacks() {
        for text in ["mem", "mem(size=64M)", "mem + aes", "mem+aes", "file(path=/mnt/a) + aes"] {
            assert!(is_stack(text), "{text}");
        }
    }

    #[test]
    fn many_arms_are_numbered_and_too_many_refused() {
        let arms = parse_arms(std::iter::repeat_n("mem", MAX_ARMS)).unwrap();
        assert_eq!(arms[MAX_ARMS - 1].name, format!("mem#{MAX_ARMS}"));
        assert_snapshot!(parse_arms(std::iter::repeat_n("mem", 40_000)).unwrap_err(), @"
        more than 4096 arms
        compare fewer arms at a time, or remove levels of the matrix
        ");
        let names: HashSet<_> = arms.iter().map(|arm| &arm.name).collect();
        assert_eq!(names.len(), MAX_ARMS);
        // A name that somebody gave is not given again.
        let arms = parse_arms(["mem", "mem#2", "mem"]).unwrap();
        assert_eq!(arms[2].name, "mem#3");
    }

    #[test]
    fn everything_else_is_a_path() {
        for text in ["/mnt/a", "./mem", "memory", "mem/a", "mem.img", "~/x", "a+b", "a b", "file-1"]
        {
            assert_eq!(Target::parse(text), Ok(Target::Path(PathBuf::from(text))), "{text}");
        }
    }

    #[test]
    fn urls_are_short_for_the_bases_of_network_paths() {
        let shown = |text: &str| Target::parse(text).unwrap().to_string();
        assert_eq!(shown("tcp://10.0.0.2:7474"), "peer(address=10.0.0.2:7474)");
        assert_eq!(shown("tcp://[fd00::2]:7474/"), "peer(address=[fd00::2]:7474)");
        assert_eq!(shown("ssh://root@db-1"), "remote(host=root@db-1)");
        assert_snapshot!(Target::parse("tcp://10.0.0.2").unwrap_err(), @"
        peer: address: is not host:port
          peer(address=10.0.0.2)
                       ^^^^^^^^ column 14
        for example 10.0.0.2:7474, or [fd00::2]:7474
        ");
        assert_snapshot!(Target::parse("ssh://-oProxyCommand=x").unwrap_err(), @r#"
        remote: host: is not a host name
          remote(host="-oProxyCommand=x")
                      ^^^^^^^^^^^^^^^^^^ column 13
        for example 10.0.0.2 or root@db-1.example.org
        "#);
    }

    #[test]
    fn what_a_server_exports_is_mounted() {
        let shown = |text: &str| Target::parse(text).unwrap().to_string();
        assert_eq!(shown("filer:/data/x"), "nfs(server=filer, export=/data/x)");
        assert_eq!(shown("10.0.0.5:/"), "nfs(server=10.0.0.5, export=/)");
        assert_eq!(shown("[fd00::5]:/data"), "nfs(server=fd00::5, export=/data)");
        for text in [
            "./filer:/data", "filer:/a\u{b}b", "ftp://filer:80", "e:/data", "a:b:/c", "-x:/y",
            "a,b:/c",
        ] {
            assert_eq!(Target::parse(text), Ok(Target::Path(PathBuf::from(text))), "{text}");
        }
    }

    #[test]
    fn text_of_a_stacks_shape_is_judged_as_one() {
        assert_snapshot!(abbreviated(Target::parse("mme(size=64M) + aes").unwrap_err()), @"
        unknown layer `mme`; did you mean `mem`?
          mme(size=64M) + aes
          ^^^ column 1
        known layers: ALL
        ");
        assert_snapshot!(abbreviated(Target::parse("ase + mem").unwrap_err()), @"
        unknown layer `ase`; did you mean `aes`?
          ase + mem
          ^^^ column 1
        known layers: ALL
        ");
        assert_snapshot!(Target::parse(" ").unwrap_err(), @"
        the target is empty
        specify a path, or a stack such as mem(size=64M) + aes
        ");
    }

    #[test]
    fn arms_split_at_the_first_equals_sign_only() {
        let text = "slow=mem(size=64M) + delay(latency=260us)";
        let arm = Arm::parse(text).unwrap();
        assert_eq!(arm.name, "slow");
        assert_eq!(arm.target.to_string(), "mem(size=64M) + delay(latency=260us)");
        assert_eq!(Arm::parse("base=/mnt/a=b").unwrap().target, Target::Path("/mnt/a=b".into()));
        assert_eq!(Arm::parse("./a=b").unwrap().target, Target::Path("./a=b".into()));
    }

    #[test]
    fn bare_targets_are_named_by_their_text() {
        let names = |texts: &[&str]| -> Vec<String> {
            let arms = parse_arms(texts.iter().copied()).unwrap();
            arms.into_iter().map(|arm| arm.name).collect()
        };
        assert_eq!(names(&["/mnt/a", "x=/mnt/b"]), ["/mnt/a", "x"]);
        assert_eq!(
            names(&["mem( size=64M )", "mem", "mem", "mem"]),
            ["mem(size=64M)", "mem", "mem#2", "mem#3"]
        );
    }

    #[test]
    fn arm_names_are_checked() {
        let error = |texts: &[&str]| parse_arms(texts.iter().copied()).unwrap_err().to_string();
        assert_snapshot!(error(&["a=/x", "a=/y"]), @"arm `a` is given twice");
        assert_snapshot!(error(&["my base=/x"]), @"
        `my base` is not a valid arm name
        use letters, digits, `.`, `_` and `-`, as in base=/mnt/a
        ");
        assert_snapshot!(error(&["=/x"]), @"
        `=/x` has no arm name before the `=`
        use base=TARGET
        ");
        assert_snapshot!(error(&["a="]), @"
        the target is empty
          a=
            ^ column 3
        specify a path, or a stack such as mem(size=64M) + aes
        ");
        assert_snapshot!(error(&["a=mem(size=64MB)"]), @"
        `64MB` is not a size: `MB` is ambiguous: fio reads it as 2^20 bytes, disk vendors as 10^6
          a=mem(size=64MB)
                     ^^^^ column 12
        use 64M or 64000000
        ");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in prop_oneof![".*", "(mem|aes|a|[=/(). +\"])*"]) {
            let _ = Target::parse(&text);
            let _ = Arm::parse(&text);
        }
    }
}

#[cfg(test)]
mod network_tests {
    use super::*;

    #[test]
    fn a_path_tells_where_it_leads() {
        let told = |text: &str| {
            let target = Target::parse(text).unwrap();
            target.elsewhere().map(|to| format!("{} {} {}", to.name, to.host, to.is_for_ssh))
        };
        let [v4, v6, ssh] =
            ["tcp://10.0.0.2:7474", "peer(address=\"[fd00::2]:74\") + tls", "ssh://root@db-1"]
                .map(told);
        assert_eq!(v4.as_deref(), Some("tcp://10.0.0.2:7474 10.0.0.2 false"));
        assert_eq!(v6.as_deref(), Some("tcp://[fd00::2]:74 [fd00::2] false"));
        assert_eq!(ssh.as_deref(), Some("ssh://root@db-1 root@db-1 true"));
        assert_eq!([told("netns"), told("/data"), told("mem")], [None, None, None]);
    }
}

#[cfg(test)]
mod unheeded_tests {
    use super::*;
    use crate::spec::Target;

    fn told(set: &[&str], target: &str) -> String {
        let mut workload = Workload::preset("randread-4k").unwrap();
        for text in set {
            workload.set(text).unwrap();
        }
        Arm::new("a", Target::parse(target).unwrap()).unheeded(&workload).join("\n")
    }

    #[test]
    fn an_engine_that_is_asked_for_and_not_used_is_said() {
        insta::assert_snapshot!(told(&["engine=psync"], "mem(size=4M)"), @"job io: layers inside iotax bypass the kernel and ignore engine=psync; to go through the kernel, mount the layers with vdisk(stack=\"...\")");
        insta::assert_snapshot!(told(&["sqpoll=1"], "mem(size=4M) + aes"), @"job io: layers inside iotax bypass the kernel and ignore sqpoll; to go through the kernel, mount the layers with vdisk(stack=\"...\")");
        insta::assert_snapshot!(told(&["engine=io_uring", "sqpoll=1"], "mem(size=4M)"), @"job io: layers inside iotax bypass the kernel and ignore engine=io_uring and sqpoll; to go through the kernel, mount the layers with vdisk(stack=\"...\")");
    }

    #[test]
    fn what_is_used_or_was_not_asked_for_is_not() {
        for (set, target) in [
            (&[][..], "mem(size=4M)"),
            (&["engine=vdisk"], "mem(size=4M)"),
            (&["engine=null"], "mem(size=4M)"),
            (&["engine=psync"], "/mnt"),
            (&["engine=psync"], "vdisk(stack=\"mem(size=4M)\")"),
        ] {
            assert_eq!(told(set, target), "", "{set:?} on {target}");
        }
    }
}
