//! The JSON body of a call that changes something, and who makes the change.

use hornbook_accounts::changes::ActContext;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::error::ApiError;
use crate::api::json::JsonObject;
use crate::api::operation::MeteredCall;

/// Reads the body. The error shows an example of one that is valid.
pub(super) fn read<T: DeserializeOwned>(body: &JsonObject, example: &str) -> Result<T, ApiError> {
    serde_json::from_value(Value::Object(body.clone()))
        .map_err(|error| ApiError::invalid_parameter("body", format!("the body is not valid: {error}; send {example}")))
}

/// The context of a change that a key makes.
pub(super) fn act(call: &MeteredCall<'_>) -> ActContext {
    ActContext { actor: call.caller.key.into(), at: call.now.wall }
}
