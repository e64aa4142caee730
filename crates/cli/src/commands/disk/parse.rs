//! Disks as written: `DIRECTORY=STACK`.

use std::path::{Path, PathBuf};

use iotax_experiment::Stack;
use iotax_rig::Disk;

use crate::exit::{Result, usage};

/// Reads each of them.
pub(super) fn parse(texts: &[String]) -> Result<Vec<Disk>> {
    texts.iter().map(|text| parse_one(text)).collect()
}

pub(super) fn parse_one(text: &str) -> Result<Disk> {
    let example = "write where to mount it and its layers: /mnt/disk='file(size=1G) + \
                   throttle(iops=4000)'";
    let splits = || text.match_indices('=').map(|(at, _)| (&text[..at], &text[at + 1..]));
    // A directory's name may hold anything, `=` included.
    let understood = splits().find_map(|(at, stack)| Some((at, Stack::parse(stack).ok()?)));
    let (at, stack) = if let Some(understood) = understood {
        understood
    } else {
        let (at, stack) = splits()
            .next()
            .filter(|(at, _)| !at.contains('('))
            .ok_or_else(|| usage(format!("`{text}` names no directory; {example}")))?;
        (at, Stack::parse(stack)?)
    };
    if at.is_empty() {
        return Err(usage(format!("`{text}` names no directory; {example}")));
    }
    if !stack.is_in_process() {
        let problem = "a virtual disk has layers of iotax's own process only; see `iotax layers`";
        return Err(usage(format!("{stack}: {problem}")));
    }
    Ok(Disk { at: std::path::absolute(Path::new(at))?, stack: absolute(stack)? })
}

/// With the file below it named from the root: the server may work elsewhere.
fn absolute(mut stack: Stack) -> Result<Stack> {
    let directory = std::env::current_dir()?;
    let home: Option<PathBuf> = std::env::home_dir();
    stack.resolve_paths(&directory, home.as_deref());
    Ok(stack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_may_be_called_anything() {
        for at in ["/vm", "/a=b", "/a (deleted)", "/a='b, c'", "/mem(size=1G) + x"] {
            let disk = parse_one(&format!("{at}=mem(size=1M) + delay(latency=1ms)")).unwrap();
            assert_eq!(disk.at, Path::new(at));
            assert_eq!(disk.stack.layers.len(), 2);
        }
        for text in ["mem(size=1M)", "=mem(size=1M)", "", "/vm", "/vm=", "/vm=ext4"] {
            assert!(parse_one(text).is_err(), "{text}");
        }
    }
}
