// An agent asks to be let in, as assistants do: it registers, a person sees who asks and allows it with a budget, the
// browser returns to the agent, and the agent's token works until the person disconnects it.
import { strict as assert } from "node:assert";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";

/** The agent's own page, to which browsers return. */
export class Agent {
  static async listening() {
    const agent = new Agent();
    agent.returned = new Promise((resolve) => (agent.resolve = resolve));
    agent.server = createServer((request, response) => {
      const url = new URL(request.url, agent.origin);
      // What the browser tells the agent about where it comes from.
      if (url.pathname === "/callback") agent.resolve({ url, referrer: request.headers.referer });
      response.setHeader("Content-Type", "text/html");
      response.end('<!doctype html><html lang="en"><title>Agent</title><link rel="icon" href="data:,"><main>Back at the agent</main>');
    });
    await new Promise((resolve) => agent.server.listen(0, "127.0.0.1", resolve));
    agent.origin = `http://127.0.0.1:${agent.server.address().port}`;
    return agent;
  }

  stop() {
    this.server.close();
    this.server.closeAllConnections();
  }
}

async function call(base, path, token, message) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  return fetch(base + path, message ? { method: "POST", headers, body: JSON.stringify(message) } : { headers });
}

/** `person` may open pages of the agent too. `shoot` and `seen` look at the page that is open. */
export async function letAgentIn(person, base, agent, shoot, seen) {
  const search = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "law.search", arguments: { q: "deposit" } } };
  // Everything follows from the refusal of a call without a key.
  const refused = await fetch(base + "/api/mcp", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(search) });
  assert.equal(refused.status, 401);
  const [, resourceUrl] = refused.headers.get("www-authenticate").match(/resource_metadata="([^"]+)"/);
  const resource = await (await fetch(resourceUrl)).json();
  const metadata = await (await fetch(resource.authorization_servers[0] + "/.well-known/oauth-authorization-server")).json();
  const redirect = agent.origin + "/callback";
  const registered = await fetch(metadata.registration_endpoint, {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ client_name: "Law <b>Agent</b>", redirect_uris: [redirect] }),
  });
  const { client_id } = await registered.json();
  const verifier = randomBytes(48).toString("base64url");
  const asked = new URLSearchParams({
    response_type: "code", client_id, redirect_uri: redirect, state: "a state", resource: resource.resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"), code_challenge_method: "S256",
  });
  await person.goto(`${metadata.authorization_endpoint}?${asked}`);
  await seen(person, "calls itself Law <b>Agent</b>");
  await seen(person, "a program on this device");
  await shoot(person, "agent-question");
  await person.fill("[name=daily_budget]", "2");
  await person.uncheck("input[value=formation]");
  await person.click("button[value=allow]");
  const { url, referrer } = await agent.returned;
  assert.deepEqual([url.searchParams.get("state"), url.searchParams.get("iss"), referrer], ["a state", metadata.issuer, undefined]);
  await person.waitForURL(redirect + "**");

  const exchanged = await fetch(metadata.token_endpoint, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code", code: url.searchParams.get("code"), client_id, redirect_uri: redirect, code_verifier: verifier,
    }),
  });
  const { access_token: token, scope } = await exchanged.json();
  assert.equal(exchanged.status, 200);
  assert.ok(!scope.includes("formation"), scope);
  assert.equal((await call(base, "/api/mcp", token, search)).status, 200);
  assert.equal((await call(base, "/api/v1/me", token)).status, 401, "it works for agents alone");
  await call(base, "/api/mcp", token, search);
  const beyond = await (await call(base, "/api/mcp", token, search)).text();
  assert.ok(beyond.includes("budget_exceeded"), beyond);

  await person.goto(base + "/settings");
  await seen(person, "Connected agents");
  await seen(person, "100 % of 2 credits today are spent");
  await shoot(person, "agents");
  await person.click("button:has-text('Disconnect')");
  assert.equal((await call(base, "/api/mcp", token, search)).status, 401, "it is disconnected");
}
