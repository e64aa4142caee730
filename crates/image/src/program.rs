//! Determines the architecture and the libraries of a program for an image.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{Architecture, Endianness, Object as _};

use crate::archive::{File, Platform};

/// Returns the running program with its loaded libraries.
///
/// # Errors
/// If one of the files cannot be read.
pub fn this_program() -> io::Result<Platform> {
    let program = std::env::current_exe()?;
    let content = fs::read(&program)?;
    let Facts { architecture, loader } = facts(&content)?;
    let maps = fs::read_to_string("/proc/self/maps")?;
    let mut files = vec![File::program(content)];
    // The loader's path may be a symbolic link, so it differs from the mapped path.
    for path in libraries(&maps, &program).into_iter().chain(loader) {
        let inside = path.strip_prefix("/").expect("it is absolute").display().to_string();
        files.push(File { path: inside, content: fs::read(&path)? });
    }
    Ok(Platform { architecture, files })
}

/// Reads a program for another machine.
///
/// # Errors
/// If the file cannot be read, is not a Linux program, or is not statically linked.
pub fn of_file(path: &Path) -> io::Result<Platform> {
    let content = fs::read(path)?;
    let Facts { architecture, loader } = facts(&content)?;
    if loader.is_some() {
        return Err(io::Error::other(
            "the program is not statically linked, so its libraries would be missing; use a \
             release build",
        ));
    }
    Ok(Platform { architecture, files: vec![File::program(content)] })
}

/// Returns the files that are mapped as executable, except the program.
fn libraries(maps: &str, program: &Path) -> BTreeSet<PathBuf> {
    let of = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let may = words.nth(1)?;
        let path = PathBuf::from(words.nth(3)?);
        (may.contains('x') && path.is_absolute() && path != program).then_some(path)
    };
    maps.lines().filter_map(of).collect()
}

struct Facts {
    /// Architecture name as in Go and Debian.
    architecture: String,
    /// The dynamic loader; `None` for a static program.
    loader: Option<PathBuf>,
}

fn facts(content: &[u8]) -> io::Result<Facts> {
    let no_program = |_| io::Error::other("the file is not a 64-bit Linux executable");
    let file: ElfFile64<'_, Endianness> = ElfFile64::parse(content).map_err(no_program)?;
    let architecture = match file.architecture() {
        Architecture::X86_64 => "amd64",
        Architecture::Aarch64 => "arm64",
        other => {
            return Err(io::Error::other(format!(
                "architecture {other:?} is not supported; use a program for x86-64 or arm64"
            )));
        }
    };
    let loader = file
        .elf_program_headers()
        .iter()
        .find_map(|header| header.interpreter(file.endian(), content).transpose())
        .transpose()
        .map_err(no_program)?
        .map(|path| PathBuf::from(OsStr::from_bytes(path)));
    Ok(Facts { architecture: architecture.to_owned(), loader })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_program_comes_with_its_libraries() {
        let own = this_program().unwrap();
        assert_eq!(own.files[0].content, fs::read("/proc/self/exe").unwrap());
        let has = |what: &str| own.files.iter().any(|file| file.path.contains(what));
        let loader = facts(&own.files[0].content).unwrap().loader.unwrap();
        assert!(has("libc.so") && has(loader.to_str().unwrap().trim_start_matches('/')));
        let why = of_file(&std::env::current_exe().unwrap()).unwrap_err();
        assert!(why.to_string().contains("not static"), "{why}");
        assert!(of_file(Path::new("/etc/passwd")).is_err());
    }

    #[test]
    fn only_what_is_executed_is_a_library() {
        let maps = "\
            5600-5700 r-xp 00000000 fe:00 1 /usr/bin/iotax\n\
            7f00-7f01 r--p 00000000 fe:00 2 /usr/share/locale/a\n\
            7f01-7f02 r-xp 00000000 fe:00 3 /usr/lib/libc.so.6\n\
            7f02-7f03 rw-p 00000000 00:00 0\n\
            7ff0-7ff1 r-xp 00000000 00:00 0 [vdso]\n";
        let libraries = libraries(maps, Path::new("/usr/bin/iotax"));
        assert_eq!(libraries.into_iter().collect::<Vec<_>>(), [Path::new("/usr/lib/libc.so.6")]);
    }
}
