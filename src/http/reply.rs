//! A response of the service. Its body is complete, except for the few long ones that are made in parts
//! while the client reads.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame, SizeHint};

use crate::mount::{BodyEndsEarly, RemainingBody};

pub(super) type HttpReply = Response<ReplyBody>;

/// The bytes of a response that are there, and what follows them.
#[derive(Default)]
pub(super) struct ReplyBody {
    first: Bytes,
    rest: Option<Box<Rest>>,
}

/// The parts of a body after the first one. The next part is made once the client has taken the ones before.
struct Rest {
    parts: RemainingBody,
    counter: Option<Box<dyn PartCounter>>,
}

/// Counts the bytes of the current part of a body, until it is dropped.
pub(super) trait PartCounter: Send {
    fn begin_part(&mut self, bytes: usize);
}

impl ReplyBody {
    pub(super) fn in_parts(first: Bytes, parts: Option<RemainingBody>) -> Self {
        Self { first, rest: parts.map(|parts| Box::new(Rest { parts, counter: None })) }
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
    pub(super) fn count_parts(&mut self, mut counter: impl PartCounter + 'static) {
        if let Some(rest) = &mut self.rest {
            counter.begin_part(self.first.len());
            rest.counter = Some(Box::new(counter));
        }
    }
}

impl From<Bytes> for ReplyBody {
    fn from(whole: Bytes) -> Self {
        Self { first: whole, rest: None }
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
        match (&part, &mut rest.counter) {
            (Some(Ok(part)), Some(counter)) => counter.begin_part(part.len()),
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
