//! Short forms of what rows of operations have in common.

use hornbook_accounts::scope::{Scope, ScopeSet};

use super::error::ErrorCode;
use super::operation::{
    Access, Cost, CostUnit, Handler, KeyHolder, LawReader, Metering, Method, Route, Tool, ToolAnswer,
};
use super::reply::Format;

pub(super) const JSON: &[Format] = &[Format::Json];

pub(super) const NOT_FOUND: &[ErrorCode] = &[ErrorCode::NotFound];

pub(super) const fn metered(any_of: &[Scope], credits: u32, per: CostUnit, handler: Handler<KeyHolder>) -> Access {
    Access::Metered(Metering { any_of: ScopeSet::of(any_of), cost: Cost { credits, per } }, handler)
}

pub(super) const fn law(any_of: &[Scope], credits: u32, per: CostUnit, handler: Handler<LawReader>) -> Access {
    Access::Law(Metering { any_of: ScopeSet::of(any_of), cost: Cost { credits, per } }, handler)
}

pub(super) const fn route(path: &'static str, example: &'static str) -> Option<Route> {
    Some(Route { method: Method::Get, path, example })
}

pub(super) const fn tool(name: &'static str, older_name: &'static str, use_for: &'static str) -> Option<Tool> {
    Some(Tool { name, older_name: Some(older_name), use_for, defaults: &[], answer: ToolAnswer::Both })
}

/// A tool whose answers are law.
pub(super) const fn law_tool(
    name: &'static str,
    older_name: &'static str,
    use_for: &'static str,
    defaults: &'static [(&'static str, &'static str)],
) -> Option<Tool> {
    Some(Tool { name, older_name: Some(older_name), use_for, defaults, answer: ToolAnswer::Law })
}

/// A tool for research connectors, which expect this name.
pub(super) const fn connector(
    name: &'static str,
    use_for: &'static str,
    defaults: &'static [(&'static str, &'static str)],
) -> Option<Tool> {
    Some(Tool { name, older_name: None, use_for, defaults, answer: ToolAnswer::JsonText })
}
