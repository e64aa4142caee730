//! Arms for all combinations of the levels of factors: `sec=sys,krb5` times `nconnect=1,4`.

use iotax_layers::{Error, Layer, LayerInfo, WrittenLayer, written_layers};
use serde::{Deserialize, Serialize};

use crate::spec::{Arm, Draft, Target};

/// More would take days and give an unreadable report.
const MAX_CELLS: usize = 128;
const SHAPE: &str = "specify a factor and its levels, as in sec=sys,krb5,krb5p";

/// The level of a factor that an arm has.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setting {
    pub factor: String,
    pub level: String,
}

/// A factor with its levels; the first is the one to compare with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    pub name: String,
    /// In order.
    pub levels: Vec<String>,
}

/// The factors of an experiment, and the combinations of levels that are its arms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// The factors, each with at least two levels.
    pub factors: Vec<Factor>,
    /// By arm: index of its level for each factor.
    pub cells: Vec<Vec<usize>>,
}

impl Matrix {
    /// Reads the factors (`sec=sys,krb5`), and the combinations to leave out.
    ///
    /// # Errors
    /// As [`Self::new`]; text that is not a factor.
    pub fn parse<S: AsRef<str>>(texts: &[S], excluded: &[S]) -> Result<Self, Error> {
        let factors: Result<_, _> = texts.iter().map(|text| Factor::parse(text.as_ref())).collect();
        Self::new(factors?)?.without(excluded)
    }

    /// All combinations of the factors, the last one changing fastest.
    ///
    /// # Errors
    /// An invalid factor; too many combinations.
    pub fn new(factors: Vec<Factor>) -> Result<Self, Error> {
        for (at, factor) in factors.iter().enumerate() {
            factor.validate()?;
            if factors[..at].iter().any(|other| other.name == factor.name) {
                return Err(Error::Duplicate { what: "factor", name: factor.name.clone() });
            }
        }
        let mut cells: Vec<Vec<usize>> = vec![Vec::new()];
        for factor in &factors {
            let longer = |cell: &Vec<usize>| {
                let cell = cell.clone();
                (0..factor.levels.len()).map(move |level| [cell.as_slice(), &[level]].concat())
            };
            if cells.len() * factor.levels.len() > MAX_CELLS {
                let problem = format!("more than {MAX_CELLS} combinations");
                return Err(Error::syntax(problem, "remove some factors or levels"));
            }
            cells = cells.iter().flat_map(longer).collect();
        }
        Ok(Self { factors, cells })
    }

    /// Leaves out combinations that have all levels of an entry in `excluded`
    /// (`sec=krb5,nconnect=1`).
    ///
    /// # Errors
    /// An unknown exclusion; fewer than two remaining combinations.
    pub fn without<S: AsRef<str>>(mut self, excluded: &[S]) -> Result<Self, Error> {
        let all = self.cells.len();
        for text in excluded {
            let rule = exclusion(text.as_ref(), &self.factors)?;
            self.cells.retain(|cell| !rule.iter().all(|[factor, level]| cell[*factor] == *level));
        }
        match self.cells.len() {
            0 | 1 => {
                let left = if self.cells.is_empty() { "none" } else { "one" };
                let problem = format!("the exclusions leave {left} of the {all} combinations");
                Err(Error::syntax(
                    problem,
                    "exclude fewer combinations, so that at least two remain",
                ))
            }
            _ => Ok(self),
        }
    }

    /// Refuses placeholders in a target without a factor.
    ///
    /// # Errors
    /// The first of them.
    pub fn refuse_open_places(template: &str, factors: &[Factor]) -> Result<(), Error> {
        let opened = template.split('{').skip(1);
        let mut places = opened.filter_map(|rest| Some(rest.split_once('}')?.0));
        match places.find(|place| factors.iter().all(|factor| factor.name != *place)) {
            Some(place) => {
                let names = factors.iter().map(|factor| factor.name.as_str());
                Err(Error::unknown("factor", place, names))
            }
            None => Ok(()),
        }
    }

    /// The matrix of these arms, if each has a level for the same factors.
    pub fn of_arms(arms: &[Arm]) -> Option<Self> {
        let first = &arms.first()?.levels;
        let names: Vec<&str> = first.iter().map(|setting| setting.factor.as_str()).collect();
        let mut factors: Vec<Factor> =
            names.iter().map(|name| Factor { name: (*name).into(), levels: Vec::new() }).collect();
        let mut cells = Vec::new();
        for arm in arms {
            if !arm.levels.iter().map(|setting| setting.factor.as_str()).eq(names.iter().copied()) {
                return None;
            }
            let of = |(factor, setting): (&mut Factor, &Setting)| {
                factor.levels.iter().position(|level| *level == setting.level).unwrap_or_else(
                    || {
                        factor.levels.push(setting.level.clone());
                        factor.levels.len() - 1
                    },
                )
            };
            cells.push(factors.iter_mut().zip(&arm.levels).map(of).collect());
        }
        let has_choice = factors.iter().any(|factor| factor.levels.len() > 1);
        has_choice.then_some(Self { factors, cells })
    }

    /// An arm for each combination: `template` with levels in the place of `{factor}`, or as the
    /// parameter with that name in one of its layers.
    ///
    /// # Errors
    /// A factor without a place, or with several layers that have the parameter; an invalid target.
    pub fn arms(&self, template: &str) -> Result<Vec<Arm>, Error> {
        let arm = |cell: &Vec<usize>| {
            let levels: Vec<Setting> = (self.factors.iter().zip(cell))
                .map(|(factor, level)| Setting {
                    factor: factor.name.clone(),
                    level: factor.levels[*level].clone(),
                })
                .collect();
            let name: Vec<&str> = levels.iter().map(|setting| setting.level.as_str()).collect();
            let target = Target::parse(&filled_in(template, &levels)?)?;
            Ok(Arm { levels: levels.clone(), ..Arm::new(name.join("/"), target) })
        };
        self.cells.iter().map(arm).collect()
    }
}

impl Draft {
    /// The matrix of its arms, if they have one.
    pub fn matrix(&self) -> Option<Matrix> {
        Matrix::of_arms(&self.arms)
    }
}

impl Factor {
    /// Reads `sec=sys,krb5`.
    ///
    /// # Errors
    /// Text that is not a factor.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let Some((name, levels)) = text.split_once('=') else {
            return Err(Error::syntax(format!("`{text}` is not a factor"), SHAPE));
        };
        let levels = split_at_commas(levels).map(|level| level.trim().to_owned()).collect();
        Ok(Self { name: name.trim().to_owned(), levels })
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        let Self { name, levels } = self;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(Error::syntax(format!("`{name}` is not a valid factor name"), SHAPE));
        }
        if levels.iter().any(String::is_empty) {
            return Err(Error::syntax(format!("a level of `{name}` is empty"), SHAPE));
        }
        if let Some(twice) = (1..levels.len()).find(|at| levels[..*at].contains(&levels[*at])) {
            return Err(Error::Duplicate { what: "level", name: levels[twice].clone() });
        }
        if levels.len() < 2 {
            return Err(Error::syntax(format!("`{name}` has only one level"), SHAPE));
        }
        Ok(())
    }
}

/// `sec=krb5,nconnect=1` as indices of factors and levels.
fn exclusion(text: &str, factors: &[Factor]) -> Result<Vec<[usize; 2]>, Error> {
    let setting = |part: &str| {
        let Some((name, level)) = part.split_once('=') else {
            let advice = "specify the levels that the excluded arms have in common, as in \
                          sec=krb5,nconnect=1";
            return Err(Error::syntax(format!("`{part}` is not a level of any factor"), advice));
        };
        let (name, level) = (name.trim(), level.trim());
        let names = || factors.iter().map(|factor| factor.name.as_str());
        let factor = factors.iter().position(|factor| factor.name == name);
        let factor = factor.ok_or_else(|| Error::unknown("factor", name, names()))?;
        let levels = &factors[factor].levels;
        let known = || levels.iter().map(String::as_str);
        let at = levels.iter().position(|known| known == level);
        Ok([factor, at.ok_or_else(|| Error::unknown("level", level, known()))?])
    };
    split_at_commas(text).map(setting).collect()
}

/// Commas in brackets or quotes do not separate: they are part of a layer or a value.
fn split_at_commas(text: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut is_quoted) = (0_i32, false);
    text.split(move |c: char| {
        is_quoted ^= c == '"';
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0 && !is_quoted
    })
}

/// Whether a factor has a place in a target, or is a parameter of one of its layers. Places of
/// other factors may still be open.
pub(crate) fn stands_in(factor: &Factor, template: &str) -> bool {
    let (layer, name) = layer_and_parameter(&factor.name);
    let mut words = template.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let has = |word: &str| {
        let is_it =
            |info: &&LayerInfo| info.name == word && layer.is_none_or(|layer| layer == word);
        let mut infos = Layer::catalog().filter(is_it);
        infos.any(|info| info.parameters.iter().any(|parameter| parameter.name == name))
    };
    template.contains(&format!("{{{}}}", factor.name)) || words.any(has)
}

/// `delay.jitter` as layer and parameter.
fn layer_and_parameter(factor: &str) -> (Option<&str>, &str) {
    factor.rsplit_once('.').map_or((None, factor), |(layer, name)| (Some(layer), name))
}

fn filled_in(template: &str, levels: &[Setting]) -> Result<String, Error> {
    let place = |setting: &Setting| format!("{{{}}}", setting.factor);
    let (placed, others): (Vec<&Setting>, Vec<&Setting>) =
        levels.iter().partition(|setting| template.contains(&place(setting)));
    let text = placed
        .iter()
        .fold(template.to_owned(), |text, setting| text.replace(&place(setting), &setting.level));
    others.iter().try_fold(text, |text, setting| as_parameter(&text, setting))
}

/// Sets the parameter of the layer that has it. A layer may be written without a required parameter
/// if a factor provides it; implied layers are added.
fn as_parameter(text: &str, setting: &Setting) -> Result<String, Error> {
    let Setting { factor, level } = setting;
    let (layer, name) = layer_and_parameter(factor);
    let written = written_layers(text);
    let having: Vec<&WrittenLayer> = (written.iter())
        .filter(|written| layer.is_none_or(|layer| written.info.name == layer))
        .filter(|written| written.info.parameters.iter().any(|known| known.name == name))
        .collect();
    if let [layer] = having.as_slice() {
        if layer.given.iter().any(|given| given == name) {
            let problem = format!("`{}` already has a value for `{name}`", layer.info.name);
            let advice = format!("use {{{factor}}} instead of that value");
            return Err(Error::syntax(problem, advice));
        }
        return Ok(layer.with(text, name, level));
    }
    let place = format!("put {{{factor}}} where its levels belong");
    if !having.is_empty() {
        return Err(Error::syntax(format!("several layers of `{text}` have a `{name}`"), place));
    }
    let completed = Target::parse(text)?.to_string();
    if written_layers(&completed).len() > written.len() {
        return as_parameter(&completed, setting);
    }
    let known = written.iter().flat_map(|layer| layer.info.parameters);
    let known: Vec<&str> = known.map(|parameter| parameter.name).collect();
    let problem = format!("no layer in `{text}` has a parameter `{factor}`");
    let others = format!(", or use one of: {}", known.join(", "));
    Err(Error::syntax(problem, place + if known.is_empty() { "" } else { &others }))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn arms(template: &str, factors: &[&str], excluded: &[&str]) -> Result<Vec<String>, Error> {
        let arms = Matrix::parse(factors, excluded)?.arms(template)?;
        Ok(arms.iter().map(|arm| format!("{}: {}", arm.name, arm.target)).collect())
    }

    #[test]
    fn levels_stand_where_they_are_named_or_where_a_layer_has_them() {
        let found = arms(
            "mem(size={size}) + {what}",
            &["size=1M,2M", "what=aes,aes + delay(latency=1ms, jitter=1us)"],
            &[],
        );
        assert_snapshot!(found.unwrap().join("\n"), @"
        1M/aes: mem(size=1M) + aes
        1M/aes + delay(latency=1ms, jitter=1us): mem(size=1M) + aes + delay(latency=1ms, jitter=1us)
        2M/aes: mem(size=2M) + aes
        2M/aes + delay(latency=1ms, jitter=1us): mem(size=2M) + aes + delay(latency=1ms, jitter=1us)
        ");
        let found = arms(
            "mem(size=1M) + delay(latency=1ms) + queue",
            &["workers=1,2", "delay.jitter=1us,2us"],
            &["workers=2,delay.jitter=1us"],
        );
        assert_snapshot!(found.unwrap().join("\n"), @"
        1/1us: mem(size=1M) + delay(latency=1ms, jitter=1us) + queue(workers=1)
        1/2us: mem(size=1M) + delay(latency=1ms, jitter=2us) + queue(workers=1)
        2/2us: mem(size=1M) + delay(latency=1ms, jitter=2us) + queue
        ");
        let found = arms(
            "cloud(size=1G) + delay(latency=1ms)",
            &["vm=m5.large,m5.xlarge", "disk=gp3:size=500G,\"gp3:size=500G,iops=6000\""],
            &["vm=m5.xlarge,disk=\"gp3:size=500G,iops=6000\""],
        );
        assert_snapshot!(found.unwrap().join("\n"), @r#"
        m5.large/gp3:size=500G: cloud(vm=m5.large, disk="gp3:size=500G", size=1G) + delay(latency=1ms)
        m5.large/"gp3:size=500G,iops=6000": cloud(vm=m5.large, disk="gp3:size=500G,iops=6000", size=1G) + delay(latency=1ms)
        m5.xlarge/gp3:size=500G: cloud(vm=m5.xlarge, disk="gp3:size=500G", size=1G) + delay(latency=1ms)
        "#);
        let found = arms("file + ext4", &["direct=true,false"], &[]);
        assert_snapshot!(found.unwrap().join("\n"), @"
        true: file + loop + ext4
        false: file + loop(direct=false) + ext4
        ");
        let found = arms("/mnt/{disk}", &["disk=a,b"], &[]);
        assert_snapshot!(found.unwrap().join("\n"), @"
        a: /mnt/a
        b: /mnt/b
        ");
    }

    #[test]
    fn a_place_without_its_factor_and_a_value_twice_are_refused() {
        let factors = [Factor::parse("x=old,new").unwrap()];
        let open = Matrix::refuse_open_places("{x}-{n}.json", &factors).unwrap_err();
        assert_snapshot!(open, @"
        unknown factor `n`
        known factors: x
        ");
        Matrix::refuse_open_places("{x}.json", &factors).unwrap();
        assert_snapshot!(arms("mem(size=1M) + aes", &["size=1M,2M"], &[]).unwrap_err(), @"
        `mem` already has a value for `size`
        use {size} instead of that value
        ");
    }

    #[test]
    fn arms_tell_the_matrix_that_they_make_up() {
        let matrix = Matrix::parse(&["size=1M,2M", "sector=512,4096"], &["size=2M,sector=512"]);
        let matrix = matrix.unwrap();
        let arms = matrix.arms("mem(size={size}) + aes").unwrap();
        assert_eq!(Matrix::of_arms(&arms), Some(matrix));
        let text = serde_json::to_string(&arms).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Arm>>(&text).unwrap(), arms);
        let plain = crate::parse_arms(["a=/a", "b=/b"]).unwrap();
        assert_eq!(Matrix::of_arms(&plain), None);
        assert_eq!(Matrix::of_arms(&[arms, plain].concat()), None);
    }

    #[test]
    fn what_makes_no_matrix_is_told_why() {
        let error = |template: &str, factors: &[&str], excluded: &[&str]| {
            arms(template, factors, excluded).unwrap_err().to_string()
        };
        assert_snapshot!(error("mem", &["size"], &[]), @"
        `size` is not a factor
        specify a factor and its levels, as in sec=sys,krb5,krb5p
        ");
        assert_snapshot!(error("mem", &["si ze=1M,2M"], &[]), @"
        `si ze` is not a valid factor name
        specify a factor and its levels, as in sec=sys,krb5,krb5p
        ");
        assert_snapshot!(error("mem", &["size=1M"], &[]), @"
        `size` has only one level
        specify a factor and its levels, as in sec=sys,krb5,krb5p
        ");
        assert_snapshot!(error("mem", &["size=1M,,2M"], &[]), @"
        a level of `size` is empty
        specify a factor and its levels, as in sec=sys,krb5,krb5p
        ");
        assert_snapshot!(error("mem", &["size=1M,1M"], &[]), @"level `1M` is given twice");
        assert_snapshot!(error("mem", &["size=1M,2M", "size=1M,2M"], &[]), @"factor `size` is given twice");
        assert_snapshot!(error("/mnt/a", &["sec=sys,krb5"], &[]), @"
        no layer in `/mnt/a` has a parameter `sec`
        put {sec} where its levels belong
        ");
        assert_snapshot!(error("mem(size=1M) + aes", &["sec=sys,krb5"], &[]), @"
        no layer in `mem(size=1M) + aes` has a parameter `sec`
        put {sec} where its levels belong, or use one of: size, key, sector
        ");
        assert_snapshot!(error("mem(size=1M) + aes + aes", &["sector=512,4096"], &[]), @"
        several layers of `mem(size=1M) + aes + aes` have a `sector`
        put {sector} where its levels belong
        ");
        assert_snapshot!(error("mem", &["size=1M,2M"], &["siz=1M"]), @"
        unknown factor `siz`; did you mean `size`?
        known factors: size
        ");
        assert_snapshot!(error("mem", &["size=1M,2M"], &["size=3M"]), @"
        unknown level `3M`; did you mean `1M`?
        known levels: 1M, 2M
        ");
        assert_snapshot!(error("mem", &["size=1M,2M"], &["size=2M"]), @"
        the exclusions leave one of the 2 combinations
        exclude fewer combinations, so that at least two remain
        ");
        assert_snapshot!(error("mem(size={size})", &["size=1M,2X"], &[]), @"
        `2X` is not a size: unknown unit `X`
          mem(size=2X)
                   ^^ column 10
        specify a size as 4k, 64M, 2G or 4096 (suffixes are powers of 1024)
        ");
        assert_snapshot!(error("cloud(disk=P10)", &["vm=DS1_v2,DS1v2"], &[]), @"
        unknown VM size `DS1v2`: did you mean Standard_DS12 or Standard_DS1_v2?
          cloud(vm=DS1v2, disk=P10)
                   ^^^^^ column 10
        ");
        assert_snapshot!(error("cloud(disk=P10)", &["disk=P10,P20"], &[]), @"
        `cloud` already has a value for `disk`
        use {disk} instead of that value
        ");
        let many: Vec<String> = (0..20).map(|level| format!("{level}K")).collect();
        let many = many.join(",");
        assert_snapshot!(error("mem", &[&format!("a={many}"), &format!("b={many}")], &[]), @"
        more than 128 combinations
        remove some factors or levels
        ");
    }
}
