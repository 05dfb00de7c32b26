//! Clients and their registration (RFC 7591). Anyone may register, so nothing is stored: the id of a client is its
//! registration with a signature of this service. Clients have no secrets, because they cannot keep any.

use hornbook_accounts::key::KeyDigest;
use hornbook_base::base64::Base64;
use hornbook_base::invisible;
use ring::hmac;
use serde::{Deserialize, Serialize};

use super::error::{OAuthError, OAuthErrorCode};
use super::redirect::RedirectUri;

const NAME_CHARS_MAX: usize = 100;
const REDIRECTS_MAX: usize = 8;

/// The registration within an id. An id must fit several times into a URL.
const REGISTRATION_BYTES_MAX: usize = 1_500;

/// The name of a client that gave none.
const UNNAMED: &str = "a program without a name";

/// A registered client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RegisteredClient {
    /// As the client calls itself. Nobody checked it.
    pub(super) name: String,
    pub(super) redirects: Vec<RedirectUri>,
}

/// What a client sends to register. Other members of the standard are ignored.
#[derive(Deserialize)]
struct Registration {
    #[serde(default)]
    redirect_uris: Vec<String>,
    client_name: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
}

/// A client within its id.
#[derive(Serialize, Deserialize)]
struct SignedClient {
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "r")]
    redirects: Vec<String>,
}

impl RegisteredClient {
    /// Reads the body of a registration.
    pub(super) fn register(body: &[u8]) -> Result<Self, OAuthError> {
        let metadata = |why: &'static str| OAuthError::new(OAuthErrorCode::InvalidClientMetadata, why);
        let registration: Registration = serde_json::from_slice(body)
            .map_err(|_| metadata("send a JSON object with redirect_uris, a list, and client_name, a text"))?;
        let lacks = |given: Option<Vec<String>>, wanted: &str| {
            given.is_some_and(|given| !given.iter().any(|given| given == wanted))
        };
        if lacks(registration.grant_types, "authorization_code") {
            return Err(metadata("grant_types must contain authorization_code"));
        }
        if lacks(registration.response_types, "code") {
            return Err(metadata("response_types must contain code"));
        }
        let name = registration.client_name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let name = name.unwrap_or(UNNAMED);
        if name.chars().count() > NAME_CHARS_MAX || name.contains(invisible::is_hidden_in_names) {
            return Err(metadata("client_name must have at most 100 characters, and no control or invisible ones"));
        }
        let client = Self::of(SignedClient { name: name.to_owned(), redirects: registration.redirect_uris })?;
        if client.to_json().len() > REGISTRATION_BYTES_MAX {
            return Err(metadata("the registration is too long; register fewer or shorter redirect URIs"));
        }
        Ok(client)
    }

    fn of(signed: SignedClient) -> Result<Self, OAuthError> {
        let redirect_uri = |why: &'static str| OAuthError::new(OAuthErrorCode::InvalidRedirectUri, why);
        let SignedClient { name, redirects } = signed;
        if redirects.is_empty() || redirects.len() > REDIRECTS_MAX {
            return Err(redirect_uri("register between 1 and 8 redirect URIs"));
        }
        let redirects = redirects.iter().map(|uri| RedirectUri::parse(uri)).collect::<Result<_, _>>();
        Ok(Self { name, redirects: redirects.map_err(redirect_uri)? })
    }

    fn to_json(&self) -> Vec<u8> {
        let redirects = self.redirects.iter().map(|uri| uri.as_str().to_owned()).collect();
        let signed = SignedClient { name: self.name.clone(), redirects };
        // Only texts, so writing cannot fail.
        serde_json::to_vec(&signed).unwrap_or_default()
    }

    /// The registered address that a request names.
    pub(super) fn redirect(&self, asked: &str) -> Option<RedirectUri> {
        let asked = RedirectUri::parse(asked).ok()?;
        self.redirects.iter().any(|registered| registered.allows(&asked)).then_some(asked)
    }
}

/// Signs and reads the ids of clients.
pub(super) struct ClientIds {
    key: hmac::Key,
}

impl ClientIds {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    pub(super) fn id_of(&self, client: &RegisteredClient) -> String {
        let json = client.to_json();
        format!("{}.{}", Base64::Url.encode(&json), Base64::Url.encode(hmac::sign(&self.key, &json).as_ref()))
    }

    /// The client with this id. None for an id that this service did not sign.
    pub(super) fn read(&self, id: &str) -> Option<RegisteredClient> {
        let (json, signature) = id.split_once('.')?;
        if json.len() > REGISTRATION_BYTES_MAX.div_ceil(3) * 4 {
            return None;
        }
        let (json, signature) = (Base64::Url.decode(json)?, Base64::Url.decode(signature)?);
        hmac::verify(&self.key, &json, &signature).ok()?;
        // Checked again: an earlier version of this program may have accepted other addresses.
        RegisteredClient::of(serde_json::from_slice(&json).ok()?).ok()
    }
}

/// Identifies a client in what is stored.
pub(super) fn digest_of(client_id: &str) -> KeyDigest {
    KeyDigest::of_secret(client_id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn register(body: &Value) -> Result<RegisteredClient, OAuthError> {
        RegisteredClient::register(body.to_string().as_bytes())
    }

    #[test]
    fn an_id_reads_back_and_only_its_signer_reads_it() {
        let ids = ClientIds::new(&[1; 32]);
        let client =
            register(&json!({ "redirect_uris": ["https://a.example/cb"], "client_name": "Ünïcode", "x": 1 })).unwrap();
        let id = ids.id_of(&client);
        assert_eq!(ids.read(&id), Some(client.clone()));
        assert_eq!(ClientIds::new(&[2; 32]).read(&id), None, "another data directory");
        for at in 0..id.len() {
            let mut changed = id.clone();
            changed.replace_range(at..=at, if &id[at..=at] == "A" { "B" } else { "A" });
            assert_eq!(ids.read(&changed), None, "{changed}");
        }
        for wrong in ["", ".", &id[1..], &format!("{id}A"), &format!("{id}.A"), &"a".repeat(10_000)] {
            assert_eq!(ids.read(wrong), None, "{wrong}");
        }
        assert!(client.redirect("https://a.example/cb").is_some() && client.redirect("https://b.example/cb").is_none());
    }

    #[test]
    fn registrations_are_bounded_and_checked() {
        let uri = "https://a.example/cb";
        let unnamed = register(&json!({ "redirect_uris": [uri], "client_name": " " })).unwrap();
        assert_eq!(unnamed.name, UNNAMED);
        let code = |body: &Value| register(body).unwrap_err().code;
        for body in [
            json!({}),
            json!({ "redirect_uris": [] }),
            json!({ "redirect_uris": vec![uri; 9] }),
            json!({ "redirect_uris": [uri, "javascript:/alert(1)"] }),
            json!({ "redirect_uris": ["http://a.example/"] }),
        ] {
            assert_eq!(code(&body), OAuthErrorCode::InvalidRedirectUri, "{body}");
        }
        let long = format!("{uri}/{}", "a".repeat(300));
        for body in [
            json!([]),
            json!({ "redirect_uris": uri }),
            json!({ "redirect_uris": [uri], "client_name": "a".repeat(101) }),
            json!({ "redirect_uris": [uri], "client_name": "a\u{202e}b" }),
            json!({ "redirect_uris": [uri], "client_name": "a\nb" }),
            json!({ "redirect_uris": [uri], "grant_types": ["client_credentials"] }),
            json!({ "redirect_uris": [uri], "response_types": ["token"] }),
            json!({ "redirect_uris": vec![long; 8] }),
        ] {
            assert_eq!(code(&body), OAuthErrorCode::InvalidClientMetadata, "{body}");
        }
    }
}
