//! The documentation of one operation: parameters, response, a shell command, and a form that calls
//! it.

use maud::{Markup, html};

use super::elements::{curl, lines, prose, table};
use super::schema;
use super::source::DocsSource;
use crate::api::documents::{DocumentContext, markdown};
use crate::api::operation::{Operation, Route};
use crate::api::parameters::{Location, Need, Parameter, ParameterKind};
use crate::api::reply::Format;
use crate::api::subject::Subject;

pub(super) fn card(operation: &Operation, source: &DocsSource<'_>) -> Markup {
    let Operation { name, summary, details, parameters, route, .. } = operation;
    html! {
        article aria-labelledby=(name) {
            h3 id=(name) { (name) }
            p { (prose(summary)) @if let Some(details) = details { ". " (prose(details)) } }
            @if let Some(route) = route { p.route { b { (route.method.as_str()) } " " code { (route.path) } } }
            (facts(operation, source))
            @if !parameters.is_empty() {
                h4 { "Parameters" }
                (table(&format!("Parameters of {name}"), &["name", "in", "default", "meaning"], &html! {
                    @for parameter in *parameters { (row(parameter)) }
                }))
            }
            @if let Some(route) = route {
                @if let Some(call) = example(operation, *route, source.setting) {
                    h4 { "Example" }
                    (lines(&call))
                }
                (panel(operation, *route, source.setting))
            }
        }
    }
}

/// A call that works on the law that is served. `None` if there is no such call.
fn example(operation: &Operation, route: Route, setting: &DocumentContext<'_>) -> Option<String> {
    let (needs_key, body) = (operation.metering().is_some(), operation.body.map(|body| body.example));
    setting.examples.fill(route.example).map(|example| curl(setting.base_url, &example, body, needs_key))
}

/// What a caller should know. The answer and the errors of a tool without a route are those of its
/// protocol.
fn facts(operation: &Operation, source: &DocsSource<'_>) -> Markup {
    let answer = |route| source.description.answer(route, Format::Json.media_type());
    let forms: Vec<&str> = operation.formats.iter().map(|format| format.media_type()).collect();
    let mut statuses: Vec<String> = operation.all_errors().iter().map(|error| error.status().to_string()).collect();
    statuses.dedup();
    let fact = |name: &str, value: &Markup| html! { div { dt { (name) } dd { (value) } } };
    html! {
        dl.facts {
            (fact("scope", &html! { (markdown::scopes(operation)) }))
            (fact("credits", &html! { (markdown::credits(operation)) }))
            @if let Some(tool) = operation.tool { (fact("tool", &html! { code { (tool.name) } })) }
            @if let Some(route) = operation.route {
                (fact("response", &schema::kind(answer(route), &source.description)))
                @if forms.len() > 1 { (fact("available as", &html! { (forms.join(", ")) })) }
                (fact("error statuses", &html! { a href=(Subject::Errors.path()) { (statuses.join(", ")) } }))
            }
        }
    }
}

fn row(parameter: &Parameter) -> Markup {
    let place = if parameter.location == Location::Path { "path" } else { "query" };
    html! {
        tr {
            th scope="row" { code { (parameter.name) } }
            td { (place) }
            td { @match parameter.need {
                Need::Required => { span.needed { "required" } }
                Need::Optional => {}
                Need::Default(default) => { code { (default) } }
            } }
            td { (prose(parameter.meaning)) "; " (parameter.kind.rule()) }
        }
    }
}

/// A form with a field for each parameter. The script sends the request and shows the
/// response.
fn panel(operation: &Operation, route: Route, setting: &DocumentContext<'_>) -> Markup {
    let given = ExampleValues { route, setting };
    html! {
        form.try.scripts-only data-method=(route.method.as_str()) data-path=(route.path) data-base=(setting.base_url)
            data-keyed[operation.metering().is_some()] aria-label={ "Try " (operation.name) } {
            h4 { "Try it" }
            @if !operation.parameters.is_empty() {
                div.fields { @for parameter in operation.parameters { (field(parameter, &given)) } }
            }
            @if let Some(body) = operation.body {
                label.wide { "body" textarea name="body" rows=(body.example.lines().count().clamp(2, 12)) spellcheck="false" { (body.example) } }
            }
            button type="submit" { "Send" }
            div.came aria-live="polite" {}
        }
    }
}

fn field(parameter: &Parameter, given: &ExampleValues<'_>) -> Markup {
    let is_required = parameter.need == Need::Required;
    let place = if parameter.location == Location::Path { "path" } else { "query" };
    let value = given.value(parameter.name);
    let default = if let Need::Default(default) = parameter.need { Some(default) } else { None };
    let choices: &[&str] = match parameter.kind {
        ParameterKind::Choice(choices) => choices,
        ParameterKind::Boolean => &["true", "false"],
        _ => &[],
    };
    let Bounds { min, max, step } = Bounds::of(parameter.kind);
    let is_number = step.is_some();
    html! {
        label {
            span { (parameter.name) @if is_required { " " span.needed { "required" } } }
            @if choices.is_empty() {
                input type=(if is_number { "number" } else { "text" }) name=(parameter.name) data-in=(place) required[is_required]
                    value=[value] placeholder=[default] min=[min] max=[max] step=[step] autocomplete="off" spellcheck="false";
            } @else {
                select name=(parameter.name) data-in=(place) required[is_required] {
                    @if !is_required { option value="" { @match default { Some(default) => { (default) " (default)" } None => "not set" } } }
                    @for choice in choices {
                        option value=(choice) selected[value.as_deref() == Some(choice)] { (choice) }
                    }
                }
            }
        }
    }
}

/// The valid range of a number field.
struct Bounds {
    min: Option<i64>,
    max: Option<i64>,
    step: Option<&'static str>,
}

impl Bounds {
    fn of(kind: ParameterKind) -> Self {
        match kind {
            ParameterKind::Integer { min, max } => {
                Self { min: Some(min.into()), max: Some(max.into()), step: Some("1") }
            }
            ParameterKind::Number { min, max } => {
                Self { min: Some(min.into()), max: Some(max.into()), step: Some("any") }
            }
            _ => Self { min: None, max: None, step: None },
        }
    }
}

/// The parameter values in the example of an operation.
struct ExampleValues<'g> {
    route: Route,
    setting: &'g DocumentContext<'g>,
}

impl ExampleValues<'_> {
    fn value(&self, name: &str) -> Option<String> {
        let (path, query) = self.route.example.split_once('?').unwrap_or((self.route.example, ""));
        let of_path = self.route.path.split('/').zip(path.split('/'));
        let of_path = of_path.filter_map(|(part, value)| Some((part.strip_prefix('{')?.strip_suffix('}')?, value)));
        let of_query = query.split('&').filter_map(|pair| pair.split_once('='));
        let (_, template) = of_path.chain(of_query).find(|(known, _)| *known == name)?;
        self.setting.examples.value(template)
    }
}
