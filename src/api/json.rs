//! Strict reading of JSON from clients: it limits the depth and refuses duplicate keys, which two
//! programs could read differently.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Maximum length of the JSON in a call, in bytes.
pub const JSON_BYTES_MAX: usize = 64 << 10;

/// Maximum nesting of objects and arrays. No call needs more.
pub const JSON_DEPTH_MAX: u32 = 32;

pub type JsonObject = Map<String, Value>;

/// Reads one JSON value. The error says what is wrong and where.
pub fn read(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = StrictJsonVisitor { depth_left: JSON_DEPTH_MAX }.deserialize(&mut reader);
    value.and_then(|value| reader.end().map(|()| value)).map_err(|error| error.to_string())
}

struct StrictJsonVisitor {
    /// How many more levels of objects and arrays are allowed.
    depth_left: u32,
}

impl StrictJsonVisitor {
    fn inner<E: Error>(&self) -> Result<Self, E> {
        let depth_left = self.depth_left.checked_sub(1);
        let depth_left = depth_left.ok_or_else(|| E::custom(format!("nested deeper than {JSON_DEPTH_MAX} levels")))?;
        Ok(Self { depth_left })
    }
}

impl<'de> DeserializeSeed<'de> for StrictJsonVisitor {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictJsonVisitor {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self.inner()?)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut object = JsonObject::new();
        while let Some(name) = pairs.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom("an object has the same key twice"));
            }
            let value = pairs.next_value_seed(Self { depth_left: inner.depth_left })?;
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_reads_what_the_usual_reader_reads() {
        for text in [
            r#"{"a":[1,-2,3.5,"x",true,null,{}],"b":{"c":"\u00e9\ud83d\ude00"}}"#,
            "[]",
            " 7 ",
            "\"\"",
            "18446744073709551615",
            "-9223372036854775808",
            "1e3",
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
        assert_eq!(read(b"\xef\xbb\xbf{}").unwrap(), json!({}));
    }

    #[test]
    fn ambiguous_json_is_refused() {
        for (text, reported) in [
            (&br#"{"a":1,"a":2}"#[..], "same key twice"),
            (br#"{"a":1,"\u0061":2}"#, "same key twice"),
            (b"{} {}", "trailing characters"),
            (b"", "EOF"),
            (b"1e999", "out of range"),
            (b"\"\xff\"", "line 1"),
            (b"{'a':1}", "line 1"),
            (b"[1,]", "trailing comma"),
            (b"NaN", "line 1"),
            (b"\"\\ud800\"", "line 1"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(reported), "{}: {error}", text.escape_ascii());
        }
    }

    #[test]
    fn depth_is_bounded_for_lists_and_objects() {
        let nested = |open: &str, close: &str, depth: usize| open.repeat(depth) + "1" + &close.repeat(depth);
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deepest = JSON_DEPTH_MAX as usize;
            assert!(read(nested(open, close, deepest).as_bytes()).is_ok());
            for depth in [deepest + 1, 30_000] {
                assert!(read(nested(open, close, depth).as_bytes()).unwrap_err().contains("deeper than 32"));
            }
        }
    }
}
