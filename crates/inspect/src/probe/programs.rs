//! System programs with information that files do not contain, run with a limit of time and output.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::deadline::within;

/// How long to wait for a killed program to end.
const GRACE: Duration = Duration::from_millis(100);
/// How often to check whether a program has ended.
const POLL: Duration = Duration::from_millis(2);
/// The longest output that is read.
const LONGEST_BYTES: u64 = 4 << 20;

/// Where to search for programs, and until when they may run.
pub(super) struct Programs<'a> {
    directories: &'a [PathBuf],
    deadline: Instant,
}

impl<'a> Programs<'a> {
    /// Programs from these directories, with a common time limit from now on.
    pub(super) fn new(directories: &'a [PathBuf], limit: Duration) -> Self {
        Self { directories, deadline: Instant::now() + limit }
    }

    /// The output of the program `name`, if it exists and succeeds in time.
    pub(super) fn output(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let program = self
            .directories
            .iter()
            .map(|directory| directory.join(name))
            .find(|path| path.is_file())?;
        let left = self.deadline.checked_duration_since(Instant::now())?;
        let mut child = Command::new(program)
            .args(arguments)
            // The output is parsed, so it must be in English.
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let output = child.stdout.take();
        let text = within(left, move || {
            let mut text = String::new();
            output?.take(LONGEST_BYTES).read_to_string(&mut text).ok().map(|_| text)
        });
        let is_well = ended(&mut child, self.deadline);
        if is_well.is_none() {
            // It may have ended on its own by now.
            let _ = child.kill();
            ended(&mut child, Instant::now() + GRACE);
        }
        text.flatten().filter(|_| is_well == Some(true))
    }
}

/// Whether the program succeeded; `None` if it has not ended.
fn ended(child: &mut Child, deadline: Instant) -> Option<bool> {
    loop {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status.success());
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::scripts::{PATIENT, with};
    use std::fs;

    fn output(script: &str) -> Option<String> {
        let directory = with("told", script);
        Programs::new(&[directory.path().to_owned()], PATIENT).output("told", &["a", "b"])
    }

    #[test]
    fn what_a_program_writes_is_given_if_it_ends_well() {
        assert_eq!(output("echo $2 $1").as_deref(), Some("b a\n"));
        assert_eq!(output("echo x; exit 3"), None);
        assert_eq!(output("printf '\\377'"), None);
        assert_eq!(
            Programs::new(&[PathBuf::from("/no/such/place")], PATIENT).output("told", &[]),
            None
        );
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let directory = with("hangs", "echo $$ > \"$1\"; exec sleep 600");
        let pid = directory.path().join("pid");
        let path = pid.display().to_string();
        let directories = [directory.path().to_owned()];
        let hangs = Programs::new(&directories, Duration::from_millis(300));
        assert_eq!(hangs.output("hangs", &[&path]), None);
        // A busy machine may not have come to the first line.
        let pid = fs::read_to_string(pid).unwrap_or_default();
        let command = fs::read_to_string(format!("/proc/{}/cmdline", pid.trim()));
        assert!(!command.is_ok_and(|command| command.contains("600")), "{pid}");
    }
}
