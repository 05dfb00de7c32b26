//! Parses forms with a file: `multipart/form-data`.

use std::convert::Infallible;

use ::http::HeaderMap;
use ::http::header::CONTENT_TYPE;
use bytes::Bytes;
use multer::{Multipart, parse_boundary};

/// Maximum number of fields and files.
const PARTS_MAX: usize = 8;

/// The fields of a form with a file.
#[derive(Debug, Default)]
pub(super) struct UploadedForm {
    fields: Vec<(String, String)>,
    /// The file, if one was chosen: its name and its bytes.
    pub(super) file: Option<(String, Bytes)>,
}

impl UploadedForm {
    pub(super) async fn read(headers: &HeaderMap, body: Bytes) -> Result<Self, &'static str> {
        const BROKEN: &str = "this is not a form with a document; send it from the page";
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let boundary = parse_boundary(content_type).map_err(|_| BROKEN)?;
        let whole = futures_util::stream::once(async { Ok::<Bytes, Infallible>(body) });
        let mut parts = Multipart::new(whole, boundary);
        let (mut form, mut parts_read) = (Self::default(), 0);
        while let Some(part) = parts.next_field().await.map_err(|_| BROKEN)? {
            parts_read += 1;
            if parts_read > PARTS_MAX {
                return Err("the form has too many fields");
            }
            let name = part.name().unwrap_or_default().to_owned();
            match part.file_name().map(str::to_owned) {
                Some(file) => {
                    let bytes = part.bytes().await.map_err(|_| BROKEN)?;
                    form.file = (!bytes.is_empty()).then_some((file, bytes)).or(form.file);
                }
                None => {
                    let bytes = part.bytes().await.map_err(|_| BROKEN)?;
                    let text = String::from_utf8(bytes.to_vec()).map_err(|_| "the text is not UTF-8")?;
                    form.fields.push((name, text));
                }
            }
        }
        Ok(form)
    }

    /// The value of a field; empty if the field is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        self.fields.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use ::http::HeaderValue;

    use super::*;

    fn read(body: &str) -> Result<UploadedForm, &'static str> {
        let headers =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("multipart/form-data; boundary=b"))]);
        let body = Bytes::from(body.replace('\n', "\r\n"));
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(UploadedForm::read(&headers, body))
    }

    #[test]
    fn texts_and_one_file_are_read() {
        let form = read(
            "--b\nContent-Disposition: form-data; name=\"text\"\n\n§ 1\n--b\nContent-Disposition: form-data; name=\"file\"; \
             filename=\"a.md\"\nContent-Type: text/markdown\n\n# A\n--b--\n",
        )
        .unwrap();
        assert_eq!(form.text("text"), "§ 1");
        assert_eq!(form.file, Some(("a.md".to_owned(), Bytes::from_static(b"# A"))));
        let without = read("--b\nContent-Disposition: form-data; name=\"file\"; filename=\"\"\n\n\n--b--\n").unwrap();
        assert_eq!(without.file, None);
    }

    #[test]
    fn what_no_browser_sends_is_refused() {
        for broken in ["", "--b\n", "--c--\n", "--b\nContent-Disposition: form-data; name=\"a\"\n\nx"] {
            assert!(read(broken).is_err(), "{broken:?}");
        }
    }
}
