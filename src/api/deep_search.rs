//! Deep searches: which calls get one, and the threads that run them, so that they delay no other call.

use hornbook_search::{Depth, DepthChoice, Engine, Mode};

use super::error::ApiError;
use super::parameters::{Param, choice};
use super::queue::WorkQueue;

choice!(DepthChoice, name);

pub(in crate::api) const DEPTH: Param<Option<DepthChoice>> =
    Param::optional("depth", "deep: a sentence encoder reads q (milliseconds); auto: for questions");

/// The operator's settings for deep searches.
#[derive(Clone, Copy, Debug)]
pub struct DeepSettings {
    /// The depth of calls that do not give one.
    pub default_depth: DepthChoice,
    /// Maximum number of deep searches at once.
    pub permits: usize,
}

/// The default depth, and the queue for deep searches.
pub(super) struct DeepSearch {
    usual: DepthChoice,
    pub(super) queue: WorkQueue,
}

impl DeepSearch {
    pub(super) fn new(settings: DeepSettings) -> Self {
        Self { usual: settings.default_depth, queue: WorkQueue::new(settings.permits) }
    }

    /// Chooses the depth of a call. A call that asks for a depth that the corpus does not have is refused.
    pub(super) fn depth_of(
        &self,
        engine: &Engine,
        wish: Option<DepthChoice>,
        query: &str,
        mode: Mode,
    ) -> Result<Depth, ApiError> {
        let ready = engine.deep_ready();
        if let (Some(DepthChoice::Deep), Err(why)) = (wish, &ready) {
            return Err(ApiError::invalid_parameter(DEPTH.rule.name, why.to_string()));
        }
        // The operator's default must not cause a refusal, because the call did not ask for it.
        let usual = if ready.is_ok() { self.usual } else { DepthChoice::Fast };
        let has_room = || ready.is_ok() && self.queue.free() > 0;
        Ok(wish.unwrap_or(usual).depth(query, mode, has_room))
    }
}
