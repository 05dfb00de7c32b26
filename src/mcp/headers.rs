//! Finds the protocol version of a request, and checks that its headers agree with its body.
//!
//! Since 2026-07-28 each request states its version and its client's capabilities in `_meta`. Over HTTP
//! it repeats version, method and name in headers, which proxies use. Headers that differ from the body
//! are refused, because otherwise a proxy and this server would see two different requests. Older
//! versions state their version only in a header.

use hornbook_base::base64::Base64;
use http::HeaderMap;
use serde_json::{Value, json};

use super::jsonrpc::{HEADER_MISMATCH, INVALID_PARAMS, RpcError, RpcRequest, UNSUPPORTED_VERSION};
use super::version::ProtocolVersion;

pub(super) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

const VERSION_HEADER: &str = "mcp-protocol-version";
const METHOD_HEADER: &str = "mcp-method";
const NAME_HEADER: &str = "mcp-name";

/// The methods whose requests name something, and the member that contains the name.
const NAMED: [(&str, &str); 3] = [("tools/call", "name"), ("prompts/get", "name"), ("resources/read", "uri")];

/// The transport of a message.
#[derive(Clone, Copy, Debug)]
pub(super) enum McpTransport<'a> {
    Http(&'a HeaderMap),
    /// With the version that `initialize` agreed on, or the default if it was not called.
    Stdio(ProtocolVersion),
}

/// The version of a request, after checking that its headers and its body agree.
pub(super) fn version_of(request: &RpcRequest, carrier: McpTransport<'_>) -> Result<ProtocolVersion, RpcError> {
    let meta = request.params.get("_meta").and_then(Value::as_object);
    let named = meta.and_then(|meta| meta.get(META_VERSION));
    let header = match carrier {
        McpTransport::Http(headers) => given(headers, VERSION_HEADER)?,
        McpTransport::Stdio(_) => None,
    };
    let is_stateless = named.is_some()
        || request.method == "server/discover"
        || header.is_some_and(|header| header == ProtocolVersion::V2026_07_28.as_str());
    if !is_stateless {
        return match (carrier, header) {
            // The parameters of `initialize` state the version of the client.
            _ if request.method == "initialize" => Ok(ProtocolVersion::NEWEST_WITH_HANDSHAKE),
            (McpTransport::Http(_), header) => without_handshake(header),
            (McpTransport::Stdio(agreed), _) => Ok(agreed),
        };
    }
    let Some(named) = named.and_then(Value::as_str) else { return Err(missing(META_VERSION)) };
    if let McpTransport::Http(_) = carrier
        && header != Some(named)
    {
        return Err(mismatch("MCP-Protocol-Version", header, named));
    }
    let version = ProtocolVersion::parse(named).ok_or_else(|| unsupported(named))?;
    if !version.is_stateless() {
        return Ok(version);
    }
    if !meta.is_some_and(|meta| meta.get(META_CAPABILITIES).is_some_and(Value::is_object)) {
        return Err(missing(META_CAPABILITIES));
    }
    if let McpTransport::Http(headers) = carrier {
        agree(request, headers)?;
    }
    Ok(version)
}

/// The version of a message whose body does not state it.
pub(super) fn version_by_header(carrier: McpTransport<'_>) -> Result<ProtocolVersion, RpcError> {
    match carrier {
        McpTransport::Http(headers) => without_handshake(given(headers, VERSION_HEADER)?),
        McpTransport::Stdio(agreed) => Ok(agreed),
    }
}

fn without_handshake(header: Option<&str>) -> Result<ProtocolVersion, RpcError> {
    let Some(header) = header else { return Ok(ProtocolVersion::WITHOUT_HEADER) };
    ProtocolVersion::parse(header).ok_or_else(|| unsupported(header))
}

fn agree(request: &RpcRequest, headers: &HeaderMap) -> Result<(), RpcError> {
    let method = given(headers, METHOD_HEADER)?;
    if method != Some(request.method.as_str()) {
        return Err(mismatch("Mcp-Method", method, &request.method));
    }
    // Without a name there is nothing to compare. If the request needs one, its method reports that.
    let Some(name) = name_of(request) else { return Ok(()) };
    let header = given(headers, NAME_HEADER)?;
    match header.map(decoded) {
        Some(Some(decoded)) if decoded == name => Ok(()),
        _ => Err(mismatch("Mcp-Name", header, name)),
    }
}

/// The name in the request, which the header `Mcp-Name` repeats.
pub(super) fn name_of(request: &RpcRequest) -> Option<&str> {
    let (_, member) = NAMED.iter().find(|(method, _)| *method == request.method)?;
    request.params.get(*member)?.as_str()
}

/// The value of a header, without the white space around it.
fn given<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return match headers.contains_key(name) {
            true => Err(RpcError::bad_request(HEADER_MISMATCH, format!("the header {name} is sent more than once"))),
            false => Ok(None),
        };
    };
    let text = value.to_str().map_err(|_| {
        RpcError::bad_request(
            HEADER_MISMATCH,
            format!("the header {name} has characters that are not allowed in headers"),
        )
    })?;
    Ok(Some(text.trim_matches([' ', '\t'])))
}

fn missing(name: &str) -> RpcError {
    let message = format!("params._meta[\"{name}\"] is required in every request");
    RpcError::bad_request(INVALID_PARAMS, message)
}

fn mismatch(header: &str, given: Option<&str>, wanted: &str) -> RpcError {
    let (given, wanted) = (given.map(shortened), shortened(wanted));
    let message = match given {
        Some(given) => format!("header mismatch: {header} is '{given}', and the body says '{wanted}'"),
        None => format!("header mismatch: {header} is missing, and the body says '{wanted}'"),
    };
    RpcError::bad_request(HEADER_MISMATCH, message)
}

fn unsupported(requested: &str) -> RpcError {
    let data = json!({ "supported": ProtocolVersion::names(), "requested": requested });
    RpcError::bad_request(UNSUPPORTED_VERSION, "unsupported protocol version").with_data(data)
}

fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    crate::api::error::shortened(text)
}

/// Decodes a name from a header, where it is either plain or `=?base64?...?=`. `None` if it is broken.
fn decoded(header: &str) -> Option<String> {
    match header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(header.to_owned()),
        Some(digits) => String::from_utf8(Base64::Standard.decode(digits)?).ok(),
    }
}

/// Encodes a text as a header value. `decoded` reads it back.
pub(super) fn encoded(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim() == text;
    match is_plain && !text.starts_with("=?base64?") {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", Base64::Standard.encode(text.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn request(method: &str, params: Value) -> RpcRequest {
        let Value::Object(params) = params else { panic!("params are an object") };
        RpcRequest { id: json!(1), method: method.to_owned(), params }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())).collect()
    }

    fn meta(version: &str) -> Value {
        json!({ META_VERSION: version, META_CAPABILITIES: {} })
    }

    const NOW: &str = "2026-07-28";

    #[test]
    fn a_stateless_request_is_accepted_if_headers_and_body_agree() {
        let call = request("tools/call", json!({ "name": "law.search", "_meta": meta(NOW) }));
        for name in ["law.search", "  law.search\t", "=?base64?bGF3LnNlYXJjaA==?="] {
            let sent = headers(&[(VERSION_HEADER, NOW), (METHOD_HEADER, "tools/call"), (NAME_HEADER, name)]);
            assert_eq!(version_of(&call, McpTransport::Http(&sent)), Ok(ProtocolVersion::V2026_07_28), "{name}");
        }
        assert_eq!(
            version_of(&call, McpTransport::Stdio(ProtocolVersion::V2025_11_25)),
            Ok(ProtocolVersion::V2026_07_28)
        );
    }

    #[test]
    fn headers_that_differ_from_the_body_are_refused() {
        let call = request("tools/call", json!({ "name": "law.search", "_meta": meta(NOW) }));
        let method = (METHOD_HEADER, "tools/call");
        let name = (NAME_HEADER, "law.search");
        for sent in [
            vec![method, name],
            vec![(VERSION_HEADER, "2025-11-25"), method, name],
            vec![(VERSION_HEADER, NOW), name],
            vec![(VERSION_HEADER, NOW), (METHOD_HEADER, "TOOLS/CALL"), name],
            vec![(VERSION_HEADER, NOW), method],
            vec![(VERSION_HEADER, NOW), method, (NAME_HEADER, "law.get_node")],
            vec![(VERSION_HEADER, NOW), method, (NAME_HEADER, "=?base64?bGF3LnNlYXJjaA=?=")],
            vec![(VERSION_HEADER, NOW), method, (NAME_HEADER, "=?BASE64?bGF3LnNlYXJjaA==?=")],
        ] {
            let error = version_of(&call, McpTransport::Http(&headers(&sent))).unwrap_err();
            assert_eq!((error.code, error.status), (HEADER_MISMATCH, 400), "{sent:?}");
        }
        let mut twice = headers(&[(VERSION_HEADER, NOW), method, name]);
        twice.append(NAME_HEADER, HeaderValue::from_static("law.search"));
        assert_eq!(version_of(&call, McpTransport::Http(&twice)).unwrap_err().code, HEADER_MISMATCH);
    }

    #[test]
    fn what_is_missing_in_meta_is_named_and_unknown_versions_get_the_list() {
        let sent = headers(&[(VERSION_HEADER, NOW), (METHOD_HEADER, "server/discover")]);
        for params in [json!({}), json!({ "_meta": {} }), json!({ "_meta": { META_VERSION: NOW } })] {
            let error = version_of(&request("server/discover", params), McpTransport::Http(&sent)).unwrap_err();
            assert_eq!((error.code, error.status), (INVALID_PARAMS, 400));
        }
        let sent = headers(&[(VERSION_HEADER, "v9")]);
        let error = version_of(&request("x", json!({ "_meta": meta("v9") })), McpTransport::Http(&sent)).unwrap_err();
        assert_eq!((error.code, error.data.unwrap()["requested"].as_str()), (UNSUPPORTED_VERSION, Some("v9")));
    }

    #[test]
    fn older_requests_name_their_version_in_a_header_or_nowhere() {
        let list = request("tools/list", json!({}));
        for (sent, version) in [
            (vec![], Ok(ProtocolVersion::V2025_03_26)),
            (vec![(VERSION_HEADER, "2025-06-18")], Ok(ProtocolVersion::V2025_06_18)),
            (vec![(VERSION_HEADER, "2024-11-05")], Err(UNSUPPORTED_VERSION)),
        ] {
            assert_eq!(version_of(&list, McpTransport::Http(&headers(&sent))).map_err(|error| error.code), version);
        }
        let handshake = request("initialize", json!({ "protocolVersion": "2024-11-05" }));
        assert!(version_of(&handshake, McpTransport::Http(&headers(&[]))).is_ok());
    }

    #[test]
    fn every_text_round_trips_through_a_header() {
        for text in ["law.search", "", " padded ", "a\nb", "é§", "=?base64?x?=", "abcd", "abc", "ab", "日本"] {
            let header = encoded(text);
            assert!(HeaderValue::from_str(&header).is_ok() && header.trim() == header);
            assert_eq!(decoded(&header).as_deref(), Some(text), "{header}");
        }
        assert_eq!(encoded("law.search"), "law.search");
        assert_eq!(encoded("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
    }

    #[test]
    fn only_whole_base64_is_decoded() {
        for (text, bytes) in
            [("", &b""[..]), ("TQ==", b"M"), ("TWE=", b"Ma"), ("TWFu", b"Man"), ("+/+/", b"\xfb\xff\xbf")]
        {
            assert_eq!(Base64::Standard.decode(text).as_deref(), Some(bytes), "{text}");
        }
        for bad in ["T", "TQ", "TQ=", "TQ===", "TR==", "TWF=", "T=Q=", "TWF\n", "====", "TQ==TQ=="] {
            assert_eq!(Base64::Standard.decode(bad), None, "{bad}");
        }
    }
}
