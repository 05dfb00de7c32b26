"""Writes zones-at-points.jsonl: points of the sample's zoning layers and what shapely says lies there.

Run it with shapely installed, from this folder, after the sample's layers changed:
    python3 zones-at-points.py > zones-at-points.jsonl
"""

import json
import random

from shapely import Point
from shapely.geometry import shape

random.seed(20260514)
for code, folder in [("XA-PORT-ARDEN", "port-arden"), ("XA-MILLBROOK", "millbrook")]:
    with open(f"../../corpus/sample/{folder}/zoning.geojson", encoding="utf-8") as file:
        features = json.load(file)["features"]
    shapes = [shape(feature["geometry"]) for feature in features]
    west = min(each.bounds[0] for each in shapes)
    south = min(each.bounds[1] for each in shapes)
    east = max(each.bounds[2] for each in shapes)
    north = max(each.bounds[3] for each in shapes)
    points = [(random.uniform(west, east), random.uniform(south, north)) for _ in range(120)]
    for each in shapes:
        middle = each.representative_point()
        points.append((middle.x, middle.y))
        for part in getattr(each, "geoms", [each]):
            points.append(random.choice(part.exterior.coords))
            for hole in part.interiors:
                points.append(random.choice(hole.coords))
                middle = shape({"type": "Polygon", "coordinates": [hole.coords]}).representative_point()
                points.append((middle.x, middle.y))
    for lon, lat in points:
        point = Point(lon, lat)
        within = [f"feature-{number}" for number, each in enumerate(shapes) if each.contains(point)]
        edge = [f"feature-{number}" for number, each in enumerate(shapes) if each.touches(point)]
        print(json.dumps({"layer": code, "lon": lon, "lat": lat, "within": within, "edge": edge}))
