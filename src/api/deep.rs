//! Deep searches: who may have one now, and the threads that do them, so that they slow no other call.

use super::error::ApiError;
use super::parameters::{Param, choice};
use super::queue::Queue;
use crate::search::{Depth, DepthWish, Engine, Mode};

choice!(DepthWish, name);

pub(in crate::api) const DEPTH: Param<Option<DepthWish>> =
    Param::optional("depth", "deep: a sentence encoder reads q (milliseconds); auto: if it is a question");

/// What an operator chooses.
#[derive(Clone, Copy, Debug)]
pub struct DeepSettings {
    /// How calls that do not say are searched.
    pub usual: DepthWish,
    /// How many deep searches may run at once.
    pub permits: usize,
}

/// Where deep searches are done.
pub(super) struct Deep {
    usual: DepthWish,
    pub(super) queue: Queue,
}

impl Deep {
    pub(super) fn new(settings: DeepSettings) -> Self {
        Self { usual: settings.usual, queue: Queue::new(settings.permits) }
    }

    /// How deep a call is to search. Who insists on a depth that the corpus does not have is refused.
    pub(super) fn depth_of(
        &self,
        engine: &Engine,
        wish: Option<DepthWish>,
        query: &str,
        mode: Mode,
    ) -> Result<Depth, ApiError> {
        let ready = engine.deep_ready();
        if let (Some(DepthWish::Deep), Err(why)) = (wish, &ready) {
            return Err(ApiError::invalid_parameter(DEPTH.rule.name, why.to_string()));
        }
        // What the operator made usual is no reason to refuse a call that did not ask for it.
        let usual = if ready.is_ok() { self.usual } else { DepthWish::Fast };
        let has_room = || ready.is_ok() && self.queue.free() > 0;
        Ok(wish.unwrap_or(usual).depth(query, mode, has_room))
    }
}
