//! Offers the folder of a channel to other boxes, which follow it with `hornbook snapshot pull`: signed packs and the
//! list of them, as any server of static files would, whole or a range of their bytes.
//!
//! Everyone who can reach the service may read them, because they contain only law. A file is read in pieces, each once
//! the client has received the one before, so that neither its length nor a slow client takes memory or a thread.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::Arc;

use ::http::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_RANGE, RANGE,
};
use ::http::{HeaderMap, HeaderValue, Response, StatusCode};
use bytes::Bytes;
use futures_util::stream;
use hornbook_base::regular_file;
use hornbook_pack::{CHANNEL_FILE_NAME, is_channel_file_name};
use serde_json::json;

use crate::mount::{
    BodyEndsEarly, Methods, Mount, MountFuture, MountRequest, MountResponse, RateLimitedBy, RemainingBody,
};

/// What the paths of the files begin with.
pub const CHANNEL_PATH: &str = "/channel/";

const PIECE_BYTES: u64 = 256 << 10;

pub struct ChannelFiles {
    folder: PathBuf,
}

impl ChannelFiles {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    async fn file(&self, request: &MountRequest<'_>) -> MountResponse {
        let name = request.path.strip_prefix(CHANNEL_PATH).unwrap_or_default().to_owned();
        if !is_channel_file_name(&name) {
            return refused(StatusCode::NOT_FOUND, "not_found", "a channel has no file of this name");
        }
        let path = self.folder.join(&name);
        let opened = tokio::task::spawn_blocking(move || {
            let file = regular_file::open(&path)?;
            let metadata = file.metadata()?;
            Ok::<_, io::Error>((file, metadata))
        });
        let (file, metadata) = match opened.await.map_err(io::Error::other).flatten() {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return refused(StatusCode::NOT_FOUND, "not_found", "the channel has no such file");
            }
            Err(error) => {
                let answer = refused(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", "the file cannot be read");
                return MountResponse { internal: Some(format!("{name}: {error}")), ..answer };
            }
        };
        // The packs of a channel never change. Its list does, and is replaced as a whole.
        let tag = format!("\"{:x}-{:x}-{:x}\"", metadata.len(), metadata.mtime(), metadata.mtime_nsec());
        let Some(asked) = asked_range(request.headers, &tag, metadata.len()) else {
            let mut answer =
                refused(StatusCode::RANGE_NOT_SATISFIABLE, "bad_request", "the file ends before this range");
            set(&mut answer.response, CONTENT_RANGE, &format!("bytes */{}", metadata.len()));
            return answer;
        };
        let range = asked.clone().unwrap_or(0..metadata.len());
        let mut response = Response::new(Bytes::new());
        if asked.is_some() {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            let part = format!("bytes {}-{}/{}", range.start, range.end - 1, metadata.len());
            set(&mut response, CONTENT_RANGE, &part);
        }
        let is_list = name == CHANNEL_FILE_NAME;
        set(&mut response, CONTENT_TYPE, if is_list { "application/json" } else { "application/octet-stream" });
        set(
            &mut response,
            CACHE_CONTROL,
            if name.ends_with(".pack") { "public, max-age=31536000, immutable" } else { "no-cache" },
        );
        set(&mut response, ACCEPT_RANGES, "bytes");
        set(&mut response, ETAG, &tag);
        set(&mut response, CONTENT_LENGTH, &(range.end - range.start).to_string());
        // For HEAD too: the server reads none of it then, and states the length as it is here.
        let rest = (!range.is_empty()).then(|| pieces(file, range));
        MountResponse { rest, ..response.into() }
    }
}

impl Mount for ChannelFiles {
    fn matches_path(&self, path: &str) -> bool {
        path.starts_with(CHANNEL_PATH)
    }

    fn methods(&self, _: &str) -> Methods {
        Methods::Get
    }

    fn limit(&self) -> RateLimitedBy {
        RateLimitedBy::ByAddress
    }

    fn answer<'a>(&'a self, request: MountRequest<'a>) -> MountFuture<'a> {
        Box::pin(async move { self.file(&request).await })
    }
}

fn set(response: &mut Response<Bytes>, name: ::http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn refused(status: StatusCode, code: &'static str, message: &str) -> MountResponse {
    let mut response = Response::new(Bytes::from(json!({ "error": code, "message": message }).to_string()));
    *response.status_mut() = status;
    set(&mut response, CONTENT_TYPE, "application/json");
    MountResponse { error: Some(code), ..response.into() }
}

/// The range that is asked for: `Some(None)` for the whole file, `None` if the file has no such range. Several ranges, and
/// a range of another version, are answered with the whole file, as HTTP allows.
fn asked_range(headers: &HeaderMap, tag: &str, length: u64) -> Option<Option<Range<u64>>> {
    let is_of_version = headers.get(IF_RANGE).is_none_or(|version| version.as_bytes() == tag.as_bytes());
    let asked = headers.get(RANGE).filter(|_| is_of_version).and_then(|range| range.to_str().ok());
    let Some((first, last)) = asked.and_then(|range| range.strip_prefix("bytes=")?.split_once('-')) else {
        return Some(None);
    };
    let range = match (first.parse::<u64>(), last.parse::<u64>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Ok(first), Err(_)) if last.is_empty() => first..length,
        (Err(_), Ok(count)) if first.is_empty() => length.saturating_sub(count)..length,
        _ => return Some(None),
    };
    (range.start < range.end).then_some(Some(range))
}

/// The bytes of a range, read one piece after the other.
fn pieces(file: File, range: Range<u64>) -> RemainingBody {
    let file = Arc::new(file);
    Box::pin(stream::unfold(Some(range), move |left| {
        let file = Arc::clone(&file);
        async move {
            let left = left.filter(|left| !left.is_empty())?;
            let (at, count) = (left.start, PIECE_BYTES.min(left.end - left.start));
            let read = tokio::task::spawn_blocking(move || {
                let mut bytes = vec![0; count as usize];
                file.read_exact_at(&mut bytes, at).map(|()| bytes)
            });
            Some(match read.await {
                Ok(Ok(bytes)) => (Ok(Bytes::from(bytes)), Some(at + count..left.end)),
                // The file became shorter. The connection ends, so that the reader sees that it has not all.
                Ok(Err(_)) | Err(_) => (Err(BodyEndsEarly), None),
            })
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_understood_and_everything_else_is_the_whole_file() {
        let asked = |range: &'static str| {
            let headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static(range))]);
            asked_range(&headers, "\"t\"", 100)
        };
        assert_eq!(asked("bytes=0-9"), Some(Some(0..10)));
        assert_eq!(asked("bytes=90-1000"), Some(Some(90..100)));
        assert_eq!((asked("bytes=5-"), asked("bytes=-5")), (Some(Some(5..100)), Some(Some(95..100))));
        assert_eq!(asked("bytes=0-18446744073709551615"), Some(Some(0..100)));
        assert_eq!((asked("bytes=100-"), asked("bytes=100-200"), asked("bytes=-0")), (None, None, None));
        for whole in ["bytes=9-0", "bytes=0-1,5-6", "bytes=", "bytes=-", "lines=0-1", "bytes=a-b", ""] {
            assert_eq!(asked(whole), Some(None), "{whole}");
        }
        let mut headers = HeaderMap::from_iter([(RANGE, HeaderValue::from_static("bytes=0-9"))]);
        headers.insert(IF_RANGE, HeaderValue::from_static("\"older\""));
        assert_eq!(asked_range(&headers, "\"t\"", 100), Some(None));
        headers.insert(IF_RANGE, HeaderValue::from_static("\"t\""));
        assert_eq!(asked_range(&headers, "\"t\"", 100), Some(Some(0..10)));
    }
}
