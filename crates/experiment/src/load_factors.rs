//! Factors of the workload: each combination of their levels is a phase, like factors of the target
//! create arms. Phases alternate within a block, so that both are compared side by side.
//!
//! Phases of a suite may have levels of their own factor (`random load=low`): such a factor selects
//! among them.

use iotax_layers::Error;

use crate::matrix::{Factor, stands_in};
use crate::workload::Workload;

/// Maximum number of phases: each is a trial on every arm in every block.
const MAX_PHASES: usize = 64;

/// Separates the factors of a target from those of the workload. A factor of the workload is not
/// used in the target, and is not a parameter of one of its layers. It is a key of `--set`, or a
/// factor of the phases of a suite.
pub fn of_target_and_load(
    factors: Vec<Factor>,
    template: &str,
    phases: &[Workload],
) -> (Vec<Factor>, Vec<Factor>) {
    let is_of_target = |factor: &Factor| {
        stands_in(factor, template) || !phases.iter().any(|phase| varies(phase, &factor.name))
    };
    factors.into_iter().partition(is_of_target)
}

fn varies(phase: &Workload, factor: &str) -> bool {
    level(phase, factor).is_some() || phase.has_key(factor)
}

/// The level of a factor that a phase has, by its name.
fn level<'a>(phase: &'a Workload, factor: &str) -> Option<&'a str> {
    let mut settings = phase.name.split(' ').skip(1).filter_map(|word| word.split_once('='));
    settings.find_map(|(name, level)| (name == factor).then_some(level))
}

/// Renamed for its level of a factor.
fn with_level(phase: Workload, factor: &str, level: &str) -> Workload {
    Workload { name: format!("{} {factor}={level}", phase.name), ..phase }
}

/// The phases that have one of these levels.
fn chosen(mut phases: Vec<Workload>, factor: &Factor) -> Result<Vec<Workload>, Error> {
    let known = || phases.iter().filter_map(|phase| level(phase, &factor.name));
    for asked in &factor.levels {
        if known().all(|known| known != asked) {
            let mut known: Vec<&str> = known().collect();
            known.dedup();
            return Err(Error::unknown("level", asked, known));
        }
    }
    let is_asked = |own: &str| factor.levels.iter().any(|asked| asked == own);
    phases.retain(|phase| level(phase, &factor.name).is_none_or(is_asked));
    Ok(phases)
}

/// Each phase with each combination of levels, the last factor changing fastest. For a factor of
/// the phases, those with the requested levels.
///
/// # Errors
/// An invalid level; too many phases.
pub fn varied(phases: Vec<Workload>, factors: &[Factor]) -> Result<Vec<Workload>, Error> {
    let mut all = phases;
    for factor in factors {
        if all.iter().any(|phase| level(phase, &factor.name).is_some()) {
            all = chosen(all, factor)?;
            continue;
        }
        factor.validate()?;
        if all.len() * factor.levels.len() > MAX_PHASES {
            let problem = format!("more than {MAX_PHASES} phases");
            return Err(Error::syntax(problem, "remove some factors or levels"));
        }
        let with = |phase: &Workload, level: &String| {
            let mut phase = phase.clone();
            phase.set(&format!("{}={level}", factor.name))?;
            Ok(with_level(phase, &factor.name, level))
        };
        let levels = |phase| factor.levels.iter().map(move |level| with(phase, level));
        all = all.iter().flat_map(levels).collect::<Result<_, _>>()?;
    }
    Ok(all)
}

/// Refuses exclusions that name the workload, because a phase runs on every arm.
///
/// # Errors
/// An exclusion that names a factor of the workload.
pub fn refuse_exclusions<S: AsRef<str>>(excluded: &[S], of_load: &[Factor]) -> Result<(), Error> {
    for text in excluded {
        let mut names = text.as_ref().split(',').filter_map(|part| part.split_once('='));
        if let Some((name, _)) =
            names.find(|(name, _)| of_load.iter().any(|f| f.name == name.trim()))
        {
            let problem = format!(
                "`{}` belongs to the workload, which is the same for all arms",
                name.trim()
            );
            return Err(Error::syntax(
                problem,
                "remove levels from this factor, or exclude only levels of the arms' factors",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn factors(texts: &[&str]) -> Vec<Factor> {
        texts.iter().map(|text| Factor::parse(text).unwrap()).collect()
    }

    fn phases() -> Vec<Workload> {
        vec![Workload::preset("randread-4k").unwrap()]
    }

    #[test]
    fn what_the_target_has_is_of_the_target() {
        let all =
            factors(&["bs=4k,64k", "size=1G,2G", "iops=1,2", "job.depth=1,2", "nonsense=1,2"]);
        let (of_target, of_load) =
            of_target_and_load(all, "file(size=1G) + throttle(iops={iops})", &phases());
        let names = |factors: &[Factor]| -> Vec<String> {
            factors.iter().map(|factor| factor.name.clone()).collect()
        };
        // What nobody has is told of where targets are read.
        assert_eq!(names(&of_target), ["size", "iops", "job.depth", "nonsense"]);
        assert_eq!(names(&of_load), ["bs"]);
    }

    #[test]
    fn each_combination_is_a_phase() {
        let found = varied(phases(), &factors(&["bs=4k,64k", "iodepth=1,16"])).unwrap();
        let shown: Vec<String> = found
            .iter()
            .map(|phase| {
                let job = &phase.jobs[0];
                format!("{}: {} x {}", phase.name, job.block_sizes.max_bytes(), job.queue_depth)
            })
            .collect();
        assert_snapshot!(shown.join("\n"), @"
        randread-4k bs=4k iodepth=1: 4096 x 1
        randread-4k bs=4k iodepth=16: 4096 x 16
        randread-4k bs=64k iodepth=1: 65536 x 1
        randread-4k bs=64k iodepth=16: 65536 x 16
        ");
    }

    #[test]
    fn a_factor_of_a_suite_chooses_among_its_phases() {
        let suite = || Workload::suite("nfs-kerberos").unwrap();
        let (_, of_load) = of_target_and_load(factors(&["load=high"]), "a:/b", &suite());
        let found = varied(suite(), &of_load).unwrap();
        let names: Vec<&str> = found.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["random load=high", "sequential load=high", "git-checkout load=high"]);
        assert_eq!(varied(suite(), &factors(&["load=low,high"])), Ok(suite()));
        assert_snapshot!(varied(suite(), &factors(&["load=medium"])).unwrap_err(), @"
        unknown level `medium`
        known levels: low, high
        ");
    }

    #[test]
    fn what_makes_no_phase_is_told_why() {
        let error = |texts: &[&str]| varied(phases(), &factors(texts)).unwrap_err().to_string();
        assert_snapshot!(error(&["bs=4k,4x"]), @"
        `4x` is not a size: unknown unit `x`
          bs=4x
             ^^ column 4
        specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
        ");
        assert_snapshot!(error(&["bs=4k"]), @"
        `bs` has only one level
        specify a factor and its levels, as in sec=sys,krb5,krb5p
        ");
        let many: Vec<String> = (1..=65).map(|depth| depth.to_string()).collect();
        assert_snapshot!(error(&[&format!("depth={}", many.join(","))]), @"
        more than 64 phases
        remove some factors or levels
        ");
        let excluded = refuse_exclusions(&["sec=sys, bs=4k"], &factors(&["bs=4k,64k"]));
        assert_snapshot!(excluded.unwrap_err(), @"
        `bs` belongs to the workload, which is the same for all arms
        remove levels from this factor, or exclude only levels of the arms' factors
        ");
        assert!(refuse_exclusions(&["sec=sys"], &factors(&["bs=4k,64k"])).is_ok());
    }
}
