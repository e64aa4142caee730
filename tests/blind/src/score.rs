use crate::outcome::{Named, Outcome};
use crate::situation::Situation;

/// How often it was right.
#[derive(Default)]
pub(crate) struct Score {
    faults: u32,
    /// Faults whose cause was named first.
    found: u32,
    controls: u32,
    /// Controls of which no cause was called sure or likely, except those that are true of them.
    quiet: u32,
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
        let word = if is_right { "right" } else { "WRONG" };
        let first = named.first().map_or_else(
            || "no cause".to_owned(),
            |first| format!("{} ({})", first.cause, first.confidence),
        );
        println!("{word}   {:24} {kind:8} {first}", of.name);
        if verbose {
            for Named { cause, confidence, evidence } in &named {
                println!("          {confidence:9} {cause}: {evidence}");
            }
        }
    }

    /// The score in two lines, and as a table.
    pub(crate) fn print(&self) {
        println!(
            "\n{} of {} planted causes named first\n{} of {} controls without a cause called sure or likely",
            self.found, self.faults, self.quiet, self.controls
        );
        println!(
            "\n| | right |\n|---|---|\n| planted faults | {} of {} |\n| healthy controls | {} of {} |",
            self.found, self.faults, self.quiet, self.controls
        );
        if self.broken > 0 {
            println!("{} could not be examined", self.broken);
        }
    }

    /// One cause in 25 may be missed; no control may be accused.
    pub(crate) fn is_passed(&self) -> bool {
        let missed = self.faults - self.found;
        self.broken == 0 && self.quiet == self.controls && missed * 25 <= self.faults
    }
}
