//! Routing: paths to operations, documents and probes.

use crate::api::documents::Document;
use crate::api::operation::{Method, Operation};
use crate::api::operations::OPERATIONS;
use crate::door::{Door, Limit, Methods};

pub(super) enum Target<'d> {
    /// With its path parameters.
    Operation(&'static Operation, Vec<(&'static str, String)>),
    Document(Document),
    Live,
    Ready,
    Door(&'d dyn Door),
    /// The path has these methods, and not the one that was asked.
    OtherMethod(Methods),
}

impl Target<'_> {
    /// Whether everybody may ask for it, within the rate of open requests. Probes are free of that: their answer costs
    /// no more than a refusal, and a refused one would have a healthy server restarted.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Operation(operation, _) => operation.metering().is_none(),
            Self::Document(_) | Self::OtherMethod(_) => true,
            Self::Live | Self::Ready => false,
            Self::Door(door) => door.limit() == Limit::ByAddress,
        }
    }
}

/// Where a path leads with one of the methods that paths have.
pub(super) fn route<'d>(segments: &[String], asked: Option<Methods>) -> Option<Target<'d>> {
    let names: Vec<&str> = segments.iter().map(String::as_str).collect();
    let read = |target| if asked == Some(Methods::Get) { target } else { Target::OtherMethod(Methods::Get) };
    match names.as_slice() {
        ["healthz"] => Some(read(Target::Live)),
        ["readyz"] => Some(read(Target::Ready)),
        names => operation(names, asked).or_else(|| document(names).map(read)),
    }
}

fn document<'d>(names: &[&str]) -> Option<Target<'d>> {
    let stands_at = |path: &&str| path.split('/').skip(1).eq(names.iter().copied());
    Document::ALL.into_iter().find(|document| document.paths().iter().any(stands_at)).map(Target::Document)
}

/// Where all operations stand.
const OPERATIONS_BELOW: &str = "/api/v1/";

fn operation<'d>(names: &[&str], asked: Option<Methods>) -> Option<Target<'d>> {
    // Compared once, not for every row.
    let ["api", "v1", names @ ..] = names else { return None };
    let mut others: Option<Methods> = None;
    for operation in OPERATIONS {
        let Some(route) = operation.route else { continue };
        let Some(parameters) = route.path.strip_prefix(OPERATIONS_BELOW).and_then(|path| fit(path, names)) else {
            continue;
        };
        let method = methods(route.method);
        if asked == Some(method) {
            return Some(Target::Operation(operation, parameters));
        }
        others = Some(others.map_or(method, |others| others.and(method)));
    }
    others.map(Target::OtherMethod)
}

const fn methods(method: Method) -> Methods {
    match method {
        Method::Get => Methods::Get,
        Method::Post => Methods::Post,
    }
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

    fn lead_by(path: &str, asked: Option<Methods>) -> Option<Target<'static>> {
        route(&path.split('/').skip(1).map(str::to_owned).collect::<Vec<_>>(), asked)
    }

    fn lead(path: &str) -> Option<Target<'static>> {
        lead_by(path, Some(Methods::Get))
    }

    #[test]
    fn every_row_of_the_table_is_reached_by_its_path() {
        for operation in OPERATIONS {
            let Some(Route { path, method, .. }) = operation.route else { continue };
            let Some(Target::Operation(found, parameters)) = lead_by(path, Some(methods(method))) else {
                panic!("{path} is not reached")
            };
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
    fn another_method_learns_which_the_path_has() {
        for (path, asked) in [
            ("/healthz", Some(Methods::Post)),
            ("/docs", Some(Methods::Post)),
            ("/api/v1/search", Some(Methods::Post)),
            ("/api/v1/search", None),
        ] {
            assert!(matches!(lead_by(path, asked), Some(Target::OtherMethod(Methods::Get))), "{path}");
        }
        assert!(lead_by("/nowhere", None).is_none());
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
