//! `${NAME}` and fio's keywords (`$ncpus`), put in before an option is read, as `options.c` of fio
//! does (`fio_option_dup_subs`, `fio_keyword_replace`).

use iotax_experiment::Error;

use crate::fio::outside::{Machine, Outside};
use crate::fio::place::TextPlace;
use crate::fio::values;

/// An option with nothing left to be put in.
pub(super) struct Replaced {
    pub text: String,
    /// What was replaced, as written: `${SIZE}`, `$ncpus`.
    pub variables: Vec<String>,
}

/// Replaces all of them in the option at `place`.
pub(super) fn replace(place: &TextPlace, outside: &dyn Outside) -> Result<Replaced, Error> {
    let written = &place.text[place.span.clone()];
    let mut variables = Vec::new();
    let text = environment(place, written, outside, &mut variables)?;
    let with_keywords = keywords(place, &text, outside.machine(), &mut variables)?;
    let text = match with_keywords {
        Some(text) => computed(place, text)?,
        None => text,
    };
    Ok(Replaced { text, variables })
}

fn environment(
    place: &TextPlace,
    written: &str,
    outside: &dyn Outside,
    variables: &mut Vec<String>,
) -> Result<String, Error> {
    let mut text = String::new();
    let mut rest = written;
    while let Some(at) = rest.find("${") {
        let Some(length) = rest[at..].find('}') else { break };
        let variable = &rest[at..=at + length];
        let Some(value) = outside.variable(&variable[2..length]) else {
            return Err(unset(place, variable));
        };
        text.push_str(&rest[..at]);
        text.push_str(&value);
        variables.push(variable.to_owned());
        rest = &rest[at + length + 1..];
    }
    text.push_str(rest);
    Ok(text)
}

/// fio puts nothing in its place, and goes on.
fn unset(place: &TextPlace, variable: &str) -> Error {
    let name = variable.trim_matches(['$', '{', '}']);
    let error = Error::syntax(
        format!("`{variable}` is not set in the environment"),
        format!("set it in front of the command, {name}=VALUE iotax ..., or write its value"),
    );
    marked(place, error, variable)
}

/// The text with fio's keywords replaced; `None` if it has none.
fn keywords(
    place: &TextPlace,
    text: &str,
    machine: Option<Machine>,
    variables: &mut Vec<String>,
) -> Result<Option<String>, Error> {
    let mut replaced = None;
    for word in ["$pagesize", "$mb_memory", "$ncpus"] {
        if !text.contains(word) {
            continue;
        }
        let Some(machine) = machine else {
            let problem = format!("`{word}` is a fact of the machine, and none is known here");
            return Err(marked(place, Error::syntax(problem, "write the number"), word));
        };
        let so_far = replaced.as_deref().unwrap_or(text);
        let fact = match word {
            "$pagesize" => machine.page_bytes,
            "$mb_memory" => machine.memory_mib,
            _ => machine.cpus,
        };
        replaced = Some(so_far.replace(word, &fact.to_string()));
        variables.push(word.to_owned());
    }
    Ok(replaced)
}

/// With a keyword in it, fio gives a value with a sign of arithmetic to `bc`.
fn computed(place: &TextPlace, text: String) -> Result<String, Error> {
    let Some((name, value)) = text.split_once('=') else { return Ok(text) };
    if !text.contains(['+', '-', '*', '/']) || text.contains('\'') {
        return Ok(text);
    }
    match values::computed(value) {
        Some(number) => Ok(format!("{name}={number}")),
        None => Err(place.mark(Error::syntax(
            format!("fio gives `{value}` to the calculator bc, which cannot read it"),
            "write whole numbers, + - * / and parentheses, and no units, beside a keyword",
        ))),
    }
}

fn marked(place: &TextPlace, error: Error, part: &str) -> Error {
    match place.text[place.span.clone()].find(part) {
        Some(at) => {
            let start = place.span.start + at;
            place.mark_part(error, start..start + part.len())
        }
        None => place.mark(error),
    }
}
