//! Routing: paths to operations, documents and probes.

use crate::api::documents::Document;
use crate::api::operation::Operation;
use crate::api::operations::OPERATIONS;

pub(super) enum Target {
    /// With its path parameters.
    Operation(&'static Operation, Vec<(&'static str, String)>),
    Document(Document),
    Live,
    Ready,
}

impl Target {
    /// Whether everybody may ask for it, within the rate of open requests. Probes are free of that: their answer costs
    /// no more than a refusal, and a refused one would have a healthy server restarted.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Operation(operation, _) => operation.metering().is_none(),
            Self::Document(_) => true,
            Self::Live | Self::Ready => false,
        }
    }
}

pub(super) fn route(segments: &[String]) -> Option<Target> {
    let names: Vec<&str> = segments.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["healthz"] => Some(Target::Live),
        ["readyz"] => Some(Target::Ready),
        names => operation(names).or_else(|| document(names)),
    }
}

fn document(names: &[&str]) -> Option<Target> {
    let stands_at = |path: &&str| path.split('/').skip(1).eq(names.iter().copied());
    Document::ALL.into_iter().find(|document| document.paths().iter().any(stands_at)).map(Target::Document)
}

/// Where all operations stand.
const OPERATIONS_BELOW: &str = "/api/v1/";

fn operation(names: &[&str]) -> Option<Target> {
    // Compared once, not for every row.
    let ["api", "v1", names @ ..] = names else { return None };
    OPERATIONS.iter().find_map(|operation| {
        let parameters = fit(operation.route?.path.strip_prefix(OPERATIONS_BELOW)?, names)?;
        Some(Target::Operation(operation, parameters))
    })
}

/// The path parameters, if the names fit the template.
fn fit(template: &'static str, names: &[&str]) -> Option<Vec<(&'static str, String)>> {
    let mut parameters = Vec::new();
    let mut names = names.iter();
    for part in template.split('/') {
        let name = names.next()?;
        match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
            Some(parameter) => parameters.push((parameter, (*name).to_owned())),
            None if part == *name => {}
            None => return None,
        }
    }
    names.next().is_none().then_some(parameters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operation::Route;

    fn lead(path: &str) -> Option<Target> {
        route(&path.split('/').skip(1).map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn every_row_of_the_table_is_reached_by_its_path() {
        for operation in OPERATIONS {
            let Some(Route { path, .. }) = operation.route else { continue };
            let Some(Target::Operation(found, parameters)) = lead(path) else { panic!("{path} is not reached") };
            assert_eq!(found.name, operation.name);
            assert!(parameters.iter().all(|(name, value)| *value == format!("{{{name}}}")));
        }
    }

    #[test]
    fn every_document_is_reached_by_its_paths() {
        for document in Document::ALL {
            for path in document.paths() {
                assert!(matches!(lead(path), Some(Target::Document(found)) if found == document), "{path}");
            }
        }
    }

    #[test]
    fn near_misses_lead_nowhere() {
        for path in [
            "/",
            "/api",
            "/api/v1/",
            "/api/v1/search/",
            "/api/v1/node",
            "/api/v1/node/a/b",
            "/api/v2/search",
            "/docs//",
        ] {
            assert!(lead(path).is_none(), "{path}");
        }
    }
}
