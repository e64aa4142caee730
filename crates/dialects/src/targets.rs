//! What jobs call their targets: short names for the places that another tool's words name.

use std::collections::BTreeMap;

use iotax_spec::Workload;

/// Where a job works, as written: the directory or device, without the file in it.
pub(crate) type Written = String;

/// Shortens what the jobs of all phases call their targets from the place as written to its last
/// part, or to all of it where two places end alike: `/mnt/e` and `/mnt/f` to `e` and `f`. What has no
/// letter in it, such as `.`, is no name.
pub(crate) fn shorten(phases: &mut [Workload]) {
    let jobs = || phases.iter().flat_map(|phase| &phase.jobs);
    let mut places: BTreeMap<String, Written> = BTreeMap::new();
    let mut alike: Vec<String> = Vec::new();
    for place in jobs().filter_map(|job| job.target.as_ref()) {
        let short = last(place);
        let known = places.entry(short.clone()).or_insert_with(|| place.clone());
        if known != place {
            alike.push(short);
        }
    }
    for job in phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        job.target = job.target.take().and_then(|place| {
            let short = last(&place);
            let name = if alike.contains(&short) { plain(&place) } else { short };
            (!name.is_empty()).then_some(name)
        });
    }
}

fn last(place: &str) -> String {
    let place = place.trim_end_matches(['/', '\\']);
    plain(place.rsplit(['/', '\\']).next().unwrap_or(place))
}

/// Letters, digits, `.`, `_` and `-` alone, beginning with a letter or a digit.
fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let mut name = String::new();
    for c in text.chars() {
        match c {
            _ if is_plain(c) => name.push(c),
            _ if name.is_empty() || name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    let is_end = |c: char| !c.is_ascii_alphanumeric();
    name.trim_matches(is_end).to_owned()
}
