//! Options of the program fio itself, as against those of jobs.

/// Whether a value follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    /// Only with an equals sign.
    Perhaps,
    Value,
}

/// What becomes of it here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is about fio's own output or memory, and changes no I/O.
    Ignored,
    /// It chooses among the sections of the job file.
    Section,
    /// fio does something else than run jobs from this command line.
    Refused(&'static str),
}

#[derive(Debug)]
pub(super) struct ProgramOption {
    pub name: &'static str,
    /// `-o` for `--output`; fio's `getopt` takes these too.
    pub letter: char,
    pub takes: Takes,
    pub fate: Fate,
}

const fn option(name: &'static str, letter: char, takes: Takes, fate: Fate) -> ProgramOption {
    ProgramOption { name, letter, takes, fate }
}

const NO_LOAD: Fate = Fate::Refused("makes fio print something instead of running jobs");
const REMOTE: Fate = Fate::Refused("lets fio run on another machine");
const TRIGGER: Fate = Fate::Refused("runs a command in the middle of the load");

/// All of fio 3.33 on Linux (`l_opts` in `init.c`).
pub(super) static ALL: &[ProgramOption] = &{
    use Fate::{Ignored, Refused, Section};
    use Takes::{Nothing, Perhaps, Value};
    [
        option("output", 'o', Value, Ignored),
        option("latency-log", 'l', Value, Refused("is no longer an option of fio")),
        option("bandwidth-log", 'b', Nothing, Ignored),
        option("minimal", 'm', Nothing, Ignored),
        option("output-format", 'F', Value, Ignored),
        option("append-terse", 'f', Perhaps, Ignored),
        option("version", 'v', Nothing, NO_LOAD),
        option("help", 'h', Nothing, NO_LOAD),
        option("cmdhelp", 'c', Perhaps, NO_LOAD),
        option("enghelp", 'i', Perhaps, NO_LOAD),
        option("showcmd", 's', Nothing, NO_LOAD),
        option("readonly", 'r', Nothing, Ignored),
        option("eta", 'e', Value, Ignored),
        option("eta-interval", 'O', Value, Ignored),
        option("eta-newline", 'E', Value, Ignored),
        option("debug", 'd', Value, Ignored),
        option("parse-only", 'P', Nothing, NO_LOAD),
        option("section", 'x', Value, Section),
        option("inflate-log", 'X', Value, NO_LOAD),
        option("alloc-size", 'a', Value, Ignored),
        option("profile", 'p', Value, Refused("is a load made by fio's own code")),
        option("warnings-fatal", 'w', Nothing, Ignored),
        option("max-jobs", 'j', Value, Ignored),
        option("terse-version", 'V', Value, Ignored),
        option("server", 'S', Perhaps, REMOTE),
        option("daemonize", 'D', Value, REMOTE),
        option("client", 'C', Value, REMOTE),
        option("remote-config", 'R', Value, REMOTE),
        option("cpuclock-test", 'T', Nothing, NO_LOAD),
        option("crctest", 'G', Perhaps, NO_LOAD),
        option("memcpytest", 'M', Perhaps, NO_LOAD),
        option("idle-prof", 'I', Value, Ignored),
        option("status-interval", 'L', Value, Ignored),
        option("trigger-file", 'W', Value, TRIGGER),
        option("trigger-timeout", 'B', Value, TRIGGER),
        option("trigger", 'H', Value, TRIGGER),
        option("trigger-remote", 'J', Value, TRIGGER),
        option("aux-path", 'K', Value, Ignored),
        option("merge-blktrace-only", 'A', Nothing, NO_LOAD),
    ]
};

/// By its whole name.
pub(super) fn program_option(name: &str) -> Option<&'static ProgramOption> {
    ALL.iter().find(|option| option.name == name)
}

/// By its letter, if `name` is one.
pub(super) fn by_letter(name: &str) -> Option<&'static ProgramOption> {
    let mut letters = name.chars();
    let (letter, None) = (letters.next()?, letters.next()) else { return None };
    ALL.iter().find(|option| option.letter == letter)
}
