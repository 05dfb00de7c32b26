// Lists, searches, fetches, is refused and runs out of credits, through a TypeScript SDK of the Model Context Protocol.
// Usage: client.mjs client|sdk URL KEY: the package of the current version, or that of the versions before 2026.
// The account of the key has a few credits, which are used up.

const [which, url, key] = process.argv.slice(2);
const current = which === "client";
const { Client, ...rest } = await import(current ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = current
    ? rest
    : await import("@modelcontextprotocol/sdk/client/streamableHttp.js");

const tools = ["search", "fetch", "law.search", "law.get_node", "law.list_coverage", "account.status", "formation.requirements"];
// More calls than the account has credits.
const callsMax = 50;

function check(holds, what) {
    if (!holds) {
        console.error(what);
        process.exit(1);
    }
}

async function connected(key) {
    const client = new Client({ name: "conformance", version: "1" });
    const headers = { Authorization: `Bearer ${key}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    return client;
}

const client = await connected(key);
const names = (await client.listTools()).tools.map((tool) => tool.name);
check(tools.every((name) => names.includes(name)), `tools are missing: ${names}`);
const found = await client.callTool({ name: "search", arguments: { query: "security deposit" } });
// What research connectors read: JSON in the text.
const read = (result) => JSON.parse(result.content[0].text);
check(!found.isError && read(found).results.length > 0, "nothing found");
const id = read(found).results[0].id;
const fetched = await client.callTool({ name: "fetch", arguments: { id } });
check(!fetched.isError && read(fetched).id === id, "another provision than the one asked for");
check(read(fetched).text && read(fetched).url, "a provision without text or url");
let answer = { isError: false };
for (let calls = 0; calls < callsMax && !answer.isError; calls += 1) {
    answer = await client.callTool({ name: "law.search", arguments: { q: "security deposit", limit: 1 } });
}
check(answer.isError, "credits do not run out");
const error = answer.structuredContent;
check(error.error === "insufficient_credits" && error.upgradeUrl, `another error: ${JSON.stringify(error)}`);
await client.close();

let refusal;
try {
    const wrong = await connected(`${key}x`);
    await wrong.callTool({ name: "search", arguments: { query: "security deposit" } });
} catch (thrown) {
    refusal = thrown;
}
check(refusal, "a wrong key is let in");
check(`${refusal.message} ${refusal.code} ${refusal.data?.status}`.includes("401") || `${refusal}`.includes("API key is not valid"),
    `refused for another reason: ${refusal}`);
