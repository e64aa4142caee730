//! A control group with a shell in it, like a container's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use super::Desk;

const LOOK: Duration = Duration::from_millis(5);

pub(crate) struct Container {
    group: PathBuf,
    pub id: String,
    pub shell: Child,
}

impl Container {
    /// Runs a script in the directory of `desk`. `None` if there are no control groups.
    pub(crate) fn start(desk: &Desk, script: &str) -> Option<Self> {
        let root = Path::new("/sys/fs/cgroup");
        let hierarchies = [root.to_owned(), root.join("unified"), root.join("pids")];
        let hierarchy = hierarchies.iter().find(|path| path.join("cgroup.procs").exists())?;
        let mut shell = Command::new("sh");
        // It waits until it is in the group.
        shell.args(["-c", &format!("read -r go < go; {script}")]).current_dir(desk.path());
        shell.env("IOTAX_STATE_DIR", desk.path().join("state"));
        let go = desk.path().join("go");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &go,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let shell = shell.spawn().unwrap();
        let id = format!("{:064x}", shell.id());
        let group = hierarchy.join(format!("docker-{id}.scope"));
        fs::create_dir(&group).unwrap();
        fs::write(group.join("cgroup.procs"), shell.id().to_string()).unwrap();
        fs::write(&go, "go\n").unwrap();
        fs::remove_file(&go).unwrap();
        Some(Self { group, id, shell })
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
        // It is busy until the last command of the shell has ended.
        while fs::remove_dir(&self.group).is_err() && self.group.exists() {
            thread::sleep(LOOK);
        }
    }
}
