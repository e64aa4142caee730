//! Reads the arms of a comparison, which are targets or saved results.

use iotax_experiment::{
    Arm, Error as SpecError, Factor, Matrix, Target, Workload, of_target_and_load, parse_arms,
    parse_repeated_arms, refuse_exclusions,
};

use super::workload::Load;
use crate::args::CompareArgs;
use crate::exit::{Context as _, Result, usage};

/// Arms, and repeated arms with the same name. Without arms if the matrix has factors of the
/// workload only, or cannot be about results.
pub(super) struct Written {
    arms: Vec<Arm>,
    repeats: Vec<Arm>,
}

impl Written {
    /// Reads the arms, or makes those of a matrix from its factors of the target.
    ///
    /// # Errors
    /// If an arm cannot be read.
    pub(super) fn read(args: &CompareArgs, factors: &[Factor]) -> Result<Self> {
        if factors.is_empty() {
            let (arms, repeats) = parse_repeated_arms(args.arms.iter().map(String::as_str))?;
            return Ok(Self { arms, repeats });
        }
        let mut arms = Vec::new();
        if let [template] = args.arms.as_slice() {
            Matrix::refuse_open_places(template, factors).context("option --matrix")?;
            let matrix = Matrix::new(factors.to_vec());
            let matrix = matrix.and_then(|matrix| matrix.without(&args.matrix.exclude));
            // `targets` reports errors, because a factor may be one of the workload.
            arms.extend(matrix.and_then(|matrix| matrix.arms(template)).into_iter().flatten());
        }
        Ok(Self { arms, repeats: Vec::new() })
    }

    /// The arms as saved results: repeated names belong to one arm.
    pub(super) fn merged(&self) -> Vec<Arm> {
        let mut arms = self.arms.clone();
        for repeat in &self.repeats {
            if let Some(arm) = arms.iter_mut().find(|arm| arm.name == repeat.name) {
                arm.target = Target::Path(format!("{},{}", arm.target, repeat.target).into());
            }
        }
        arms
    }

    /// The arms as targets. Factors of a matrix make arms, or phases if they are factors of the
    /// workload.
    ///
    /// # Errors
    /// If a name is given twice, or the matrix makes no arms.
    pub(super) fn targets(
        self,
        args: &CompareArgs,
        factors: Vec<Factor>,
        load: &mut Load,
    ) -> Result<Vec<Arm>> {
        if factors.is_empty() {
            return match self.repeats.into_iter().next() {
                Some(Arm { name, .. }) => Err(SpecError::Duplicate { what: "arm", name }.into()),
                None => Ok(self.arms),
            };
        }
        of_matrix(args, factors, load)
    }
}

fn of_matrix(args: &CompareArgs, factors: Vec<Factor>, load: &mut Load) -> Result<Vec<Arm>> {
    let exclude = &args.matrix.exclude;
    let (of_target, of_load) = of_target_and_load(factors, &args.arms.join(" "), &load.phases);
    refuse_exclusions(exclude, &of_load).context("option --exclude")?;
    load.vary(&of_load).context("option --matrix")?;
    if of_target.is_empty() {
        let arms = parse_arms(args.arms.iter().map(String::as_str))?;
        if arms.len() < 2 && !of_load.is_empty() {
            let problem = "workload factors create phases, not arms, and there is only one arm";
            return Err(usage(format!("{problem}; give two arms, or add a target factor")));
        }
        return Ok(arms);
    }
    let [template] = args.arms.as_slice() else {
        let problem = "--matrix creates its arms from one target, but several are given";
        return Err(usage(format!(
            "{problem}; make the targets levels of a factor, as in --matrix disk=/mnt/a,/mnt/b \
             {{disk}}"
        )));
    };
    let matrix = Matrix::new(of_target).context("option --matrix")?;
    let matrix = matrix.without(exclude).context("option --exclude")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if let Some((name, _)) = template.split_once('=').filter(|(name, _)| name.chars().all(is_name))
    {
        let problem = "--matrix names each arm after its levels";
        return Err(usage(format!("{problem}; leave out `{name}=` before the target")));
    }
    matrix.arms(template).context("option --matrix")
}

/// The factors of `--matrix`.
pub(super) fn factors(texts: &[String]) -> Result<Vec<Factor>> {
    let factors = texts.iter().map(|text| Factor::parse(text));
    factors.collect::<Result<_, _>>().context("option --matrix")
}

/// The error for a missing workload.
pub(super) fn no_workload() -> crate::exit::Failure {
    usage(format!(
        "no workload given; choose one with --workload, such as {}; `iotax workloads` lists them",
        Workload::preset_names().next().unwrap_or("randread-4k")
    ))
}
