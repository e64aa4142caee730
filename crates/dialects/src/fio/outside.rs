//! What a text of fio's takes from outside of itself.

/// Facts of the machine that job files may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Machine {
    /// `$pagesize`, in bytes.
    pub page_bytes: u64,
    /// `$mb_memory`, in MiB.
    pub memory_mib: u64,
    /// `$ncpus`: CPUs that are configured, online or not.
    pub cpus: u64,
}

/// Files, variables and facts that a job file or a command line names.
pub trait Outside {
    /// The text of a file by its name, or why there is none.
    ///
    /// # Errors
    /// In words, for people.
    fn file(&self, name: &str) -> Result<String, String>;

    /// A variable of the environment; nothing is known of it where a text is read apart from any
    /// environment.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// The machine, where there is one.
    fn machine(&self) -> Option<Machine> {
        None
    }
}

/// Files alone.
impl<F: Fn(&str) -> Result<String, String>> Outside for F {
    fn file(&self, name: &str) -> Result<String, String> {
        self(name)
    }
}

/// What lies around the text that is read.
pub type Include<'a> = &'a dyn Outside;
