//! Bodies of requests: whole, or refused.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use super::rules::{BODY_BYTES_MAX, body_too_large};
use crate::api::error::{ApiError, ErrorCode};

/// Reads a body to its end. Over HTTP/1 the guard has it already.
pub(super) async fn whole(body: Incoming, within: Duration) -> Result<Bytes, ApiError> {
    if body.is_end_stream() {
        return Ok(Bytes::new());
    }
    match timeout(within, Limited::new(body, BODY_BYTES_MAX).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(body_too_large()),
        Ok(Err(_)) => Err(ApiError::new(ErrorCode::BadRequest, "the body ended early; send all of it")),
        Err(_) => Err(too_slow()),
    }
}

fn too_slow() -> ApiError {
    ApiError::new(ErrorCode::RequestTimeout, "the body took too long to arrive; send it in one piece")
}
