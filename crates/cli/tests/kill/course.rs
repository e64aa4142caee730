//! What a run does that nobody kills, and moments of it.

use std::io;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use iotax_testing::skipped;

use super::runs::{Ends, Run};
use super::scene::Scene;
use super::support::{Desk, wait_for};

/// What a run does that nobody kills.
pub(crate) struct Course {
    /// As long as it takes, or twice as long as until it is under way if it does not end.
    span: Duration,
    /// Lines of its journals.
    lines: usize,
}

impl Course {
    /// Looks at a run once. `None`, said loudly, if this machine cannot do it.
    pub(crate) fn of(run: &Run, scene: &Scene) -> Option<Self> {
        let (desk, arguments) = (&scene.desk, run.arguments());
        let before = scene.state();
        let started = Instant::now();
        let mut command = desk.command(&arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut lines, mut is_under_way) = (0, false);
        wait_for("what was started", || {
            let has_ended = has_ended(&mut child);
            lines = lines.max(journal_lines(desk));
            is_under_way = ["out", "vm/disk"].iter().any(|made| desk.path().join(made).exists());
            has_ended || run.ends == Ends::Never && is_under_way
        });
        let span = started.elapsed();
        let (span, told) = if run.ends == Ends::Never {
            (2 * span, scene.kill_and_undo(run, &mut child, None))
        } else {
            scene.take_down_what_is_to_stay(run);
            (span, String::new())
        };
        let code = child.wait().unwrap().code();
        assert!(matches!(code, None | Some(0 | 3)), "{arguments:?}: {code:?}");
        assert_eq!(scene.state(), before, "{arguments:?}, once: {told}");
        if !is_under_way {
            let said = io::read_to_string(child.stderr.take().unwrap()).unwrap();
            skipped(&format!("{arguments:?}: exit code {code:?}: {said}"));
        }
        is_under_way.then_some(Self { span, lines })
    }

    /// Waits until the run has announced something, from the first thing that it will have to
    /// unmake to the last.
    pub(crate) fn wait_for_entry(&self, number: usize, desk: &Desk, child: &mut Child) -> String {
        // What the second line of a journal announces is there with the third.
        const FIRST: usize = 3;
        let line = FIRST + number % self.lines.saturating_sub(FIRST).max(1);
        wait_for("something up", || {
            desk.has_something_up() && journal_lines(desk) >= line || has_ended(child)
        });
        format!("at line {line} of its journals")
    }

    /// Waits for a share of the run. A run that ends before takes less time than it did once, for
    /// what else the machine does has changed.
    pub(crate) fn wait_for_share(&mut self, share: f64, child: &mut Child) -> String {
        let (started, pause) = (Instant::now(), Duration::from_millis(2));
        let moment = self.span.mul_f64(share);
        loop {
            sleep(pause.min(moment));
            if has_ended(child) {
                self.span = started.elapsed();
            } else if started.elapsed() < moment {
                continue;
            }
            return format!("after {:?}", started.elapsed());
        }
    }
}

fn journal_lines(desk: &Desk) -> usize {
    desk.journals().iter().map(|journal| journal.lines().count()).sum()
}

fn has_ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_some()
}
