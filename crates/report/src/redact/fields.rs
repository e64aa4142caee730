//! The allow-list of fields: the permitted contents of each string in a record's head and in a
//! machine.
//!
//! Numbers and booleans are kept; the types of the format guarantee that these fields contain
//! nothing else. Keywords of the format are also kept. A string without a rule here fails in
//! `tests`.

use std::sync::LazyLock;

use regex::Regex;

use super::words::Kind;

/// The rule for a field.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    /// A keyword of the format; other values cannot be parsed.
    Format,
    /// Text: listed words are kept, others become pseudonyms.
    Text(Kind),
    /// A single name or path, including blanks.
    Whole(Kind),
    /// A name that always becomes a pseudonym.
    Always(Kind),
    /// A value in this format, such as a time.
    Form(&'static LazyLock<Regex>),
    /// The kernel's release.
    Kernel,
    /// The model of a processor.
    Processor,
    /// The model of a device.
    Device,
    Drop,
}

static TIME: LazyLock<Regex> =
    LazyLock::new(|| form(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z"));
/// Three numbers; four may be an address.
static VERSION: LazyLock<Regex> = LazyLock::new(|| form(r"\d{1,3}\.\d{1,3}\.\d{1,3}"));
static REGION: LazyLock<Regex> = LazyLock::new(|| {
    let side = "north|south|east|west|central|northeast|northwest|southeast|southwest";
    let land = "africa|ap|asia|australia|austria|brazil|ca|canada|chile|china|cn|eu|europe|france|\
                germany|il|india|indonesia|israel|italy|japan|jio|korea|malaysia|me|mexico|mx|\
                newzealand|northamerica|norway|poland|qatar|sa|southamerica|spain|sweden|\
                switzerland|uae|uk|us";
    form(&format!(
        "(?:{land})-(?:gov-)?(?:{side})-?[0-9]{{1,2}}(?:-?[a-f])?|(?:{side}|{land}){{1,4}}[0-9]?"
    ))
});

fn form(pattern: &str) -> Regex {
    Regex::new(&format!("^(?:{pattern})$")).expect("a constant")
}

/// Objects, fields and their rules. For objects in a list, the name of the list.
const RULES: &[(&str, &str, Rule)] = &[
    // Records.
    ("experiment machine", "iotax_version", Rule::Form(&VERSION)),
    ("experiment", "started", Rule::Form(&TIME)),
    // It links records of the same owner.
    ("experiment", "id", Rule::Drop),
    ("hosts", "id", Rule::Always(Kind::Host)),
    ("hosts", "role", Rule::Format),
    ("experiment", "command", Rule::Text(Kind::Word)),
    ("environment", "host", Rule::Always(Kind::Host)),
    ("environment", "kernel", Rule::Kernel),
    ("environment", "cpu_model", Rule::Processor),
    ("environment", "os cpu_governor hypervisor", Rule::Text(Kind::Word)),
    ("cloud instance", "region", Rule::Form(&REGION)),
    ("cloud", "roles", Rule::Format),
    ("cloud instance", "cloud vm variant caching disks security_type", Rule::Text(Kind::Model)),
    ("disks", "kind tier caching", Rule::Text(Kind::Model)),
    ("disks", "name", Rule::Always(Kind::Device)),
    // The request.
    ("spec", "design source undecided", Rule::Format),
    ("spec", "suite", Rule::Whole(Kind::Workload)),
    ("side_phases", "role", Rule::Format),
    ("role", "depth", Rule::Format),
    // See `Redactor::experiment`.
    ("spec", "fail_if", Rule::Drop),
    ("stop", "mode", Rule::Format),
    ("arms", "driver", Rule::Format),
    // Commands of the user, with any content.
    ("host_commands", "before after", Rule::Whole(Kind::Word)),
    ("host_commands", "directory", Rule::Whole(Kind::Path)),
    ("arms", "name against", Rule::Text(Kind::Arm)),
    // Names of targets in jobs.
    ("arms", "part", Rule::Whole(Kind::Arm)),
    ("several targets", "name", Rule::Whole(Kind::Arm)),
    ("jobs", "target", Rule::Whole(Kind::Arm)),
    ("recording", "path", Rule::Whole(Kind::Path)),
    ("logs", "others", Rule::Whole(Kind::Path)),
    // It tells two recordings apart; the recordings themselves contain no names.
    ("recording", "hash", Rule::Always(Kind::Path)),
    ("recording", "arrivals uncut", Rule::Format),
    ("levels", "factor level", Rule::Text(Kind::Arm)),
    ("peel", "layers", Rule::Text(Kind::Arm)),
    ("target", "path", Rule::Whole(Kind::Path)),
    ("layers parts", "layer kind counts", Rule::Format),
    ("layers parts", "path export", Rule::Whole(Kind::Path)),
    ("layers", "server", Rule::Always(Kind::Host)),
    ("layers parts", "group", Rule::Whole(Kind::Group)),
    ("asked made", "caching", Rule::Format),
    ("asked", "vm variant disks", Rule::Text(Kind::Model)),
    ("made", "name", Rule::Text(Kind::Model)),
    ("layers made parts", "notes what", Rule::Text(Kind::Word)),
    ("sources", "text as_of", Rule::Text(Kind::Word)),
    ("layers", "vers sec xprtsec cipher format mkfs mount", Rule::Text(Kind::Word)),
    ("phases", "name", Rule::Whole(Kind::Workload)),
    ("phases", "primary", Rule::Whole(Kind::Job)),
    ("phases", "yields", Rule::Format),
    ("phases", "about notes origin", Rule::Text(Kind::Word)),
    ("origin", "tools", Rule::Text(Kind::Word)),
    // See `Redactor::experiment`.
    ("requires", "rule source", Rule::Drop),
    ("jobs", "engine pattern write_pattern files pace bound trims", Rule::Format),
    ("zoned", "extent", Rule::Format),
    ("priority", "class", Rule::Format),
    ("numa", "memory", Rule::Format),
    ("jobs", "name", Rule::Whole(Kind::Job)),
    ("files", "shared", Rule::Whole(Kind::File)),
    ("operations", "operation", Rule::Format),
    ("fio", "name place beyond", Rule::Text(Kind::Word)),
    // Layers under a path.
    ("sites site", "kind notes caches file_system", Rule::Text(Kind::Word)),
    ("sites site", "mean_latency", Rule::Format),
    ("sites site", "target storage_id", Rule::Text(Kind::Path)),
    ("sites site", "device", Rule::Whole(Kind::Device)),
    ("sites site", "device_model", Rule::Device),
    ("sites site", "device_id", Rule::Always(Kind::Device)),
    ("placed", "cluster node zone class", Rule::Always(Kind::Host)),
    ("known", "scope", Rule::Text(Kind::Word)),
    ("known", "of", Rule::Whole(Kind::Path)),
    ("known", "direction", Rule::Format),
    ("machine", "note", Rule::Text(Kind::Word)),
    ("machine", "taken", Rule::Form(&TIME)),
    ("paths", "kind", Rule::Format),
    ("paths", "path directory", Rule::Whole(Kind::Path)),
    // It repeats the path.
    ("paths", "shell", Rule::Drop),
    ("paths", "problem", Rule::Text(Kind::Word)),
    ("unseen", "what how", Rule::Text(Kind::Word)),
    ("mount", "mount_point source", Rule::Whole(Kind::Path)),
    ("mount", "file_system options super_options features number contents", Rule::Text(Kind::Word)),
    ("nfs", "options", Rule::Text(Kind::Word)),
    ("transports", "protocol", Rule::Text(Kind::Word)),
    ("listener", "program", Rule::Text(Kind::Word)),
    ("zfs", "primary_cache sync compression", Rule::Text(Kind::Word)),
    ("vdevs", "role kind", Rule::Text(Kind::Word)),
    ("raid", "action bitmap policy", Rule::Text(Kind::Word)),
    ("route", "destination gateway source", Rule::Always(Kind::Host)),
    ("interface", "name", Rule::Whole(Kind::Device)),
    ("interface", "kind driver state", Rule::Text(Kind::Word)),
    ("interface", "served_by", Rule::Whole(Kind::Path)),
    ("qdiscs", "kind handle", Rule::Text(Kind::Word)),
    ("network", "namespace", Rule::Drop),
    ("encrypting", "interface", Rule::Whole(Kind::Device)),
    ("encrypting", "plugin", Rule::Text(Kind::Word)),
    ("tcp", "congestion_control", Rule::Text(Kind::Word)),
    ("network", "server", Rule::Always(Kind::Host)),
    ("network", "interface", Rule::Whole(Kind::Device)),
    ("network", "kind", Rule::Text(Kind::Word)),
    ("device", "kind used_as", Rule::Format),
    ("device", "model", Rule::Device),
    ("device", "number transport raid_level", Rule::Text(Kind::Word)),
    ("device mapping", "name", Rule::Whole(Kind::Device)),
    ("queue", "scheduler write_cache zoned", Rule::Text(Kind::Word)),
    ("mapping", "maker", Rule::Text(Kind::Word)),
    ("targets", "kind parameters", Rule::Text(Kind::Word)),
    ("targets", "version", Rule::Form(&VERSION)),
    ("crypt", "cipher flags integrity", Rule::Text(Kind::Word)),
    ("loop_file swaps", "path", Rule::Whole(Kind::Path)),
    ("groups", "version", Rule::Text(Kind::Word)),
    ("io cpu memory", "group file path directory", Rule::Whole(Kind::Path)),
    ("confidential", "kind seen_in log", Rule::Text(Kind::Word)),
    ("kernel", "xts_driver", Rule::Text(Kind::Word)),
];

/// The rule of a field of an object.
pub(super) fn rule(parent: &str, field: &str) -> Option<Rule> {
    let has = |names: &str, name: &str| names.split(' ').any(|one| one == name);
    let mut rules = RULES.iter();
    let found = rules.find(|(parents, fields, _)| has(parents, parent) && has(fields, field));
    found.map(|(.., rule)| *rule)
}
