# Calls the service through the client that openapi-generator made of the OpenAPI document. What it takes from an answer must
# be there under its type. Usage: client.rb FOLDER ADDRESS KEY ORDER: the folder of the client, the order as JSON with id and token.
require "json"
require "uri"

folder, address, key, order = ARGV
$LOAD_PATH.unshift(File.join(folder, "lib"))
require "hornbook_client"

order = JSON.parse(order)
server = URI(address)
HornbookClient.configure do |config|
  config.scheme = server.scheme
  config.host = "#{server.host}:#{server.port}"
  config.server_index = nil
  config.access_token = key
end

CALLS = Hash.new(0)

# Calls an operation, and checks the model of its answer.
def ask(api, operation, model, *arguments)
  CALLS[operation] += 1
  answer = api.public_send(operation, *arguments)
  abort "#{operation}: #{answer.class}" unless answer.is_a?(model)
  answer
end

def check(holds, what)
  abort what unless holds
end

search, node, browse = HornbookClient::SearchApi.new, HornbookClient::NodeApi.new, HornbookClient::BrowseApi.new
gis, formation = HornbookClient::GisApi.new, HornbookClient::FormationApi.new

held = ask(search, :coverage, HornbookClient::Coverage)
layer = held.jurisdictions.find { |jurisdiction| jurisdiction.short_code == "XA-PORT-ARDEN" }
check(layer && layer.gis_status == "published", "a zoning layer is not published")
found = ask(search, :search, HornbookClient::SearchResponse, "security deposit", { limit: 3, facets: true }).results.first
check(found.jurisdiction && found.code_body && found.snippet, "a result without its place")
provision = ask(node, :node, HornbookClient::Node, found.node_id)
check(provision.citation == found.citation && !provision.text.empty?, "a node is not that of its result")
markdown = ask(node, :node, String, found.node_id, { format: "md", debug_return_type: "String" }).force_encoding("UTF-8")
check(markdown.include?(provision.citation) && markdown.include?("# "), "Markdown is not that of the node")
ask(node, :references, HornbookClient::References, found.node_id, { direction: "in" })
check(ask(node, :nodes, HornbookClient::Nodes, [found.node_id]).nodes.first.id == found.node_id, "nodes are others")
answers = ask(node, :resolve, HornbookClient::Resolution, found.citation).answers
check(answers.first.node_id == found.node_id, "a citation does not resolve to its node")
check(!ask(search, :suggest, HornbookClient::Suggestions, "secur").suggestions.empty?, "nothing is suggested")
bodies = ask(browse, :code_bodies, HornbookClient::CodeBodyList).code_bodies
check(!ask(browse, :browse, HornbookClient::Children, bodies.first.id).nodes.empty?, "a code body is empty")

# GeoJSON, as models and as it is sent.
zoning = ask(gis, :gis, HornbookClient::ZoningLayer, layer.short_code)
feature = zoning.geojson.features.first
check(zoning.geojson.type == "FeatureCollection" && feature.id && feature.properties.zone_code, "a feature without its zone")
check(%w[Polygon MultiPolygon].include?(feature.geometry["type"] || feature.geometry[:type]), "a feature without a shape")
zones = ask(gis, :gis_at, HornbookClient::ZonesAtPoint, layer.short_code, 44.054, -124.217).zones
check(zones.first.zone_code && zones.first.feature_id, "no zone there")
check(ask(gis, :gis_zones, HornbookClient::ZoneList, layer.short_code).zones.size > 1, "a layer without zones")

check(ask(search, :me, HornbookClient::Account).rate_limit.requests_per_minute.positive?, "an account without limits")
industry = ask(formation, :formation_lookup_naics, HornbookClient::NaicsIndustries, "dog grooming", { limit: 1 }).industries.first
check(industry.code == "812910" && industry.hierarchy.size == 5, "another industry than the one described")
status = ask(formation, :formation_status, HornbookClient::FormationStatus, order["id"], order["token"])
check(status.order_id == order["id"], "another order than the one asked for")
check(ask(HornbookClient::OpenApi.new, :checkout, HornbookClient::Checkout).packs.size == 3, "not three packs")

begin
  search.search("deposit", { jurisdiction: ["ZZ"] })
  abort "a place that does not exist was searched"
rescue HornbookClient::ApiError => error
  refused = JSON.parse(error.response_body)
  check(error.code == 422 && refused["error"] == "validation_error", "an error of another kind")
end
puts "#{CALLS.size} operations called through openapi-generator's Ruby client"
