//! A response of the service, with its whole body.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Response;

pub(super) type HttpReply = Response<Full<Bytes>>;
