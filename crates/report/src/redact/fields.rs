//! The allow-list of fields: what each string of a record's head and of a machine may say.
//!
//! Numbers and truth values leave as they are: the types of the format see to it that nothing else
//! stands in their fields. So do words of the format itself. `tests` fails on a string that has no
//! rule here.

use std::sync::LazyLock;

use regex::Regex;

use super::names::Kind;

/// What a field may say.
pub(super) enum Rule {
    /// A word of the format: nothing else can be read there.
    Format,
    /// A text: words of the list stay, others become pseudonyms.
    Text(Kind),
    /// One name or path, blanks and all.
    Whole(Kind),
    /// A name that is never told.
    Always(Kind),
    /// What has this form, such as a time.
    Form(&'static LazyLock<Regex>),
    /// The kernel's release.
    Kernel,
    /// The model of a processor.
    Processor,
    /// The model of a device.
    Device,
    /// Nothing.
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

/// The rule of a field of an object; of an object in a list, `parent` is the list's name.
pub(super) fn rule(parent: &str, field: &str) -> Option<Rule> {
    let found = match parent {
        "experiment" => of_experiment(field),
        "machine" => match field {
            "note" => Some(Rule::Text(Kind::Word)),
            "iotax_version" => Some(Rule::Form(&VERSION)),
            "taken" => Some(Rule::Form(&TIME)),
            _ => None,
        },
        "environment" => match field {
            "host" => Some(Rule::Always(Kind::Host)),
            "kernel" => Some(Rule::Kernel),
            "cpu_model" => Some(Rule::Processor),
            "os" | "cpu_governor" | "hypervisor" => Some(Rule::Text(Kind::Word)),
            _ => None,
        },
        "cloud" | "instance" | "disks" => of_cloud(parent, field),
        _ => None,
    };
    found.or_else(|| of_spec(parent, field)).or_else(|| of_layer_seen(parent, field))
}

fn of_experiment(field: &str) -> Option<Rule> {
    Some(match field {
        "iotax_version" => Rule::Form(&VERSION),
        "started" => Rule::Form(&TIME),
        "command" => Rule::Text(Kind::Word),
        _ => return None,
    })
}

fn of_cloud(parent: &str, field: &str) -> Option<Rule> {
    Some(match (parent, field) {
        ("disks", "name") => Rule::Always(Kind::Device),
        ("disks", "kind" | "tier" | "caching") => Rule::Text(Kind::Model),
        (_, "region") => Rule::Form(&REGION),
        (_, "cloud" | "vm" | "variant" | "caching" | "disks" | "security_type") => {
            Rule::Text(Kind::Model)
        }
        _ => return None,
    })
}

/// What was asked.
fn of_spec(parent: &str, field: &str) -> Option<Rule> {
    Some(match (parent, field) {
        ("spec", "design")
        | ("stop", "mode")
        | ("jobs", "engine" | "pattern" | "files" | "pace" | "bound")
        | ("operations", "operation")
        | ("arms", "driver")
        | ("layers", "layer" | "kind" | "counts") => Rule::Format,
        ("spec", "suite") | ("workload" | "then", "name") => Rule::Whole(Kind::Workload),
        ("workload" | "then", "about" | "notes" | "origin") => Rule::Text(Kind::Word),
        ("workload" | "then", "primary") | ("jobs", "name") => Rule::Whole(Kind::Job),
        ("files", "shared") => Rule::Whole(Kind::File),
        ("fio", "name" | "place" | "beyond") => Rule::Text(Kind::Word),
        ("arms", "name") | ("peel", "layers") => Rule::Text(Kind::Arm),
        ("target", "path" | "results") | ("layers", "path" | "export") => Rule::Whole(Kind::Path),
        ("layers", "server") => Rule::Always(Kind::Host),
        ("layers", "vers" | "sec" | "cipher" | "format" | "mkfs" | "mount") => {
            Rule::Text(Kind::Word)
        }
        ("layers", "group") => Rule::Whole(Kind::Group),
        _ => return None,
    })
}

/// What was found under a path.
fn of_layer_seen(parent: &str, field: &str) -> Option<Rule> {
    Some(match (parent, field) {
        ("sites", "kind" | "notes" | "caches" | "file_system") => Rule::Text(Kind::Word),
        ("sites", "target" | "storage_id") => Rule::Text(Kind::Path),
        ("sites", "device") => Rule::Whole(Kind::Device),
        ("sites", "device_model") | ("device", "model") => Rule::Device,
        ("paths", "kind") | ("device", "kind" | "used_as") => Rule::Format,
        // It is the path once more.
        ("paths", "shell") => Rule::Drop,
        ("paths", "path" | "directory") => Rule::Whole(Kind::Path),
        ("paths", "problem") | ("unseen", "what" | "how") => Rule::Text(Kind::Word),
        ("mount", "mount_point" | "source") => Rule::Whole(Kind::Path),
        ("mount", "file_system" | "options" | "super_options" | "features" | "number") => {
            Rule::Text(Kind::Word)
        }
        ("nfs", "options") | ("transports", "protocol") => Rule::Text(Kind::Word),
        ("network", "server") => Rule::Always(Kind::Host),
        ("network", "interface") | ("device" | "mapping", "name") => Rule::Whole(Kind::Device),
        ("network", "kind") | ("device", "number" | "transport" | "raid_level") => {
            Rule::Text(Kind::Word)
        }
        ("queue", "scheduler" | "write_cache") | ("mapping", "maker") => Rule::Text(Kind::Word),
        ("targets", "version") => Rule::Form(&VERSION),
        ("targets", "kind" | "parameters") => Rule::Text(Kind::Word),
        ("crypt", "cipher" | "flags" | "integrity") => Rule::Text(Kind::Word),
        ("loop_file" | "swaps", "path") => Rule::Whole(Kind::Path),
        ("groups", "version") | ("confidential", "kind") => Rule::Text(Kind::Word),
        ("io" | "cpu" | "memory", "group" | "file" | "path" | "directory") => {
            Rule::Whole(Kind::Path)
        }
        ("confidential", "seen_in" | "log") | ("kernel", "xts_driver") => Rule::Text(Kind::Word),
        _ => return None,
    })
}
