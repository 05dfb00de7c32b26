// Calls every operation through the types that openapi-typescript made of the OpenAPI document. What it takes from an answer
// must be there at compile time and at run time. Usage: client.mjs ADDRESS KEY ORDER, the order as JSON with id and token.

import createClient from "openapi-fetch";
import type { paths } from "./openapi.js";

declare const process: { argv: string[] };

const [address = "", key = "", orderText = "{}"] = process.argv.slice(2);
const order = JSON.parse(orderText) as { id: string; token: string };
const client = createClient<paths>({ baseUrl: address, headers: { Authorization: `Bearer ${key}` } });
let calls = 0;

function data<T>(what: string, answer: { data?: T; error?: unknown; response: Response }): T {
    calls += 1;
    if (answer.data === undefined) {
        throw new Error(`${what}: ${answer.response.status} ${JSON.stringify(answer.error)}`);
    }
    return answer.data;
}

function check(holds: boolean, what: string): void {
    if (!holds) {
        throw new Error(what);
    }
}

function first<T>(list: readonly T[], what: string): T {
    const [found] = list;
    if (found === undefined) {
        throw new Error(`${what} is empty`);
    }
    return found;
}

const coverage = data("coverage", await client.GET("/api/v1/coverage"));
const layer = coverage.jurisdictions.find((jurisdiction) => jurisdiction.shortCode === "XA-PORT-ARDEN");
check(coverage.totalNodes > 0 && layer?.gisStatus === "published", "coverage has nodes and a zoning layer");

const search = await client.GET("/api/v1/search", {
    params: { query: { q: "security deposit", limit: 3, facets: true }, header: { "Idempotency-Key": "client.mts" } },
});
const found = first(data("search", search).results, "results");
const named: string = `${found.jurisdiction}, ${found.codeBody}: ${found.citation}`;
check(named.length > 0 && Number(search.response.headers.get("X-Credits-Cost")) === 1, "a search costs a credit");

const id = found.nodeId;
const answer = await client.GET("/api/v1/node/{id}", { params: { path: { id } } });
const node = data("node", answer);
// A node is also available as Markdown and as plain text.
if (typeof node === "string") {
    throw new Error("a node that was not asked for as text");
}
check(node.id === id && node.citation === found.citation && node.text.length > 0, "a node is that of its result");
const markdown = data("node as Markdown", await client.GET("/api/v1/node/{id}", {
    params: { path: { id }, query: { format: "md" } }, parseAs: "text",
}));
check(String(markdown).includes(node.citation), "the Markdown of a node names it");
const etag = answer.response.headers.get("ETag") ?? "";
const held = await client.GET("/api/v1/node/{id}", { params: { path: { id }, header: { "If-None-Match": etag } } });
check(held.response.status === 304, "a version that is held is not sent again");

const references = data("references", await client.GET("/api/v1/node/{id}/references", {
    params: { path: { id }, query: { direction: "in" } },
}));
check(references.total >= references.nodes.length, "references have a total");
const nodes = data("nodes", await client.GET("/api/v1/nodes", { params: { query: { ids: [id] } } }));
check(first(nodes.nodes, "nodes").id === id && nodes.missing.length === 0, "several nodes are those asked for");
const resolved = data("resolve", await client.GET("/api/v1/resolve", { params: { query: { citation: node.citation } } }));
check(first(resolved.answers, "answers").nodeId === id, "a citation resolves to its node");
const suggested = data("suggest", await client.GET("/api/v1/suggest", { params: { query: { q: "secur" } } }));
check(first(suggested.suggestions, "suggestions").text.length > 0, "suggestions have a text");

const bodies = data("code-bodies", await client.GET("/api/v1/code-bodies")).codeBodies;
const codeBodyId = first(bodies, "code bodies").id;
const children = data("browse", await client.GET("/api/v1/browse", { params: { query: { codeBodyId } } }));
check(first(children.nodes, "children").heading.length > 0, "children have headings");

if (layer !== undefined) {
    const shortCode = layer.shortCode;
    const zoning = data("gis", await client.GET("/api/v1/gis/{shortCode}", { params: { path: { shortCode } } }));
    const feature = first(zoning.geojson.features, "features");
    const featureId: string | number = feature.id;
    check(String(featureId).length > 0 && zoning.featureCount > 0, "features have ids");
    const [lat, lon] = [44.054, -124.217];
    const at = await client.GET("/api/v1/gis/{shortCode}/at", { params: { path: { shortCode }, query: { lat, lon } } });
    check(data("gis-at", at).zones.length > 0, "a point lies in a zone");
}

const account = data("me", await client.GET("/api/v1/me"));
check(account.creditsRemaining >= 0 && account.rateLimit.requestsPerMinute > 0, "an account has limits");
const naics = data("formation-lookup-naics", await client.GET("/api/v1/formation/naics", {
    params: { query: { q: "dog grooming", limit: 1 } },
}));
check(first(naics.industries, "industries").hierarchy.length === 5, "an industry has its hierarchy");
const status = data("formation-status", await client.GET("/api/v1/formation/status/{orderId}", {
    params: { path: { orderId: order.id }, query: { token: order.token } },
}));
check(status.orderId === order.id, "an order is the one asked for");
check(data("checkout", await client.GET("/api/v1/billing/checkout")).packs.length === 3, "there are three packs");

const refused = await client.GET("/api/v1/search", { params: { query: { q: " " } } });
check(refused.error?.error === "validation_error" && refused.error.message.length > 0, "an error is typed");
console.log(`${calls} operations called through openapi-typescript`);
