//! Finds import cycles between the directories of a crate. A file uses the files that its paths
//! lead to, in `use`, in code and in macros. `mod` lines, tests, and imports within one directory
//! do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::Path;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::sources::each_source;

/// Files by their path below `src`.
type Files = BTreeMap<String, String>;

/// One line for each cycle.
pub(crate) fn found() -> Result<Vec<String>> {
    let mut crates: BTreeMap<String, Files> = BTreeMap::new();
    each_source(|path, text| {
        if let Some((of, file)) = path.split_once("/src/") {
            crates.entry(of.to_owned()).or_default().insert(file.to_owned(), text.to_owned());
        }
    })?;
    let mut lines = Vec::new();
    for (of, files) in &crates {
        let line = |circle: Vec<&str>| format!("  {of}: import cycle of {}", circle.join(", "));
        lines.extend(circles(files)?.into_iter().map(line));
    }
    Ok(lines)
}

/// The cycles of a crate that cross directories, each with its files.
fn circles(files: &Files) -> Result<BTreeSet<Vec<&str>>> {
    let mut modules: BTreeMap<String, &str> = BTreeMap::new();
    let mut paths: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    for (file, text) in files {
        let names: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
        if !names.contains(&"tests") {
            let names = names.into_iter().filter(|name| !["lib", "main", "mod"].contains(name));
            modules.insert(["crate"].into_iter().chain(names).collect::<Vec<_>>().join("::"), file);
            let code = text.parse::<TokenStream>().map_err(|error| anyhow!("{file}: {error}"))?;
            read(code, &[], paths.entry(file).or_default());
        }
    }
    let each = modules.iter().map(|(own, file)| (*file, used(own, &paths[file], &modules)));
    let uses: BTreeMap<&str, BTreeSet<&str>> = each.collect();
    let reach: BTreeMap<_, _> = uses.keys().map(|file| (*file, reached(file, &uses))).collect();
    let mut circles = BTreeSet::new();
    for (file, seen) in &reach {
        if seen.contains(file) {
            circles.insert(seen.iter().copied().filter(|by| reach[by].contains(file)).collect());
        }
    }
    circles.retain(|circle: &Vec<&str>| {
        let directories: BTreeSet<_> = circle.iter().map(|file| Path::new(file).parent()).collect();
        directories.len() > 1
    });
    Ok(circles)
}

/// All files that a file uses, directly or indirectly.
fn reached<'a>(file: &'a str, uses: &BTreeMap<&str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut next = vec![file];
    while let Some(file) = next.pop() {
        next.extend(uses[file].iter().filter(|used| seen.insert(**used)));
    }
    seen
}

/// Collects the paths with several segments in code, each with `prefix` prepended.
fn read(code: TokenStream, prefix: &[String], paths: &mut Vec<Vec<String>>) {
    let (mut path, mut colons, mut is_of_tests) = (prefix.to_vec(), 0, false);
    let keep = |path: Vec<String>, paths: &mut Vec<Vec<String>>| {
        paths.extend(Some(path).filter(|path| path.len() > prefix.len().max(1)));
    };
    for token in code {
        let before = mem::take(&mut colons);
        match token {
            // Skip to the end of the item.
            TokenTree::Group(group) if is_of_tests => {
                is_of_tests = group.delimiter() != Delimiter::Brace;
            }
            TokenTree::Punct(mark) if is_of_tests => is_of_tests = mark.as_char() != ';',
            _ if is_of_tests => {}
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons = before + 1,
            TokenTree::Punct(mark) if before == 2 && mark.as_char() == '*' => {
                path.push("*".to_owned());
            }
            TokenTree::Ident(name) if before == 2 => path.push(name.to_string()),
            TokenTree::Ident(name) => {
                keep(mem::replace(&mut path, prefix.to_vec()), paths);
                path.push(name.to_string());
            }
            TokenTree::Group(group) if before == 2 => {
                read(group.stream(), &mem::replace(&mut path, prefix.to_vec()), paths);
            }
            TokenTree::Group(group) if is_cfg_test(&group) => is_of_tests = true,
            // `pub(in crate::a)` is not an import.
            TokenTree::Group(group) if path.last().is_none_or(|word| word != "pub") => {
                read(group.stream(), &[], paths);
            }
            _ => {}
        }
    }
    keep(path, paths);
}

fn is_cfg_test(attribute: &Group) -> bool {
    attribute.delimiter() == Delimiter::Bracket
        && attribute.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The other files that the paths of a module lead to.
fn used<'a>(
    own: &str,
    paths: &[Vec<String>],
    modules: &BTreeMap<String, &'a str>,
) -> BTreeSet<&'a str> {
    let lead = |path: &[String], scope: &BTreeMap<&str, String>| {
        let (mut found, path) = match path[0].as_str() {
            "crate" => ("crate".to_owned(), &path[1..]),
            name => scope.get(name).map_or((own.to_owned(), path), |it| (it.clone(), &path[1..])),
        };
        for name in path {
            let next = match name.as_str() {
                "self" => continue,
                "super" => found.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned(),
                name => format!("{found}::{name}"),
            };
            if !modules.contains_key(&next) {
                break;
            }
            found = next;
        }
        found
    };
    // Imported modules, as opposed to items in them.
    let mut scope = BTreeMap::new();
    for path in paths {
        let last = path.iter().rfind(|name| *name != "self").map_or("", String::as_str);
        let module = lead(path, &BTreeMap::new());
        if module.ends_with(&format!("::{last}")) {
            scope.insert(last, module);
        }
    }
    let others = paths.iter().map(|path| lead(path, &scope)).filter(|module| module != own);
    others.filter_map(|module| modules.get(&module).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycles of files given as `name: text`.
    fn of<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
        let files = files.map(|(file, text)| (file.to_owned(), text.to_owned())).into();
        circles(&files).unwrap().iter().map(|circle| circle.join(" ")).collect()
    }

    #[test]
    fn directories_that_use_each_other_are_a_circle_however_they_say_it() {
        let uses = |a, b| of([("lib.rs", "mod a; mod b;"), ("a/mod.rs", a), ("b/mod.rs", b)]);
        let circle = ["a/mod.rs b/mod.rs"];
        assert_eq!(uses("use crate::b::B;", "use super::a::A;"), circle);
        assert_eq!(uses("use crate::{b::{B, C}, c};", "fn f() -> crate::a::A { todo!() }"), circle);
        assert_eq!(uses("use crate::b; fn f() { b::f() }", "g!(super::a::A)"), circle);
        assert_eq!(uses("use crate::b;", "fn f() { a::f() } // crate::a"), [""; 0]);
        assert_eq!(
            uses("use crate::b;", "pub(in crate::a) const A: &str = \"crate::a\";"),
            [""; 0]
        );
    }

    #[test]
    fn files_of_one_directory_may_use_each_other() {
        let files = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;")];
        assert_eq!(of([files[0], files[1], ("b.rs", "use crate::a::A;")]), [""; 0]);
    }

    #[test]
    fn what_a_directory_takes_of_the_one_that_uses_it_makes_a_circle() {
        let parent = "mod c; mod d; pub use c::C; pub use self::d::D;";
        let files = |c, d| {
            of([("lib.rs", "mod p;"), ("p/mod.rs", parent), ("p/c/mod.rs", c), ("p/d.rs", d)])
        };
        assert_eq!(files("use super::D;", ""), ["p/c/mod.rs p/mod.rs"]);
        assert_eq!(files("use super::d::D;", ""), [""; 0]);
        assert_eq!(files("use super::d::D;", "use super::*;"), ["p/c/mod.rs p/d.rs p/mod.rs"]);
        assert_eq!(files("use super::d::D;", "use super::c::C;"), ["p/c/mod.rs p/d.rs"]);
    }

    #[test]
    fn several_circles_are_told_apart_and_what_the_root_hands_out_is_of_the_root() {
        let files = [
            ("lib.rs", "mod a; mod b; mod c; pub use a::A;"),
            ("a/mod.rs", "use crate::b::B;"),
            ("b/mod.rs", "use crate::A;"),
            ("c/mod.rs", "mod d; use d::D;"),
            ("c/d/mod.rs", "use super::C;"),
        ];
        assert_eq!(of(files), ["a/mod.rs b/mod.rs lib.rs", "c/d/mod.rs c/mod.rs"]);
    }

    #[test]
    fn tests_may_use_what_they_like() {
        let files = [
            ("lib.rs", "mod a; use a::A; #[cfg(test)] mod tests;"),
            (
                "a/mod.rs",
                "#[cfg(test)] use crate::{B, C}; #[cfg(test)] mod tests { use crate::D; }",
            ),
            ("tests.rs", "use super::*; use crate::a;"),
        ];
        assert_eq!(of(files), [""; 0]);
    }
}
