use crate::outcome::{Named, Outcome};
use crate::situation::Situation;

/// Counts of the situations that met their criterion.
///
/// A fault meets it if the first cause that iotax lists, of any target and with any confidence, is
/// one of the accepted causes. Causes after the first are not checked. A control meets it if every
/// cause that iotax calls `sure` or `likely` is one of those accepted for this control. Causes
/// called `possible` are not checked there.
#[derive(Default)]
pub(crate) struct Score {
    faults: u32,
    /// Faults with an accepted cause in first place.
    found: u32,
    controls: u32,
    /// Controls without a `sure` or `likely` cause other than the accepted ones.
    quiet: u32,
    /// Situations that could not be set up or measured.
    broken: u32,
}

impl Score {
    /// Counts one outcome and prints its line.
    pub(crate) fn add(&mut self, of: &Situation, is_faulty: bool, outcome: Outcome, verbose: bool) {
        let kind = if is_faulty { "fault" } else { "control" };
        let named = match outcome {
            Outcome::Named(named) => named,
            Outcome::Broken(why) => {
                self.broken += 1;
                println!("BROKEN  {:24} {kind:8} {why}", of.name);
                return;
            }
        };
        let is_right = if is_faulty {
            named.first().is_some_and(|first| of.causes.contains(&first.cause.as_str()))
        } else {
            let is_true = |named: &Named| of.of_both.contains(&named.cause.as_str());
            named.iter().all(|named| named.confidence == "possible" || is_true(named))
        };
        let (all, right) = if is_faulty {
            (&mut self.faults, &mut self.found)
        } else {
            (&mut self.controls, &mut self.quiet)
        };
        *all += 1;
        *right += u32::from(is_right);
        let word = if is_right { "met" } else { "NOT MET" };
        let first = named.first().map_or_else(
            || "no cause named".to_owned(),
            |first| format!("{} ({})", first.cause, first.confidence),
        );
        println!("{word:7} {:24} {kind:8} {first}", of.name);
        if verbose {
            for Named { cause, confidence, evidence } in &named {
                println!("          {confidence:9} {cause}: {evidence}");
            }
        }
    }

    /// Prints the score as two lines and as a table.
    pub(crate) fn print(&self) {
        println!(
            "\n{} of {} faults: the first cause is an accepted one (any confidence)\n\
             {} of {} controls: no cause is sure or likely, except accepted ones",
            self.found, self.faults, self.quiet, self.controls
        );
        println!(
            "\n| criterion | met |\n|---|---|\n\
             | fault: the first cause is one of the accepted causes | {} of {} |\n\
             | control: no *sure* or *likely* cause, except accepted causes | {} of {} |",
            self.found, self.faults, self.quiet, self.controls
        );
        if self.broken > 0 {
            println!("{} situations could not be set up or measured", self.broken);
        }
    }

    /// Whether no situation was broken, all controls met their criterion, and at most one fault in
    /// 25 did not.
    pub(crate) fn is_passed(&self) -> bool {
        let missed = self.faults - self.found;
        self.broken == 0 && self.quiet == self.controls && missed * 25 <= self.faults
    }
}
