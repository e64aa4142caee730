use anyhow::Result;

use crate::exit::Exit;
use crate::output::say;

/// `iotax undo`
pub fn undo() -> Result<Exit> {
    let Some(state_dir) = iotax_rig::state_dir() else {
        say("nothing to undo: this user has no home, so nothing was ever journalled")?;
        return Ok(Exit::Done);
    };
    let report = iotax_rig::undo(&state_dir);
    for removed in &report.removed {
        say(&format!("removed {}", removed))?;
    }
    if report.removed.is_empty() && report.problems.is_empty() {
        say("nothing to undo")?;
    }
    if report.live > 0 {
        say(&format!("left alone: {} runs under way", report.live))?;
    }
    let problems: Vec<String> = report.problems.iter().map(ToString::to_string).collect();
    anyhow::ensure!(
        problems.is_empty(),
        "not everything could be undone:\n{}",
        problems.join("\n")
    );
    Ok(Exit::Done)
}
