"""Requests everything in a small snapshot, and validates each response against its schema in the OpenAPI document.

Zoning layers are also read by geojson, geojson-pydantic and shapely.
Usage: answers.py ADDRESS KEY ORDER, the order as JSON with id and token. Prints what was checked. Exits with 1 and lists the first faults if there are any.
"""

import json
import sys
from urllib.parse import quote

import geojson
import requests
from geojson_pydantic import FeatureCollection
from jsonschema import Draft202012Validator
from shapely.geometry import shape
from shapely.validation import explain_validity

FAULTS_SHOWN = 20


class Walk:
    def __init__(self, address, key):
        self.address = address
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {key}"
        self.document = self.session.get(f"{address}/api/v1/openapi.json", timeout=20).json()
        self.validators = {}
        self.faults = []
        self.answers = 0

    def validator(self, path, status):
        if (path, status) not in self.validators:
            answer = self.document["paths"][path]["get"]["responses"][str(status)]
            schema = dict(answer["content"]["application/json"]["schema"])
            schema["components"] = self.document["components"]
            self.validators[path, status] = Draft202012Validator(schema)
        return self.validators[path, status]

    def get(self, path, expected=200, query="", **names):
        address = path
        for name, value in names.items():
            address = address.replace("{" + name + "}", quote(str(value), safe=""))
        response = self.session.get(f"{self.address}{address}{query}", timeout=20)
        self.answers += 1
        if response.status_code != expected:
            self.faults.append(f"{address}{query}: {response.status_code}, expected {expected}")
            return None
        body = response.json()
        for error in self.validator(path, expected).iter_errors(body):
            self.faults.append(f"{address}{query}: {error.json_path}: {error.message[:200]}")
        return body

    def node(self, link):
        node = self.get("/api/v1/node/{id}", id=link["id"])
        for name in ("citation", "heading"):
            if node[name] != link[name]:
                self.faults.append(f"{link['id']}: its {name} is {node[name]!r}, a link says {link[name]!r}")
        for direction in ("in", "out"):
            listed = node["references"][direction]
            page = self.get("/api/v1/node/{id}/references", query=f"?direction={direction}&limit=100", id=node["id"])
            if page["total"] != listed["total"] or page["nodes"][: len(listed["nodes"])] != listed["nodes"]:
                self.faults.append(f"{node['citation']}: references ({direction}) differ from those in its answer")
        return node

    def tree(self, body, parent=""):
        children = self.get("/api/v1/browse", query=f"?codeBodyId={body['id']}{parent}")["nodes"]
        count = len(children)
        for child in children:
            node = self.node(child)
            self.get("/api/v1/resolve", query=f"?citation={quote(node['citation'])}")
            below = self.tree(body, f"&parent={child['id']}") if node["childCount"] else 0
            count += below
        return count


def check_layer(walk, short_code):
    layer = walk.get("/api/v1/gis/{shortCode}", shortCode=short_code)
    collection = layer["geojson"]
    FeatureCollection.model_validate(collection)
    read = geojson.loads(geojson.dumps(collection))
    walk.faults.extend(f"{short_code}: {fault}" for fault in read.errors() or [])
    if len(collection["features"]) != layer["featureCount"]:
        walk.faults.append(f"{short_code}: featureCount is not the number of features")
    for feature in collection["features"]:
        if not (geometry := shape(feature["geometry"])).is_valid:
            walk.faults.append(f"{short_code}, {feature['id']}: {explain_validity(geometry)}")
        properties = feature["properties"]
        inside = geometry.representative_point()
        at = walk.get("/api/v1/gis/{shortCode}/at", query=f"?lat={inside.y}&lon={inside.x}", shortCode=short_code)
        if properties["zoneCode"] not in [zone["zoneCode"] for zone in at["zones"]]:
            walk.faults.append(f"{short_code}, {feature['id']}: a point inside it is not in its zone")
        if properties["nodeId"] is not None:
            node = walk.get("/api/v1/node/{id}", id=properties["nodeId"])
            if node["citation"] != properties["citation"]:
                walk.faults.append(f"{short_code}, {feature['id']}: its citation is not its node's")
        elif layer["citationQuality"] == "linked":
            walk.faults.append(f"{short_code}, {feature['id']}: a linked layer with a zone that cites nothing")
    return len(collection["features"])


def main():
    address, key, order = sys.argv[1:]
    walk = Walk(address, key)
    order = json.loads(order)
    nodes = sum(walk.tree(body) for body in walk.get("/api/v1/code-bodies")["codeBodies"])
    coverage = walk.get("/api/v1/coverage")
    if nodes != coverage["totalNodes"]:
        walk.faults.append(f"{nodes} nodes were reached by browsing, {coverage['totalNodes']} are covered")
    published = [j["shortCode"] for j in coverage["jurisdictions"] if j["gisStatus"] == "published"]
    features = sum(check_layer(walk, short_code) for short_code in published)
    if len(published) != coverage["publishedGisLayers"] or not published:
        walk.faults.append("the layers of coverage are not as many as it says")
    for mode in ("hybrid", "semantic", "keyword"):
        for words in ("security deposit", "who may inspect a record", "3 S.F.C. § 823"):
            walk.get("/api/v1/search", query=f"?q={quote(words)}&mode={mode}&facets=true&limit=100")
    walk.get("/api/v1/suggest", query="?q=secur")
    for words in ("dog grooming", "8129", "resturant", "qzxwv"):
        walk.get("/api/v1/formation/naics", query=f"?q={quote(words)}")
    walk.get("/api/v1/me")
    path = "/api/v1/formation/status/{orderId}"
    walk.get(path, query=f"?token={quote(order['token'])}", orderId=order["id"])
    walk.get(path, expected=404, query="?token=wrong", orderId=order["id"])
    walk.get("/api/v1/billing/checkout")
    walk.get("/api/v1/search", expected=422, query="?q=%20")
    walk.get("/api/v1/node/{id}", expected=404, id="6f1c8d1e-4f0b-5b7a-9c3d-2a57686f726e")
    print(f"{walk.answers} answers, {nodes} nodes, {len(published)} layers with {features} zones")
    for fault in walk.faults[:FAULTS_SHOWN]:
        print(fault, file=sys.stderr)
    if walk.faults:
        sys.exit(f"{len(walk.faults)} faults")


main()
