//! A response of the service. Its body is complete, except for the few long ones that are made in parts
//! while the client reads.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame, SizeHint};

use super::request_stream::ConnectionState;
use super::timeouts::Timeouts;
use super::unread::Shares;
use crate::mount::{BodyEndsEarly, BodyParts};

pub(super) type HttpReply = Response<ReplyBody>;

/// The bytes of a response that are there, and what follows them.
#[derive(Default)]
pub(super) struct ReplyBody {
    first: Bytes,
    rest: Option<Box<Rest>>,
}

/// The parts of a body after the first one. The next part is made once the client has taken the ones before.
struct Rest {
    parts: BodyParts,
    counted: Option<CountedParts>,
}

/// The place where the parts of a response are counted.
struct CountedParts {
    shares: Shares,
    timeouts: Timeouts,
    state: Arc<ConnectionState>,
}

impl ReplyBody {
    pub(super) fn in_parts(first: Bytes, parts: Option<BodyParts>) -> Self {
        Self { first, rest: parts.map(|parts| Box::new(Rest { parts, counted: None })) }
    }

    pub(super) fn is_in_parts(&self) -> bool {
        self.rest.is_some()
    }

    /// The bytes that are there. All of the body, unless it is in parts.
    pub(super) fn into_bytes(self) -> Bytes {
        self.first
    }

    /// The number of bytes, if the body is complete.
    pub(super) fn length(&self) -> Option<usize> {
        self.rest.is_none().then_some(self.first.len())
    }

    /// Counts the parts of the body, one after the other, until it ends.
    pub(super) fn count_parts(&mut self, mut shares: Shares, timeouts: Timeouts, state: &Arc<ConnectionState>) {
        if let Some(rest) = &mut self.rest {
            state.set_has_more(true);
            shares.resize(self.first.len(), &timeouts);
            rest.counted = Some(CountedParts { shares, timeouts, state: Arc::clone(state) });
        }
    }
}

impl From<Bytes> for ReplyBody {
    fn from(whole: Bytes) -> Self {
        Self { first: whole, rest: None }
    }
}

impl Drop for CountedParts {
    fn drop(&mut self) {
        self.state.set_has_more(false);
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = BodyEndsEarly;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyEndsEarly>>> {
        if !self.first.is_empty() {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.first)))));
        }
        let Some(rest) = &mut self.rest else { return Poll::Ready(None) };
        let part = ready!(rest.parts.as_mut().poll_next(context));
        match (&part, &mut rest.counted) {
            (Some(Ok(part)), Some(counted)) => counted.shares.resize(part.len(), &counted.timeouts),
            (Some(Ok(_)), None) => {}
            _ => self.rest = None,
        }
        Poll::Ready(part.map(|part| part.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.length().map_or_else(SizeHint::default, |length| SizeHint::with_exact(length as u64))
    }
}
