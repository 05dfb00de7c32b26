//! The errors of the protocol: a code for programs and a sentence for people.

use std::borrow::Cow;

/// An error of RFC 6749, RFC 7591 or RFC 8707.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct OAuthError {
    pub(super) code: OAuthErrorCode,
    pub(super) description: Cow<'static, str>,
    /// For the log.
    pub(super) internal: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OAuthErrorCode {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    InvalidScope,
    InvalidTarget,
    InvalidRedirectUri,
    InvalidClientMetadata,
    UnsupportedGrantType,
    UnsupportedResponseType,
    AccessDenied,
    TemporarilyUnavailable,
}

impl OAuthErrorCode {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::AccessDenied => "access_denied",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
        }
    }

    pub(super) const fn status(self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            Self::TemporarilyUnavailable => 503,
            _ => 400,
        }
    }
}

impl OAuthError {
    pub(super) fn new(code: OAuthErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        Self { code, description: description.into(), internal: None }
    }

    pub(super) fn unavailable(internal: String) -> Self {
        let description = "the service cannot answer at the moment; try again in a few seconds";
        Self { internal: Some(internal), ..Self::new(OAuthErrorCode::TemporarilyUnavailable, description) }
    }
}
