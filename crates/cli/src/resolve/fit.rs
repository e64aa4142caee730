//! Shrinks test files to the available space, or advises what would help.

use iotax_experiment::Draft;
use iotax_experiment::units::format_bytes;

use crate::args::LoadArgs;
use crate::exit::Result;

/// Shrinks sizes that the user did not set to the space that all arms have. Returns advice if the
/// test files still do not fit.
pub(crate) fn fit(spec: &mut Draft, load: &LoadArgs) -> Option<String> {
    // The free space of an agent's host is not known here.
    let work_dir = load.agent.is_empty().then_some(load.dir.as_path());
    let free = iotax_rig::space_for_files(spec, work_dir);
    let least_bytes = spec.least_bytes_of_files();
    let yields = least_bytes < spec.bytes_of_files();
    spec.fit(free);
    let (arm, free_bytes) = free.filter(|(_, bytes)| *bytes < spec.bytes_of_files())?;
    let stack = spec.arms.get(arm).and_then(|arm| arm.target.stack());
    let stack = stack.and_then(|stack| iotax_rig::least_stack_bytes(stack, least_bytes));
    let stack = stack.map(|bytes| format!("a stack of size={}", format_bytes(bytes)));
    if yields {
        let least = format_bytes(least_bytes);
        let would = stack.map_or(String::new(), |stack| format!("; use {stack}"));
        return Some(format!(
            "{} cannot shrink its test files below {least}, because the results would be \
             meaningless{would}",
            spec.name()
        ));
    }
    // --scale does not change a size that was set.
    let asked = load.set.iter().any(|text| is_size(text));
    let scale = spec.scale_that_fits(free_bytes).filter(|_| !asked);
    let scale = scale.map(|scale| format!("--scale {}", short(scale * load.scale.unwrap_or(1.0))));
    let smaller = asked.then(|| format!("file sizes of at most {} in total", whole(free_bytes)));
    let ways: Vec<String> = stack.into_iter().chain(scale).chain(smaller).collect();
    (!ways.is_empty()).then(|| format!("use {}", ways.join(", or ")))
}

/// Appends the advice to an error that is due to lack of space.
pub(crate) fn advised<T>(result: Result<T>, advice: Option<&str>) -> Result<T> {
    result.map_err(|failure| match advice {
        Some(advice) if failure.wants_space() => failure.advised(advice),
        _ => failure,
    })
}

/// Whether an override sets the size of files.
fn is_size(text: &str) -> bool {
    let key = text.split('=').next().unwrap_or_default();
    iotax_experiment::is_size(key.rsplit('.').next().unwrap_or_default())
}

/// Rounds down to two digits.
fn short(scale: f64) -> f64 {
    let unit = 10_f64.powf(scale.log10().floor() - 1.0);
    let digits = (scale / unit + 1e-6).floor();
    format!("{:.2e}", digits * unit).parse().unwrap_or(scale)
}

/// Rounds down to whole MiB, or whole GiB from 10 GiB on.
fn whole(bytes: u64) -> String {
    let digits = if bytes >= 10 << 30 { 30 } else { 20 };
    format_bytes(bytes >> digits << digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_short() {
        let shown = [1.0, 0.1 * 0.05, 0.7 * 0.3, 0.02, 0.9 * 0.9 * 0.9];
        assert_eq!(shown.map(short), [1.0, 0.005, 0.21, 0.02, 0.72]);
        assert_eq!([whole(35_587 << 20), whole((857 << 20) + 1)], ["34G", "857M"]);
    }

    #[test]
    fn a_size_is_told_from_other_keys() {
        assert!(is_size("size=1G") && is_size("index.size=1M") && is_size("file_size=4k"));
        assert!(!is_size("block-size=4k") && !is_size("depth=32"));
    }
}
