use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use iotax_experiment::{Form, Layer, LayerInfo, World};
use iotax_rig::{Missing, requirements};
use serde_json::{Value, json};

use crate::args::LayersArgs;
use crate::exit::{Exit, Result};
use crate::output::{self, list};

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const HEADING: Style = Style::new().bold();
/// Columns of names, and of everything before the explanation.
const NAME_COLUMNS: usize = 11;
const INDENT_COLUMNS: usize = NAME_COLUMNS + 7;

/// `iotax layers [NAME]`
pub(crate) fn layers(args: &LayersArgs) -> Result<Exit> {
    let page = Page { color: output::colored(args.listing.color), columns: output::columns() };
    let format = args.listing.format;
    let Some(name) = &args.name else {
        let value = || json!({ "layers": Layer::catalog().map(as_json).collect::<Vec<_>>() });
        return list(format, || page.of_all(), value);
    };
    let layer = LayerInfo::named(name)?;
    list(format, || page.of_one(layer), || json!({ "layers": [as_json(layer)] }))
}

/// The layout of text.
struct Page {
    color: bool,
    columns: usize,
}

impl Page {
    fn of_all(&self) -> String {
        let mut out = String::new();
        let mut remedies = BTreeMap::new();
        out.push_str("A stack lists a base and the layers on top of it, from bottom to top:\n");
        out.push_str("  iotax peel 'file(size=2G) + luks + luks + ext4'\n");
        out.push_str("  iotax peel 'netns + vxlan + wireguard'\n");
        let of = |is_network| Layer::catalog().filter(move |l| l.is_network() == is_network);
        let bases = |is_network| of(is_network).filter(|l| l.is_base());
        let above = |is_network| of(is_network).filter(|l| !l.is_base());
        self.group(&mut out, "Bases", bases(false), false, &mut remedies);
        let in_process = above(false).filter(|l| l.world != World::System);
        let heading = "Layers in iotax's own process (no root, nothing to install)";
        self.group(&mut out, heading, in_process, true, &mut remedies);
        let of_system = above(false).filter(|l| l.world != World::InProcess);
        self.group(&mut out, "System layers", of_system, false, &mut remedies);
        self.group(&mut out, "Network path bases", bases(true), false, &mut remedies);
        let heading = "Network path layers";
        self.group(&mut out, heading, above(true), false, &mut remedies);
        if !remedies.is_empty() {
            let _ = writeln!(out, "\n{}", self.paint("Missing on this machine", HEADING));
            for (what, remedy) in remedies {
                self.fill(&mut out, &format!("{what}: {remedy}"), "  ", "    ");
            }
        }
        out.push('\n');
        self.fill(&mut out, "`iotax layers NAME` explains a layer and its parameters.", "", "");
        out
    }

    fn group(
        &self,
        out: &mut String,
        heading: &str,
        layers: impl Iterator<Item = &'static LayerInfo>,
        in_process: bool,
        remedies: &mut BTreeMap<String, String>,
    ) {
        let _ = writeln!(out, "\n{}", self.paint(heading, HEADING));
        for layer in layers {
            let missing = if in_process { Vec::new() } else { iotax_rig::availability(layer) };
            let answer = self.answer(missing.is_empty());
            let name = format!("  {:NAME_COLUMNS$}{answer}  ", layer.name);
            let indent = " ".repeat(INDENT_COLUMNS);
            let mut about = String::new();
            self.fill(&mut about, plain_about(layer), &indent, &indent);
            // Colours of the answer have no width, so it is inserted after wrapping.
            let _ = write!(out, "{name}{}", about.trim_start());
            if !missing.is_empty() {
                let what: Vec<_> = missing.iter().map(|missing| missing.what.as_str()).collect();
                self.fill(out, &format!("({})", what.join("; ")), &indent, &indent);
            }
            remedies.extend(missing.into_iter().map(|Missing { what, remedy }| (what, remedy)));
        }
    }

    fn of_one(&self, layer: &'static LayerInfo) -> String {
        let mut out = String::new();
        let name = self.paint(layer.name, HEADING);
        let _ = writeln!(out, "{name}: {}", plain_about(layer));
        self.fill(&mut out, &place(layer), "  ", "  ");
        let _ = writeln!(out, "  For example: {}", layer.example);
        if !layer.parameters.is_empty() {
            let _ = writeln!(out, "\n{}", self.paint("Parameters", HEADING));
        }
        for parameter in layer.parameters {
            let _ = writeln!(out, "  {}={}", parameter.name, parameter.unit.placeholder());
            let default = parameter.default.map(|value| format!(" (default: {value})"));
            let about = format!("{}{}", parameter.about, default.unwrap_or_default());
            self.fill(&mut out, &about, "      ", "      ");
        }
        let _ = writeln!(out, "\n{}", self.paint("Needs", HEADING));
        let needs = requirements(layer);
        let nothing = match layer.world {
            World::InProcess => Some("nothing"),
            World::Both if needs.is_empty() => Some("nothing"),
            World::Both => Some("nothing in iotax's own process; in the operating system:"),
            World::System => needs.is_empty().then_some("nothing"),
        };
        if let Some(nothing) = nothing {
            let _ = writeln!(out, "  {nothing}");
        }
        for need in needs {
            let _ = writeln!(out, "  {}  {}", self.answer(need.missing.is_none()), need.what);
            if let Some(Missing { what, remedy }) = need.missing {
                self.fill(&mut out, &format!("{what}: {remedy}"), "       ", "       ");
            }
        }
        out
    }

    fn answer(&self, yes: bool) -> String {
        if yes { self.paint("yes", GOOD) } else { self.paint("no ", BAD) }
    }

    fn paint(&self, text: &str, style: Style) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Appends `text` as complete lines.
    fn fill(&self, out: &mut String, text: &str, first_indent: &str, indent: &str) {
        output::wrap_at(self.columns, out, text, first_indent, indent);
    }
}

/// The description without `base: `, which the heading says.
fn plain_about(layer: &LayerInfo) -> &'static str {
    layer.about.strip_prefix("base: ").unwrap_or(layer.about)
}

fn place(layer: &LayerInfo) -> String {
    let lives = match layer.world {
        World::InProcess => "Runs in iotax's own process",
        World::System => "Runs in the operating system",
        World::Both => {
            "Runs in iotax's own process, or in the operating system if other layers of the stack \
             do"
        }
    };
    let forms = |forms: &[Form]| {
        let words: Vec<_> = forms.iter().map(|form| form.with_article()).collect();
        words.join(" or ")
    };
    let below = match layer.takes {
        [] => "is a base".to_owned(),
        _ if layer.world == World::InProcess => "needs in-process layers below it".to_owned(),
        takes => format!("needs {} below it", forms(takes)),
    };
    let above = match layer.gives {
        Some(form) if layer.world != World::InProcess => {
            format!(", and provides {}", form.with_article())
        }
        _ => String::new(),
    };
    format!("{lives}; {below}{above}.")
}

fn as_json(layer: &'static LayerInfo) -> Value {
    let needs = requirements(layer);
    let form = |form: &Form| match form {
        Form::File => "file",
        Form::Block => "block device",
        Form::Directory => "directory",
        Form::Ethernet => "Ethernet path",
        Form::Network => "path of IP packets",
        Form::Service => "address of a service",
        Form::Connections => "path of TCP connections",
    };
    let parameter = |parameter: &iotax_experiment::Parameter| {
        json!({
            "name": parameter.name,
            "unit": parameter.unit.placeholder(),
            "default": parameter.default,
            "about": parameter.about,
        })
    };
    let need = |need: &iotax_rig::Requirement| {
        let missing = need.missing.as_ref();
        json!({
            "what": need.what,
            "met": missing.is_none(),
            "problem": missing.map(|missing| &missing.what),
            "remedy": missing.map(|missing| &missing.remedy),
        })
    };
    let in_system = needs.iter().all(|need| need.missing.is_none());
    json!({
        "name": layer.name,
        "about": plain_about(layer),
        "base": layer.is_base(),
        "takes": layer.takes.iter().map(form).collect::<Vec<_>>(),
        "gives": layer.gives.as_ref().map(form),
        "example": layer.example,
        "parameters": layer.parameters.iter().map(parameter).collect::<Vec<_>>(),
        "available": {
            "in_process": layer.world != World::System,
            "in_system": layer.world != World::InProcess && in_system,
        },
        "needs_in_system": needs.iter().map(need).collect::<Vec<_>>(),
    })
}
