//! HTTP/2 without TLS: frames can carry requests that must not reach an operation.

use bytes::Bytes;
use h2::client::SendRequest;
use hyper::http::request::Builder;
use hyper::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use tokio::net::TcpStream;

use crate::browser::{between, start_with_account_pages};
use crate::test_server::{TestServer, generous_tariff};

type Client = SendRequest<Bytes>;

/// Runs a conversation over one connection.
pub(crate) fn talk<T>(server: &TestServer, conversation: impl AsyncFnOnce(&mut Client) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        conversation(&mut client).await
    })
}

pub(crate) async fn ask(
    client: &mut Client,
    request: Request<()>,
    body: Option<&'static [u8]>,
) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut ready = client.clone().ready().await.unwrap();
    let (answer, mut stream) = ready.send_request(request, body.is_none()).unwrap();
    if let Some(body) = body {
        stream.send_data(Bytes::from_static(body), true).unwrap();
    }
    let (head, mut stream) = answer.await.unwrap().into_parts();
    let mut received = Vec::new();
    while let Some(piece) = stream.data().await {
        let piece = piece.unwrap();
        stream.flow_control().release_capacity(piece.len()).unwrap();
        received.extend_from_slice(&piece);
    }
    (head.status, head.headers, received)
}

fn get(path: &str) -> Builder {
    Request::builder().uri(format!("http://law.example{path}"))
}

#[test]
fn many_requests_share_a_connection_and_each_has_its_own_id() {
    let server = TestServer::start(generous_tariff());
    talk(&server, async |client| {
        let mut ids = Vec::new();
        for _ in 0..20 {
            let (status, headers, _) = ask(client, get("/healthz").body(()).unwrap(), None).await;
            assert_eq!(status, 200);
            ids.push(headers["x-request-id"].clone());
        }
        ids.dedup();
        assert_eq!(ids.len(), 20);
    });
}

#[test]
fn invalid_http2_requests_get_the_error_object() {
    let server = TestServer::start(generous_tariff());
    let long = "a".repeat(9000);
    let cases = [
        (400, get("/healthz").header("host", "other.example"), None),
        (400, get("/healthz").header("host", "law.example").header("host", "law.example"), None),
        (400, get("/healthz?q=%00"), None),
        (400, get("/%zz"), None),
        (404, get("/nowhere"), None),
        (405, get("/healthz").method(Method::TRACE), None),
        (405, Request::builder().method(Method::CONNECT).uri("law.example:443"), None),
        (405, get("/healthz").method(Method::POST), None),
        (413, get("/healthz"), Some(&b"hello"[..])),
        (405, get("/api/v1/search").method(Method::PUT), Some(&b"q=a"[..])),
        (405, get("/api/v1/search").method(Method::POST), Some(&b"q=a"[..])),
        (414, get(&format!("/{long}")), None),
        (431, get("/healthz").header("x-a", &long).header("x-b", &long), None),
        (200, get("/healthz").header("host", "law.example"), None),
        (400, Request::builder().uri("http://user@law.example/healthz"), None),
    ];
    talk(&server, async |client| {
        for (expected, request, body) in cases {
            let request = request.body(()).unwrap();
            let place = format!("{request:?}").chars().take(200).collect::<String>();
            let (status, headers, body) = ask(client, request, body).await;
            assert_eq!(status.as_u16(), expected, "{place}");
            assert!(headers.contains_key("x-request-id"), "{place}");
            let object: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(object["error"].is_string() && object["message"].is_string(), expected >= 400, "{place}");
        }
    });
}

/// HTTP/2 sends the host in `:authority` instead of a header. As in HTTP/1, it decides who may send
/// forms and who may use the MCP endpoint.
#[test]
fn the_authority_is_the_host() {
    let server = crate::mcp::open();
    let list = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    talk(&server, async |client| {
        for (host, expected) in [("law.example", 200), ("localhost:80", 200), ("evil.example", 403)] {
            let request = Request::builder().method(Method::POST).uri(format!("http://{host}/api/mcp"));
            let request = request.header("content-type", "application/json").body(()).unwrap();
            assert_eq!(ask(client, request, Some(list)).await.0, expected, "{host}");
        }
    });
    let server = start_with_account_pages();
    talk(&server, async |client| {
        for (host, origin, expected) in [
            ("law.example", "https://law.example", 303),
            ("other.name", "https://other.name", 303),
            ("other.name", "https://third.name", 403),
        ] {
            let at = |path: &str| Request::builder().uri(format!("http://{host}{path}"));
            let (_, headers, page) = ask(client, at("/settings/sign-up").body(()).unwrap(), None).await;
            let cookie = headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
            let page = String::from_utf8(page).unwrap();
            let token = between(&page, "name=\"token\" value=\"", "\"").unwrap();
            let login = format!("jane-{}-{expected}", host.len());
            let form = format!("login={login}&password=correct+horse&token={token}");
            let request =
                at("/settings/sign-up").method(Method::POST).header("cookie", cookie).header("origin", origin);
            let request = request.header("content-type", "application/x-www-form-urlencoded").body(()).unwrap();
            let (status, _, _) = ask(client, request, Some(form.leak().as_bytes())).await;
            assert_eq!(status, expected, "{host} from {origin}");
        }
    });
}
