//! Groups of modules that import each other in a cycle, found as strongly connected components.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// Each cycle as the names of its modules, in order.
pub(crate) fn import_cycles(sources: &[Source]) -> Vec<Vec<String>> {
    let modules: BTreeSet<&[String]> = sources.iter().map(|source| source.module.as_slice()).collect();
    let edges: BTreeMap<&[String], BTreeSet<&[String]>> =
        sources.iter().map(|source| (source.module.as_slice(), targets(source, &modules))).collect();
    let reach: BTreeMap<&[String], BTreeSet<&[String]>> =
        edges.keys().map(|from| (*from, reachable(from, &edges))).collect();
    let mut circles = BTreeSet::new();
    for (from, reached) in &reach {
        let circle: Vec<String> =
            reached.iter().filter(|to| reach[**to].contains(from)).map(|module| module.join("::")).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// The modules that a source imports: for each path, its longest prefix that is a file.
fn targets<'s>(source: &Source, modules: &BTreeSet<&'s [String]>) -> BTreeSet<&'s [String]> {
    let nearest = |path: &Vec<String>| {
        let lengths = (1..=path.len()).rev();
        lengths.filter_map(|length| modules.get(&path[..length]).copied()).next()
    };
    source.imports.iter().filter_map(nearest).filter(|target| *target != source.module.as_slice()).collect()
}

fn reachable<'m>(from: &'m [String], edges: &BTreeMap<&'m [String], BTreeSet<&'m [String]>>) -> BTreeSet<&'m [String]> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in edges.get(module).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}
