//! Programs for an image: their architecture and their libraries.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{Architecture, Endianness, Object as _};

use crate::archive::{File, Platform};

/// The running program, with the libraries that it has loaded.
///
/// # Errors
/// If one of its files cannot be read any more.
pub fn this_program() -> io::Result<Platform> {
    let program = std::env::current_exe()?;
    let content = fs::read(&program)?;
    let Facts { architecture, loader } = facts(&content)?;
    let maps = fs::read_to_string("/proc/self/maps")?;
    let mut files = vec![File::program(content)];
    // The program asks for it by a name that may be a link to where it is mapped from.
    for path in libraries(&maps, &program).into_iter().chain(loader) {
        let inside = path.strip_prefix("/").expect("it is absolute").display().to_string();
        files.push(File { path: inside, content: fs::read(&path)? });
    }
    Ok(Platform { architecture, files })
}

/// A program for another machine.
///
/// # Errors
/// If it cannot be read, is not a program for Linux, or needs libraries that are unknown.
pub fn of_file(path: &Path) -> io::Result<Platform> {
    let content = fs::read(path)?;
    let Facts { architecture, loader } = facts(&content)?;
    if loader.is_some() {
        return Err(io::Error::other(
            "it is not statically linked, so its libraries would be missing; use the program of a \
             release",
        ));
    }
    Ok(Platform { architecture, files: vec![File::program(content)] })
}

/// Files that are mapped for execution, except the program itself.
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
    /// In the notation of Go and Debian.
    architecture: String,
    /// The loader of its libraries; `None` for a static program.
    loader: Option<PathBuf>,
}

fn facts(content: &[u8]) -> io::Result<Facts> {
    let no_program = |_| io::Error::other("it is not a 64-bit Linux program");
    let file: ElfFile64<'_, Endianness> = ElfFile64::parse(content).map_err(no_program)?;
    let architecture = match file.architecture() {
        Architecture::X86_64 => "amd64",
        Architecture::Aarch64 => "arm64",
        other => {
            return Err(io::Error::other(format!("its architecture is not supported: {other:?}")));
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
