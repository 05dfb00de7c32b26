//! Routing: finds the operation, document or probe of a path.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::api::documents::ApiDocument;
use crate::api::operation::{Method, Operation};
use crate::api::operations::OPERATIONS;
use crate::mount::{Methods, Mount, RateLimitedBy};

pub(super) enum RouteTarget<'d> {
    /// With the values of its path parameters.
    Operation(&'static Operation, Vec<(&'static str, String)>),
    Document(ApiDocument),
    Live,
    Ready,
    Mount(&'d dyn Mount),
    /// The path has these methods, but not the requested one.
    OtherMethod(Methods),
}

impl RouteTarget<'_> {
    /// Whether requests for it count against the rate limit of open requests. Probes do not count: their
    /// answer costs no more than a refusal, and a refused probe would cause the restart of a healthy
    /// server.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Operation(operation, _) => operation.metering().is_none(),
            Self::Document(_) | Self::OtherMethod(_) => true,
            Self::Live | Self::Ready => false,
            Self::Mount(mount) => mount.limit() == RateLimitedBy::ByAddress,
        }
    }
}

/// Finds the target of a path. `asked` is the requested method, if any path has it.
pub(super) fn route<'d>(names: &[Cow<'_, str>], asked: Option<Methods>) -> Option<RouteTarget<'d>> {
    let read = |target| if asked == Some(Methods::Get) { target } else { RouteTarget::OtherMethod(Methods::Get) };
    match names {
        [name] if name == "healthz" => Some(read(RouteTarget::Live)),
        [name] if name == "readyz" => Some(read(RouteTarget::Ready)),
        names => operation(names, asked).or_else(|| document(names).map(read)),
    }
}

fn document<'d>(names: &[Cow<'_, str>]) -> Option<RouteTarget<'d>> {
    let stands_at = |path: &&str| path.split('/').skip(1).eq(names.iter().map(AsRef::as_ref));
    ApiDocument::ALL.into_iter().find(|document| document.paths().iter().any(stands_at)).map(RouteTarget::Document)
}

/// A row of the operations table that has a path.
struct RouteRow {
    operation: &'static Operation,
    method: Methods,
    path: Vec<PathSegment>,
}

/// A segment of a path after `/api/v1/`.
enum PathSegment {
    Name(&'static str),
    Parameter(&'static str),
}

/// The paths are split once, not for each request.
static ROWS: LazyLock<Vec<RouteRow>> = LazyLock::new(|| {
    let row = |operation: &'static Operation| {
        let route = operation.route?;
        let path = route.path.strip_prefix("/api/v1/")?.split('/').map(PathSegment::of).collect();
        Some(RouteRow { operation, method: methods(route.method), path })
    };
    OPERATIONS.iter().filter_map(row).collect()
});

fn operation<'d>(names: &[Cow<'_, str>], asked: Option<Methods>) -> Option<RouteTarget<'d>> {
    let [api, version, names @ ..] = names else { return None };
    if api != "api" || version != "v1" {
        return None;
    }
    let mut others: Option<Methods> = None;
    for row in ROWS.iter().filter(|row| row.fits(names)) {
        if asked == Some(row.method) {
            return Some(RouteTarget::Operation(row.operation, row.parameters(names)));
        }
        others = Some(others.map_or(row.method, |others| others.and(row.method)));
    }
    others.map(RouteTarget::OtherMethod)
}

impl PathSegment {
    fn of(part: &'static str) -> Self {
        let parameter = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        parameter.map_or(Self::Name(part), Self::Parameter)
    }
}

impl RouteRow {
    fn fits(&self, names: &[Cow<'_, str>]) -> bool {
        let fits = |(part, name): (&PathSegment, &Cow<'_, str>)| match part {
            PathSegment::Name(part) => part == name,
            PathSegment::Parameter(_) => true,
        };
        self.path.len() == names.len() && self.path.iter().zip(names).all(fits)
    }

    fn parameters(&self, names: &[Cow<'_, str>]) -> Vec<(&'static str, String)> {
        let parameter = |(part, name): (&PathSegment, &Cow<'_, str>)| match part {
            PathSegment::Name(_) => None,
            PathSegment::Parameter(parameter) => Some((*parameter, name.clone().into_owned())),
        };
        self.path.iter().zip(names).filter_map(parameter).collect()
    }
}

const fn methods(method: Method) -> Methods {
    match method {
        Method::Get => Methods::Get,
        Method::Post => Methods::Post,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::operation::Route;

    fn lead_by(path: &str, asked: Option<Methods>) -> Option<RouteTarget<'static>> {
        route(&path.split('/').skip(1).map(Cow::from).collect::<Vec<_>>(), asked)
    }

    fn lead(path: &str) -> Option<RouteTarget<'static>> {
        lead_by(path, Some(Methods::Get))
    }

    #[test]
    fn every_row_of_the_table_is_reached_by_its_path() {
        for operation in OPERATIONS {
            let Some(Route { path, method, .. }) = operation.route else { continue };
            let Some(RouteTarget::Operation(found, parameters)) = lead_by(path, Some(methods(method))) else {
                panic!("{path} is not reached")
            };
            assert_eq!(found.name, operation.name);
            assert!(parameters.iter().all(|(name, value)| *value == format!("{{{name}}}")));
        }
    }

    #[test]
    fn every_document_is_reached_by_its_paths() {
        for document in ApiDocument::ALL {
            for path in document.paths() {
                assert!(matches!(lead(path), Some(RouteTarget::Document(found)) if found == document), "{path}");
            }
        }
    }

    #[test]
    fn another_method_gets_the_allowed_ones() {
        for (path, asked) in [
            ("/healthz", Some(Methods::Post)),
            ("/llms.txt", Some(Methods::Post)),
            ("/api/v1/search", Some(Methods::Post)),
            ("/api/v1/search", None),
        ] {
            assert!(matches!(lead_by(path, asked), Some(RouteTarget::OtherMethod(Methods::Get))), "{path}");
        }
        assert!(lead_by("/nowhere", None).is_none());
    }

    #[test]
    fn similar_paths_are_not_found() {
        for path in [
            "/",
            "/api",
            "/api/v1/",
            "/api/v1/search/",
            "/api/v1/node",
            "/api/v1/node/a/b",
            "/api/v2/search",
            "/llms.txt/",
        ] {
            assert!(lead(path).is_none(), "{path}");
        }
    }
}
