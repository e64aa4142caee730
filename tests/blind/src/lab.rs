//! What situations are made of: virtual disks, loop devices, file systems, control groups,
//! settings. Whatever is made is taken down when the lab is dropped, last first.

use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use tempfile::TempDir;

/// A place for one situation.
pub(crate) struct Lab {
    iotax: PathBuf,
    dir: TempDir,
    rng: Xoshiro256PlusPlus,
    /// How to take down what was made.
    undo: Vec<Undo>,
    /// Control groups that the measuring process is put into.
    groups: Vec<PathBuf>,
}

enum Undo {
    /// Runs a command.
    Run(Vec<String>),
    /// Writes a text into a file.
    Write(PathBuf, String),
    /// Removes a control group.
    Group(PathBuf),
    /// Ends a process.
    End(Child),
}

impl Lab {
    /// An empty one; its numbers depend on the seed and the situation alone.
    pub(crate) fn new(iotax: &Path, seed: u64, name: &str) -> Result<Self> {
        let own = name.bytes().fold(seed, |sum, byte| {
            sum.wrapping_mul(0x100_0000_01b3).wrapping_add(u64::from(byte))
        });
        Ok(Self {
            iotax: iotax.to_owned(),
            dir: tempfile::Builder::new().prefix("iotax-blind-").tempdir()?,
            rng: Xoshiro256PlusPlus::seed_from_u64(own),
            undo: Vec::new(),
            groups: Vec::new(),
        })
    }

    /// A number drawn at random.
    pub(crate) fn number(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.rng.random_range(range)
    }

    /// One of so many, drawn at random.
    pub(crate) fn pick(&mut self, of: usize) -> usize {
        self.rng.random_range(0..of)
    }

    /// A path in the lab.
    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.path().join(name).display().to_string()
    }

    /// Runs a program to its end, and says what it printed if it failed.
    pub(crate) fn run(&self, words: &[&str]) -> Result<String> {
        run(Command::new(words[0]).args(&words[1..]).current_dir(self.dir.path()))
    }

    /// Runs iotax.
    pub(crate) fn iotax(&self, args: &[&str]) -> Result<String> {
        run(Command::new(&self.iotax).args(args).current_dir(self.dir.path()))
    }

    /// Runs iotax in the control groups that were made.
    pub(crate) fn iotax_in_groups(&self, args: &[String]) -> Result<String> {
        // A shell that moves itself, so that no I/O happens outside.
        let enter = |group: &PathBuf| format!("echo $$ > {}/cgroup.procs && ", group.display());
        let enter: String = self.groups.iter().map(enter).collect();
        let script = enter + "exec \"$0\" \"$@\"";
        run(Command::new("sh")
            .args(["-c", &script])
            .arg(&self.iotax)
            .args(args)
            .current_dir(self.dir.path()))
    }

    /// A virtual disk, and the file that it is.
    pub(crate) fn disk(&mut self, name: &str, stack: &str) -> Result<String> {
        let dir = self.path(name);
        fs::create_dir(&dir)?;
        self.iotax(&["disk", "up", &format!("{dir}={stack}")])?;
        let down = [self.iotax.display().to_string(), "disk".into(), "down".into(), dir.clone()];
        self.undo.push(Undo::Run(down.to_vec()));
        Ok(format!("{dir}/disk"))
    }

    /// Disks of a cloud VM, and the files that they are.
    pub(crate) fn cloud_disks(&mut self, names: &[&str], options: &[&str]) -> Result<Vec<String>> {
        let dirs: Vec<String> = names.iter().map(|name| self.path(name)).collect();
        for dir in &dirs {
            fs::create_dir(dir)?;
        }
        let mut args = vec!["disk", "up"];
        args.extend(options);
        args.extend(dirs.iter().map(String::as_str));
        self.iotax(&args)?;
        // All disks of a server go down with one of them.
        let first = dirs.first().cloned().unwrap_or_default();
        let down = [self.iotax.display().to_string(), "disk".into(), "down".into(), first];
        self.undo.push(Undo::Run(down.to_vec()));
        Ok(dirs.into_iter().map(|dir| format!("{dir}/disk")).collect())
    }

    /// The empty disk of the guest that this runs in.
    pub(crate) fn guest_disk() -> Result<String> {
        std::env::var("DISK").context("there is no guest, or the guest has no disk")
    }

    /// A mapping was made.
    pub(crate) fn close_later(&mut self, mapping: &str) {
        let close = ["dmsetup", "remove", "--retry", mapping];
        self.undo.push(Undo::Run(close.map(str::to_owned).to_vec()));
    }

    /// A block device over a file: `/dev/loopN`.
    pub(crate) fn block_device(&mut self, file: &str, is_direct: bool) -> Result<String> {
        let direct = format!("--direct-io={}", if is_direct { "on" } else { "off" });
        let device = self.run(&["losetup", "--find", "--show", &direct, file])?.trim().to_owned();
        self.undo.push(Undo::Run(vec!["losetup".into(), "--detach".into(), device.clone()]));
        Ok(device)
    }

    /// A block device whose I/Os take so long.
    pub(crate) fn slow_device(&mut self, size_mib: u64, latency_us: u64) -> Result<String> {
        let stack = format!("mem(size={size_mib}M) + delay(latency={latency_us}us)");
        let file = self.disk("disk", &stack)?;
        self.block_device(&file, true)
    }

    /// A block device on a file of the machine's own disk, which no program serves.
    pub(crate) fn plain_device(&mut self, size_mib: usize) -> Result<String> {
        let file = self.path("plain.img");
        fs::write(&file, vec![0xa5; size_mib << 20])?;
        fs::File::open(&file)?.sync_all()?;
        self.block_device(&file, true)
    }

    /// So many programs that do nothing but compute.
    pub(crate) fn burn_cpus(&mut self, per_cpu: usize) -> Result<()> {
        let cpus = std::thread::available_parallelism()?.get();
        // One is one, whatever the machine has.
        let count = if per_cpu == 1 { 1 } else { cpus * per_cpu };
        (0..count).try_for_each(|_| self.meanwhile(&["sh", "-c", "while :; do :; done"]))
    }

    /// A file system on a block device, mounted.
    pub(crate) fn mounted(&mut self, device: &str, options: &str) -> Result<String> {
        let dir = self.path("mnt");
        fs::create_dir(&dir)?;
        self.run(&["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", device])?;
        self.run(&["mount", "-o", options, device, &dir])?;
        self.unmount_later(&dir);
        Ok(dir)
    }

    /// Something was mounted there.
    pub(crate) fn unmount_later(&mut self, dir: &str) {
        self.undo.push(Undo::Run(vec!["umount".into(), "--lazy".into(), dir.to_owned()]));
    }

    /// Changes a setting of the kernel.
    pub(crate) fn set(&mut self, file: &str, value: &str) -> Result<()> {
        let before = fs::read_to_string(file).with_context(|| file.to_owned())?;
        // The scheduler in use is the one in brackets.
        let before = before
            .split_once('[')
            .and_then(|(_, rest)| Some(rest.split_once(']')?.0.to_owned()))
            .unwrap_or(before);
        fs::write(file, value).with_context(|| format!("writing {value} to {file}"))?;
        self.undo.push(Undo::Write(file.into(), before.trim().to_owned()));
        Ok(())
    }

    /// How many bytes may be dirty: `dirty`, `dirty_background`. Where a ratio held before, it will
    /// again: the kernel takes no 0 back.
    pub(crate) fn set_dirty(&mut self, which: &str, bytes: u64) -> Result<()> {
        let file = |unit: &str| format!("/proc/sys/vm/{which}_{unit}");
        let read = |file: String| fs::read_to_string(&file).with_context(|| file.clone());
        let (ratio, before) = (read(file("ratio"))?, read(file("bytes"))?);
        let back =
            if before.trim() == "0" { (file("ratio"), ratio) } else { (file("bytes"), before) };
        fs::write(file("bytes"), bytes.to_string()).with_context(|| file("bytes"))?;
        self.undo.push(Undo::Write(back.0.into(), back.1.trim().to_owned()));
        Ok(())
    }

    /// A setting of a block device's queue.
    pub(crate) fn set_queue(&mut self, device: &str, name: &str, value: &str) -> Result<()> {
        let name_of = device.trim_start_matches("/dev/");
        self.set(&format!("/sys/block/{name_of}/queue/{name}"), value)
    }

    /// Puts the measuring process into a group of this controller, with these files written.
    pub(crate) fn group(&mut self, controller: &str, files: &[(&str, String)]) -> Result<()> {
        let name = format!("iotax-blind-{}", std::process::id());
        let group = Path::new("/sys/fs/cgroup").join(controller).join(name);
        fs::create_dir(&group).with_context(|| group.display().to_string())?;
        self.undo.push(Undo::Group(group.clone()));
        for (file, value) in files {
            let path = group.join(file);
            fs::write(&path, value).with_context(|| path.display().to_string())?;
        }
        self.groups.push(group);
        Ok(())
    }

    /// Something that goes on meanwhile.
    pub(crate) fn meanwhile(&mut self, words: &[&str]) -> Result<()> {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(self.dir.path());
        // A group of its own, to be ended with what it starts.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.undo.push(Undo::End(command.spawn().with_context(|| words.join(" "))?));
        Ok(())
    }

    /// `MAJOR:MINOR` of a block device.
    pub(crate) fn number_of(device: &str) -> Result<String> {
        let name = device.trim_start_matches("/dev/");
        Ok(fs::read_to_string(format!("/sys/block/{name}/dev"))?.trim().to_owned())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        while let Some(undo) = self.undo.pop() {
            if let Err(error) = undo.perform() {
                eprintln!("cannot clean up: {error:#}");
            }
        }
    }
}

impl Undo {
    fn perform(self) -> Result<()> {
        match self {
            Self::Run(words) => run(Command::new(&words[0]).args(&words[1..])).map(drop),
            Self::Write(file, value) => {
                fs::write(&file, value).with_context(|| file.display().to_string())
            }
            Self::Group(group) => {
                fs::remove_dir(&group).with_context(|| group.display().to_string())
            }
            Self::End(mut child) => {
                let group = rustix::process::Pid::from_child(&child);
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                child.wait()?;
                Ok(())
            }
        }
    }
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.with_context(|| command.get_program().display().to_string())?;
    let (said, failed) = (output.stdout, output.stderr);
    ensure!(
        output.status.success(),
        "{:?}: {}{}",
        command,
        String::from_utf8_lossy(&failed),
        String::from_utf8_lossy(&said).chars().take(500).collect::<String>()
    );
    Ok(String::from_utf8_lossy(&said).into_owned())
}
