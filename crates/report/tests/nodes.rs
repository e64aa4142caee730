//! The map of nodes in the page of a fleet, without a browser.

mod common;

use common::{fleet, html, markup};
use iotax_experiment::Design;

/// What the map says: a line for each tile, with its class, its colour and its text.
fn map(count: usize) -> String {
    let (experiment, analysis) = fleet::nodes(count);
    let page = markup(&html(&experiment, &analysis));
    let section = page.split("Node map <a").nth(1).expect("a fleet has a map");
    let section = section.split("</section>").next().expect("it ends");
    let said = section.split('\n').skip(1).map(|line| {
        let class = line.split("<li class=\"").nth(1).and_then(|rest| rest.split('>').next());
        let class = class.map(|class| format!("[{}] ", class.replace('"', ""))).unwrap_or_default();
        let pieces = line.split('<').filter_map(|part| part.split('>').nth(1));
        let text: Vec<&str> = pieces.map(str::trim).filter(|piece| !piece.is_empty()).collect();
        class + &text.join(" | ")
    });
    said.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn few_nodes_have_intervals_and_verdicts() {
    insta::assert_snapshot!("two", map(2));
    insta::assert_snapshot!("five", map(5));
}

#[test]
fn of_many_only_those_that_are_named_are_slow() {
    let shown = map(24);
    insta::assert_snapshot!("many", shown);
    let tiles: Vec<&str> = shown.lines().filter(|line| line.starts_with('[')).collect();
    assert_eq!(tiles.len(), 24);
    let slow = tiles.iter().filter(|tile| tile.starts_with("[slow ")).count();
    assert_eq!(slow, 2);
    assert_eq!(tiles.iter().filter(|tile| tile.contains("flagged as slow (prob")).count(), slow);
}

#[test]
fn a_thousand_have_a_tile_each() {
    let shown = map(1000);
    assert_eq!(shown.lines().filter(|line| line.starts_with('[')).count(), 1000);
}

#[test]
fn without_the_rounds_that_it_takes_nobody_is_judged() {
    let (experiment, mut analysis) = fleet::nodes(24);
    analysis.outliers = None;
    let page = markup(&html(&experiment, &analysis));
    assert_eq!(page.matches("<li class=\"unjudged\">").count(), 24);
    assert!(!page.contains("class=\"slow\""));
}

#[test]
fn what_is_no_fleet_has_no_map() {
    let (mut experiment, analysis) = fleet::nodes(5);
    experiment.spec = experiment.spec.with(|spec| spec.design = Design::Compare);
    assert!(!html(&experiment, &analysis).contains("Node map"));
}

#[test]
fn hostile_names_stay_text() {
    for count in [2, 24, 70] {
        let names: Vec<String> = (0..count).map(|n| format!("{n}{}", common::HOSTILE)).collect();
        let (mut experiment, analysis) = fleet::of_names(&names);
        for (at, site) in experiment.sites.iter_mut().enumerate() {
            let placed = site.placed.as_mut().expect("it has a place");
            placed.zone = Some(format!("{}{}", at % 2, common::HOSTILE));
            placed.cluster = format!("<img{}", at % 2);
        }
        let page = html(&experiment, &analysis);
        assert_eq!(page.matches("</script>").count(), 3, "none ends early");
        assert!(!page.contains("<img"));
        let shown = markup(&page);
        let map = shown.split("class=\"map\"").nth(1).expect("a fleet has a map");
        assert!(map.matches("&#60;img src=x").count() >= count, "they are shown");
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "nothing turns text around");
    }
}
