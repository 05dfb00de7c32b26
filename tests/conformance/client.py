"""Calls every operation through the client that openapi-python-client made of the OpenAPI document.

Every answer must be read into the model of its schema. Usage: client.py ADDRESS KEY ORDER, the order as JSON with id and token.
"""

import json
import sys
from uuid import UUID

from hornbook_client import AuthenticatedClient, models
from hornbook_client.api.browse import browse, code_bodies
from hornbook_client.api.formation import formation_lookup_naics, formation_status
from hornbook_client.api.gis import gis, gis_at
from hornbook_client.api.node import node, nodes, references, resolve
from hornbook_client.api.open_ import checkout
from hornbook_client.api.search import coverage, me, search, suggest

CALLS = 0


def call(operation, expected, status=200, **arguments):
    global CALLS
    CALLS += 1
    answer = operation.sync_detailed(client=CLIENT, **arguments)
    name = operation.__name__.rsplit(".", 1)[-1]
    if answer.status_code != status or not isinstance(answer.parsed, expected):
        sys.exit(f"{name}: {answer.status_code}, {type(answer.parsed).__name__}: {answer.content[:300]!r}")
    return answer.parsed


def check(holds, what):
    if not holds:
        sys.exit(what)


address, key, order = sys.argv[1:]
order = json.loads(order)
CLIENT = AuthenticatedClient(base_url=address, token=key, timeout=20)

held = call(coverage, models.Coverage)
layer = next(jurisdiction for jurisdiction in held.jurisdictions if jurisdiction.short_code == "XA-PORT-ARDEN")
found = call(search, models.SearchResponse, q="security deposit", limit=3, facets=True).results[0]
check(found.jurisdiction and found.code_body, "a result without its jurisdiction or code body")
provision = call(node, models.Node, id=found.node_id)
check((provision.id, provision.citation) == (found.node_id, found.citation), "a node is not that of its result")
markdown = CLIENT.get_httpx_client().get(f"/api/v1/node/{found.node_id}", params={"format": "md"}).text
check(found.citation in markdown, "the Markdown of a node does not name it")
call(references, models.References, id=found.node_id, direction=models.ReferencesDirection.IN)
check(call(nodes, models.Nodes, ids=[found.node_id]).nodes[0].id == found.node_id, "nodes are not those asked for")
answers = call(resolve, models.Resolution, citation=found.citation).answers
check(answers[0].node_id == found.node_id, "a citation does not resolve to its node")
call(suggest, models.Suggestions, q="secur")
bodies = call(code_bodies, models.CodeBodyList).code_bodies
call(browse, models.Children, code_body_id=bodies[0].id)
zoning = call(gis, models.ZoningLayer, short_code=layer.short_code)
check(zoning.geojson.features[0].id, "a feature without an id")
check(call(gis_at, models.ZonesAtPoint, short_code=layer.short_code, lat=44.054, lon=-124.217).zones, "no zone there")
check(call(me, models.Account).rate_limit.requests_per_minute > 0, "an account without limits")
industries = call(formation_lookup_naics, models.NaicsIndustries, q="dog grooming", limit=1).industries
check(industries[0].code == "812910" and len(industries[0].hierarchy) == 5, "another industry than the one described")
status = call(formation_status, models.FormationStatus, order_id=UUID(order["id"]), token=order["token"])
check(str(status.order_id) == order["id"], "another order than the one asked for")
check(len(call(checkout, models.Checkout).packs) == 3, "not three packs")
refused = call(search, models.Error, status=422, q=" ")
check(refused.error == "validation_error", "an error of another kind")
print(f"{CALLS} operations called through openapi-python-client")
