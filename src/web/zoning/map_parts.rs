//! The handler of the parts of zoning maps: tiles, zone lists, and pictures of whole layers. Their
//! addresses contain the snapshot and the program version, so browsers cache them for a year.
//!
//! A map requests dozens of parts while it is moved. Therefore parts have their own rate limit
//! (`api/visitors`) and do not count as pages.

use std::sync::Arc;

use ::http::{Response, StatusCode};
use bytes::Bytes;

use super::overview::{ColourScheme, Picture, Pictures};
use crate::api::error::ApiError;
use crate::api::reply::CachedBody;
use crate::api::visitors::VisitorAction;
use crate::mount::{ErrorPageInfo, Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};
use crate::web::assets::VERSION;
use crate::web::errors;
use crate::web::page_context::{CallResult, OpenPage, OperationCall, OperationReply, PageContext};
use crate::web::response::{self, CachePolicy};
use crate::web::visitor::Visitor;

const PARTS_PATH: &str = "/zoning-parts/";

/// The path segment of pictures of whole layers.
const PICTURE: &str = "overview";

/// The path prefix of a map's parts.
pub(super) fn path(short_code: &str, snapshot: &str) -> String {
    format!("{PARTS_PATH}{short_code}/{}", edition(snapshot))
}

/// The cache key in the addresses: the snapshot and the version of this program.
fn edition(snapshot: &str) -> String {
    format!("{snapshot}~{}-{}", env!("CARGO_PKG_VERSION"), VERSION.as_str())
}

/// The handler of the map parts.
pub struct MapParts {
    shell: Arc<PageContext>,
    pictures: Pictures,
}

impl MapParts {
    pub fn new(shell: Arc<PageContext>) -> Self {
        Self { shell, pictures: Pictures::new() }
    }

    async fn visited(&self, request: MountRequest<'_>) -> MountResponse {
        let opened = self.shell.opened(&request);
        let visitor = opened.visitor.clone();
        let (visitors, now) = (&self.shell.visitors, self.shell.service.now().steady);
        let paced = match request.segments {
            [_, _, _, what, _] if what == PICTURE => visitors.pace_map_picture(request.client, now),
            _ => visitors.pace_map_part(request.client, now),
        };
        let answered = match paced {
            Ok(()) => part(opened, &self.pictures).await,
            Err(too_fast) => Err(too_fast),
        };
        answered.unwrap_or_else(|error| errors::answer(&error, &visitor, request.id))
    }
}

impl Mount for MapParts {
    fn matches_path(&self, path: &str) -> bool {
        path.starts_with(PARTS_PATH)
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::Get
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::Own
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(self.visited(request))
    }

    fn error_page(&self, error: &ErrorPageInfo<'_>) -> Option<Response<Bytes>> {
        Some(errors::page(error, &Visitor::Anonymous))
    }
}

async fn part(mut opened: OpenPage<'_>, pictures: &Pictures) -> Result<MountResponse, ApiError> {
    let names: Vec<&str> = opened.request.segments.iter().map(AsRef::as_ref).collect();
    let [_, short_code, named, rest @ ..] = names.as_slice() else {
        return Ok(errors::not_found(&opened.visitor, opened.request.id));
    };
    if *named != edition(opened.corpus.id()) {
        return Err(ApiError::not_found("the law on this server has changed; load the page of the map again"));
    }
    let layer = ("shortCode", *short_code);
    match rest {
        ["zones"] => stored(opened, "gis-zones", &[layer]).await,
        [z, x, y] => stored(opened, "gis-tile", &[layer, ("z", z), ("x", x), ("y", y)]).await,
        [PICTURE, look] => match ColourScheme::named(look) {
            Some(look) => {
                let Picture { svg, version } = pictures.get(&mut opened, short_code, look).await?;
                let mut response = response::text(StatusCode::OK, "image/svg+xml", svg, CachePolicy::Immutable);
                response.extensions_mut().insert(CachedBody);
                Ok(opened.answer(response::with_version(response, &version)))
            }
            None => Ok(errors::not_found(&opened.visitor, opened.request.id)),
        },
        _ => Ok(errors::not_found(&opened.visitor, opened.request.id)),
    }
}

/// Serves the reply of an operation unchanged. The service caches it.
async fn stored(
    mut opened: OpenPage<'_>,
    operation: &'static str,
    of: &[(&'static str, &str)],
) -> Result<MountResponse, ApiError> {
    let held = opened.request.headers.get("if-none-match").and_then(|held| held.to_str().ok());
    let ask =
        OperationCall { wish: VisitorAction::MapPart, of, known_versions: held, ..OperationCall::read(operation, &[]) };
    let response = match opened.ask(ask).await? {
        CallResult::Unchanged(version) => response::not_modified(&version, CachePolicy::Immutable),
        CallResult::News(OperationReply { bytes, version, .. }) => {
            let mut response = response::text(StatusCode::OK, "application/json", bytes, CachePolicy::Immutable);
            if let Some(version) = version {
                response.extensions_mut().insert(CachedBody);
                response = response::with_version(response, &version);
            }
            response
        }
    };
    Ok(opened.answer(response))
}
