//! Settings of the host as part of an arm: a command that makes the setting, and one that undoes
//! it.

use std::path::{Path, PathBuf};

use iotax_layers::Error;
use serde::{Deserialize, Serialize};

use crate::spec::{Arm, Draft};

/// Instead of an undo command: there is nothing to undo.
const NONE: &str = "none";

/// Commands around the turns of an arm, for the user's shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCommands {
    /// Makes the setting at the start of each turn of the arm.
    pub before: String,
    /// Undoes it at the end of each turn; `None`: the user says that there is nothing to undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Working directory of both.
    pub directory: PathBuf,
}

impl Draft {
    /// Sets the commands of arms: pairs of an arm's name and its command. The commands run in
    /// `directory`, which is absolute.
    ///
    /// # Errors
    /// If there is no such arm, a command is given twice or empty, or one of the two commands is
    /// missing.
    pub fn set_host_commands<'a>(
        &mut self,
        before: impl IntoIterator<Item = (&'a str, &'a str)>,
        after: impl IntoIterator<Item = (&'a str, &'a str)>,
        directory: &Path,
    ) -> Result<(), Error> {
        let mut given: Vec<[Option<&str>; 2]> = vec![[None; 2]; self.arms.len()];
        let all =
            before.into_iter().map(|own| (0, own)).chain(after.into_iter().map(|own| (1, own)));
        for (which, (name, command)) in all {
            let word = ["before", "after"][which];
            let at = self.arms.iter().position(|arm| arm.name == name);
            let names = self.arms.iter().map(|arm| arm.name.as_str());
            let at = at.ok_or_else(|| Error::unknown("arm", name, names))?;
            if command.trim().is_empty() || command.contains('\0') {
                let problem = format!("the `{word}` command of arm `{name}` is empty");
                return Err(Error::syntax(problem, "specify a shell command"));
            }
            if given[at][which].replace(command).is_some() {
                let problem = format!("arm `{name}` has two `{word}` commands");
                return Err(Error::syntax(problem, "join them with &&"));
            }
        }
        for (arm, commands) in self.arms.iter_mut().zip(given) {
            arm.host_commands = of(arm, commands, directory)?;
        }
        Ok(())
    }

    /// The first arm with host commands.
    pub fn with_host_commands(&self) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.host_commands.is_some())
    }
}

fn of(
    arm: &Arm,
    commands: [Option<&str>; 2],
    directory: &Path,
) -> Result<Option<HostCommands>, Error> {
    let name = &arm.name;
    match commands {
        [None, None] => Ok(None),
        [Some(_), None] => Err(Error::syntax(
            format!("nothing undoes the `before` command of arm `{name}`"),
            format!(
                "give the arm an `after` command, or `{NONE}` if nothing needs to be undone: \
                 --after '{name}={NONE}'"
            ),
        )),
        [None, Some(_)] => Err(Error::syntax(
            format!("arm `{name}` has an `after` command but no `before` command"),
            format!("add --before '{name}=COMMAND'"),
        )),
        [Some(before), Some(after)] => Ok(Some(HostCommands {
            before: before.to_owned(),
            after: (after != NONE).then(|| after.to_owned()),
            directory: directory.to_owned(),
        })),
    }
}

/// The arm and the command of `ARM=COMMAND`. Names of arms may contain `=`.
///
/// # Errors
/// If it does not start with the name of an arm.
pub fn command_of_arm<'a>(arms: &'a [Arm], text: &'a str) -> Result<(&'a str, &'a str), Error> {
    let of_arm = |arm: &'a Arm| {
        let rest = text.strip_prefix(arm.name.as_str())?.strip_prefix('=')?;
        Some((arm.name.as_str(), rest))
    };
    let longest = arms.iter().filter_map(of_arm).max_by_key(|(name, _)| name.len());
    longest.ok_or_else(|| {
        let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
        let problem = format!("`{text}` does not start with an arm's name and `=`");
        Error::syntax(problem, format!("specify ARM=COMMAND; the arms are {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload;

    fn spec() -> Draft {
        let arms = ["a=/a", "sec=x=/b"].map(|text| Arm::parse(text).unwrap()).to_vec();
        let mut arms = arms;
        arms[1].name = "sec=x".to_owned();
        Draft::compare(vec![Workload::preset("randread-4k").unwrap()], arms).unwrap()
    }

    fn set(before: &[(&str, &str)], after: &[(&str, &str)]) -> Result<Draft, String> {
        let mut spec = spec();
        spec.set_host_commands(before.iter().copied(), after.iter().copied(), Path::new("/w"))
            .map_err(|error| error.to_string())?;
        Ok(spec)
    }

    #[test]
    fn a_setting_has_a_command_that_undoes_it() {
        let spec = set(&[("sec=x", "echo 1 > f")], &[("sec=x", "echo 0 > f")]).unwrap();
        let commands = spec.arms[1].host_commands.clone().unwrap();
        assert_eq!(
            (commands.before.as_str(), commands.after.as_deref()),
            ("echo 1 > f", Some("echo 0 > f"))
        );
        assert_eq!(spec.arms[0].host_commands, None);
        let spec = set(&[("a", "sync")], &[("a", "none")]).unwrap();
        assert_eq!(spec.arms[0].host_commands.as_ref().unwrap().after, None);
        // It is in the record as it was given.
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Draft>(&text).unwrap(), spec);
    }

    #[test]
    fn what_is_refused() {
        let refused = |before: &[_], after: &[_]| set(before, after).unwrap_err();
        insta::assert_snapshot!(refused(&[("a", "x")], &[]), @"
        nothing undoes the `before` command of arm `a`
        give the arm an `after` command, or `none` if nothing needs to be undone: --after 'a=none'
        ");
        insta::assert_snapshot!(refused(&[], &[("a", "x")]), @"
        arm `a` has an `after` command but no `before` command
        add --before 'a=COMMAND'
        ");
        insta::assert_snapshot!(refused(&[("b", "x")], &[("b", "x")]), @"
        unknown arm `b`
        known arms: a, sec=x
        ");
        insta::assert_snapshot!(refused(&[("a", " ")], &[("a", "x")]), @"
        the `before` command of arm `a` is empty
        specify a shell command
        ");
        insta::assert_snapshot!(refused(&[("a", "x"), ("a", "y")], &[("a", "x")]), @"
        arm `a` has two `before` commands
        join them with &&
        ");
    }

    #[test]
    fn names_of_arms_may_hold_what_parts_them_from_commands() {
        let spec = spec();
        assert_eq!(command_of_arm(&spec.arms, "a=b=c").unwrap(), ("a", "b=c"));
        assert_eq!(command_of_arm(&spec.arms, "sec=x=A=1 cmd").unwrap(), ("sec=x", "A=1 cmd"));
        let error = command_of_arm(&spec.arms, "echo 1").unwrap_err().to_string();
        insta::assert_snapshot!(error, @"
        `echo 1` does not start with an arm's name and `=`
        specify ARM=COMMAND; the arms are a, sec=x
        ");
    }
}
