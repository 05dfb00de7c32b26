//! The handler of stylesheet and scripts. Browsers cache them, because the content at an address
//! never changes.

use ::http::Response;
use ::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use bytes::Bytes;

use super::assets::{self, ASSETS_PATH};
use super::errors;
use super::visitor::Visitor;
use crate::mount::{Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy};

pub struct AssetFiles;

impl Mount for AssetFiles {
    fn matches_path(&self, path: &str) -> bool {
        path.starts_with(ASSETS_PATH)
    }

    fn methods(&self, _path: &str) -> Methods {
        Methods::Get
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(async move { serve(request.path, request.id) })
    }
}

fn serve(path: &str, request_id: &str) -> MountResponse {
    let Some(asset) = assets::asset_at(path) else { return errors::not_found(&Visitor::Anonymous, request_id) };
    let mut response = Response::new(Bytes::from_static(asset.text.as_bytes()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response.into()
}
