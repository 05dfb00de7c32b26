//! The OpenAPI 3.1 description, rendered from the operations table and from the types of the answers.

use hornbook_corpus::manifest::SNAPSHOT_ID_LENGTH;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::call_terms::TERMS;
use super::error::{ErrorCode, ErrorObject};
use super::headers::{CORPUS_SNAPSHOT, HEADERS, Header, HeaderScope};
use super::operation::{Cost, Metering, Operation, Route};
use super::operations::OPERATIONS;
use super::parameters::{Location, Need, Parameter, ParameterKind};
use super::pinned_snapshot::SNAPSHOT_NAME;
use super::reply::Format;

/// The version of the OpenAPI description.
pub(super) const OPENAPI_VERSION: &str = "1.0.0";

/// At least one character that is not white space, and no control characters.
const TEXT_PATTERN: &str =
    r"^[^\u0000-\u001F\u007F-\u009F]*[^\s\u0000-\u001F\u007F-\u009F][^\u0000-\u001F\u007F-\u009F]*$";
/// The same for an item of a list, which cannot contain a comma.
const LISTED_TEXT_PATTERN: &str =
    r"^[^\u0000-\u001F\u007F-\u009F,]*[^\s\u0000-\u001F\u007F-\u009F,][^\u0000-\u001F\u007F-\u009F,]*$";

/// Printable ASCII that neither begins nor ends with a space.
const VISIBLE_PATTERN: &str = r"^[\x21-\x7E]([\x20-\x7E]*[\x21-\x7E])?$";

/// The tags of the document, in alphabetical order.
const TAGS: &[(&str, &str)] = &[
    ("browse", "Code bodies and their contents."),
    ("formation", "Company formation."),
    ("gis", "Zoning layers."),
    ("node", "Provisions and containers, by id or citation."),
    ("open", "Open to everyone, without a key."),
    ("search", "Searching, and what every key may call."),
];

pub(crate) fn document(base_url: &str) -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .with_transform(RecursiveTransform(plain))
        .for_serialize()
        .into_generator();
    let error = generator.subschema_for::<ErrorObject<'static>>();
    let mut paths = Map::new();
    for operation in OPERATIONS {
        let Some(Route { method, path, .. }) = operation.route else { continue };
        let described = operation_object(operation, &mut generator, error.as_value());
        paths.entry(path).or_insert_with(|| json!({}))[method.as_str().to_ascii_lowercase()] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Hornbook: Legal Provisions Search and Citation API",
            "version": OPENAPI_VERSION,
            "description": "US federal and state law as uniform, citable records: search, provisions, browsing, zoning, \
                            coverage, accounts. Read-only JSON over HTTP; every metered call reports what is left.",
            "contact": { "name": "The operator of this service", "url": base_url },
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "tags": TAGS.iter().map(|(name, meaning)| json!({ "name": name, "description": meaning })).collect::<Vec<_>>(),
        "servers": [{ "url": base_url }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "headers": header_components(),
            "parameters": parameter_components(),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "An API key, sent as a header only." },
            },
        },
    })
}

/// Simplifies a schema: removes the widths of unsigned integers, and turns choices into a plain list of values.
fn plain(schema: &mut Schema) {
    if schema.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("uint")) {
        schema.remove("format");
    }
    let Some(choices) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let described: Option<Vec<(Vec<Value>, Option<&str>)>> = choices.iter().map(values).collect();
    let Some(described) = described else { return };
    let mut meanings =
        schema.get("description").and_then(Value::as_str).map_or_else(Vec::new, |text| vec![text.to_owned()]);
    for (values, meaning) in &described {
        let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        meanings.extend(meaning.map(|meaning| format!("`{}`: {meaning}", names.join("`, `"))));
    }
    let values: Vec<Value> = described.into_iter().flat_map(|(values, _)| values).collect();
    let described = meanings.join(" ");
    schema.remove("oneOf");
    schema.insert("type".to_owned(), json!("string"));
    schema.insert("enum".to_owned(), Value::Array(values));
    schema.insert("description".to_owned(), json!(described));
}

/// The strings that a choice allows, and their meaning. `None` if it allows anything else.
fn values(choice: &Value) -> Option<(Vec<Value>, Option<&str>)> {
    let meaning = choice["description"].as_str();
    match (&choice["const"], &choice["enum"]) {
        (Value::String(text), _) => Some((vec![json!(text)], meaning)),
        (_, Value::Array(texts)) if texts.iter().all(Value::is_string) => Some((texts.clone(), meaning)),
        _ => None,
    }
}

fn operation_object(operation: &Operation, generator: &mut SchemaGenerator, error: &Value) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), answer(operation, generator));
    if operation.metering().is_some() {
        responses.insert("204".to_owned(), priced(operation));
    }
    if operation.has_version {
        responses.insert("304".to_owned(), unchanged(operation));
    }
    for code in operation.all_errors() {
        responses.entry(code.status().to_string()).or_insert_with(|| failure(operation, code, error));
    }
    let security = if operation.metering().is_some() { json!([{ "bearer": [] }]) } else { json!([]) };
    let parameters: Vec<Value> =
        operation.parameters.iter().map(parameter).chain(common_parameters(operation)).collect();
    let mut described = json!({
        "operationId": operation.name,
        "tags": [operation.tag()],
        "summary": operation.summary,
        "description": description(operation),
        "parameters": parameters,
        "security": security,
        "responses": responses,
    });
    if let Some(body) = operation.body {
        let (schema, example) = ((body.schema)(generator), serde_json::from_str::<Value>(body.example));
        let content = json!({ "schema": schema.as_value(), "example": example.unwrap_or_default() });
        // Only JSON is listed, because generated clients do not know more than one kind of body; the description names
        // the kinds of documents.
        described["requestBody"] = json!({ "required": true, "content": { "application/json": content } });
    }
    described
}

fn description(operation: &Operation) -> String {
    let access = match operation.metering() {
        None => "Open to everyone, free.".to_owned(),
        Some(Metering { any_of, cost: Cost { credits: 0, .. } }) => {
            format!("Needs a key with any one of the scopes {any_of}. Free, within the limits of the key.")
        }
        Some(Metering { any_of, cost }) => {
            format!(
                "Needs a key with any one of the scopes {any_of}. Costs {} per {}.",
                cost.credits,
                cost.per.as_str()
            )
        }
    };
    [Some(access.as_str()), operation.details].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// The parameters that operations have in common: the terms of a call, and request headers.
fn common_parameters(operation: &Operation) -> impl Iterator<Item = Value> {
    let of = |name: &str| json!({ "$ref": format!("#/components/parameters/{name}") });
    let is_metered = operation.metering().is_some();
    let terms = TERMS.iter().filter(move |_| is_metered).map(move |term| of(term.name));
    let idempotency = is_metered.then(|| of("Idempotency-Key"));
    let pins = [CORPUS_SNAPSHOT.name, SNAPSHOT_NAME].into_iter().filter(|_| operation.reads_law()).map(of);
    terms.chain(idempotency).chain(pins).chain(operation.has_version.then(|| of("If-None-Match")))
}

fn parameter_components() -> Value {
    let mut components = json!({
        "Idempotency-Key": {
            "name": "Idempotency-Key",
            "in": "header",
            "required": false,
            "description": "A key of your choice for this call. A retry with the same key and the same request is \
                            answered again without being charged again; the same key with another request is a 422.",
            "schema": { "type": "string", "minLength": 1, "maxLength": 255, "pattern": VISIBLE_PATTERN },
        },
        "If-None-Match": {
            "name": "If-None-Match",
            "in": "header",
            "required": false,
            "description": "The `ETag` of an earlier answer, or several of them, comma-separated. If one of them is \
                            still current, the answer is a free 304 without a body.",
            "schema": { "type": "string" },
        },
    });
    components[CORPUS_SNAPSHOT.name] = json!({
        "name": CORPUS_SNAPSHOT.name,
        "in": "header",
        "required": false,
        "description": "The snapshot from which the call must be answered, as an earlier answer named it. Send it with \
                        the second page of a list and those after it, so that all pages are of one edition. If the \
                        server does not have it, or with `asOf` if the day is answered from another one, the call is \
                        refused and free.",
        "schema": { "type": "string", "pattern": format!("^[0-9a-f]{{{SNAPSHOT_ID_LENGTH}}}$") },
    });
    components[SNAPSHOT_NAME] = json!({
        "name": SNAPSHOT_NAME,
        "in": "query",
        "required": false,
        "description": "The same as the header `X-Corpus-Snapshot`, for links: those to the other pages of a list name the \
                        snapshot of this one.",
        "schema": components[CORPUS_SNAPSHOT.name]["schema"],
    });
    for term in TERMS {
        components[term.name] = parameter(term);
    }
    components
}

fn priced(operation: &Operation) -> Value {
    json!({
        "description": "The price of the call, with `dryRun=true`. The call was not made.",
        "headers": headers(operation, 204),
    })
}

fn unchanged(operation: &Operation) -> Value {
    json!({
        "description": "The version named in `If-None-Match` is current. Free.",
        "headers": headers(operation, 304),
    })
}

fn answer(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let schema = (operation.reply)(generator);
    let content = operation.formats.iter().map(|format| {
        let schema = if *format == Format::Json { schema.as_value().clone() } else { json!({ "type": "string" }) };
        (format.media_type().to_owned(), json!({ "schema": schema }))
    });
    json!({
        "description": "The answer.",
        "headers": headers(operation, 200),
        "content": content.collect::<Map<_, _>>(),
    })
}

fn failure(operation: &Operation, code: ErrorCode, error: &Value) -> Value {
    let meanings: Vec<&str> = operation
        .all_errors()
        .into_iter()
        .filter(|other| other.status() == code.status())
        .map(ErrorCode::meaning)
        .collect();
    json!({
        "description": meanings.join(" "),
        "headers": headers(operation, code.status()),
        "content": { "application/json": { "schema": error } },
    })
}

/// The headers that an operation's responses of this status may have.
fn headers(operation: &Operation, status: u16) -> Map<String, Value> {
    let is_metered = operation.metering().is_some();
    let is_sent = |header: &&Header| match header.on {
        HeaderScope::Every => true,
        HeaderScope::Paid => is_metered && matches!(status, 200 | 204),
        HeaderScope::RateLimited => is_metered && !matches!(status, 400 | 401 | 403 | 413 | 414 | 431),
        HeaderScope::Versioned => operation.has_version && matches!(status, 200 | 304),
        HeaderScope::Paged => operation.is_paged() && status == 200,
        HeaderScope::RetryLater => matches!(status, 429 | 503),
        HeaderScope::Unauthorized => status == 401,
        HeaderScope::MethodNotAllowed => status == 405,
    };
    let referred =
        |header: &Header| (header.name.to_owned(), json!({ "$ref": format!("#/components/headers/{}", header.name) }));
    HEADERS.iter().filter(is_sent).map(referred).collect()
}

/// Each header once; responses refer to it. `Allow` is left out, because no response of an operation has it.
fn header_components() -> Map<String, Value> {
    let described = |header: &Header| {
        (header.name.to_owned(), json!({ "description": header.meaning, "schema": { "type": header.kind.name() } }))
    };
    HEADERS.iter().filter(|header| header.on != HeaderScope::MethodNotAllowed).map(described).collect()
}

fn parameter(parameter: &Parameter) -> Value {
    let mut schema = schema_of(parameter.kind);
    if let Need::Default(default) = parameter.need {
        schema["default"] = match parameter.kind {
            ParameterKind::Integer { .. } | ParameterKind::Number { .. } | ParameterKind::Boolean => {
                default.parse().unwrap_or(Value::Null)
            }
            _ => json!(default),
        };
    }
    let mut described = json!({
        "name": parameter.name,
        "in": if parameter.location == Location::Path { "path" } else { "query" },
        "required": parameter.need == Need::Required,
        "description": parameter.meaning,
        "schema": schema,
    });
    if parameter.kind.is_list() {
        // The other style, which repeats the parameter for each value, is accepted too.
        described["style"] = json!("form");
        described["explode"] = json!(false);
    }
    described
}

fn schema_of(kind: ParameterKind) -> Value {
    let list = |most: usize, item: Value| json!({ "type": "array", "minItems": 1, "maxItems": most, "items": item });
    match kind {
        ParameterKind::Text { chars_max } => {
            json!({ "type": "string", "maxLength": chars_max, "pattern": TEXT_PATTERN })
        }
        ParameterKind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        ParameterKind::Number { min, max } => json!({ "type": "number", "minimum": min, "maximum": max }),
        ParameterKind::Boolean => json!({ "type": "boolean" }),
        ParameterKind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        ParameterKind::Uuid => json!({ "type": "string", "format": "uuid" }),
        ParameterKind::Date => json!({ "type": "string", "format": "date" }),
        ParameterKind::Uuids { count_max: most } => list(most, schema_of(ParameterKind::Uuid)),
        ParameterKind::ShortCodes { most } => list(most, schema_of(ParameterKind::ShortCode)),
        ParameterKind::Choices { of } => list(of.len(), schema_of(ParameterKind::Choice(of))),
        ParameterKind::Texts { most, chars_max } => {
            list(most, json!({ "type": "string", "maxLength": chars_max, "pattern": LISTED_TEXT_PATTERN }))
        }
        ParameterKind::ShortCode => json!({
            "type": "string", "minLength": 2, "maxLength": 40, "pattern": "^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$",
        }),
    }
}
