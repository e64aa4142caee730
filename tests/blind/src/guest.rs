//! Situations whose layers many kernels lack: examined by this program in a virtual machine.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use iotax_vm::Vm;

use crate::outcome::Outcome;
use crate::situation::Guest;

const DISK_BYTES: u64 = 1 << 30;
/// Boot, set-up, and two measurements with their making.
const LIMIT: Duration = Duration::from_mins(5);

/// Fault and control of one situation, in a guest of their own.
pub(crate) fn examine(name: &str, guest: &Guest, iotax: &Path, seed: u64) -> [Outcome; 2] {
    let outcomes = try_examine(name, guest, iotax, seed);
    outcomes.unwrap_or_else(|error| [(); 2].map(|()| Outcome::Broken(format!("{error:#}"))))
}

fn try_examine(name: &str, guest: &Guest, iotax: &Path, seed: u64) -> Result<[Outcome; 2]> {
    let own = std::env::current_exe()?;
    let work = tempfile::Builder::new().prefix("iotax-blind-").tempdir()?;
    let vm =
        Vm::new(iotax, work.path(), DISK_BYTES).and_then(|vm| vm.with_programs(guest.programs));
    let vm = vm
        .context("cannot create a virtual machine")?
        .alone()
        .memory(guest.memory_bytes)
        .limit(LIMIT);
    let script = format!(
        "{}\nexec '{}' --iotax \"$IOTAX\" --seed {seed} --in-guest '{name}'\n",
        guest.set_up,
        own.display()
    );
    let did = vm.run(&script);
    ensure!(did.status == 0, "in the guest: {did}");
    serde_json::from_str(&did.stdout).with_context(|| format!("in the guest: {did}"))
}

/// Tells the machine outside what came of it.
pub(crate) fn answer(outcomes: &[Outcome; 2]) -> Result<ExitCode> {
    println!("{}", serde_json::to_string(outcomes)?);
    Ok(ExitCode::SUCCESS)
}
