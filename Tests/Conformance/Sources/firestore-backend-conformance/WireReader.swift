import Foundation
import VestaFirestoreBackend

/// Reads the JSON form of the wire's messages.
enum WireReader {
  /// A document; times are left out, because they are not compared.
  static func document(_ json: JSON) throws -> Document {
    Document(name: try json["name"].optionalString(), fields: try map(json["fields"]))
  }

  /// Fields.
  static func map(_ json: JSON) throws -> MapValue {
    MapValue(try json.object().map { ($0.key, try value($0.value)) })
  }

  /// A value.
  static func value(_ json: JSON) throws -> Value {
    guard let (kind, content) = try json.object().first else { throw JSON.Mismatch(description: "an empty value") }
    switch kind {
    case "nullValue": return .null
    case "booleanValue": return .boolean(try content.bool())
    case "integerValue": return .integer(try content.integer())
    case "doubleValue": return .double(try content.double())
    case "timestampValue": return .timestamp(try timestamp(content.string()))
    case "stringValue": return .string(try content.string())
    case "bytesValue": return .bytes(try bytes(content.string()))
    case "referenceValue": return .reference(try content.string())
    case "geoPointValue":
      let (latitude, longitude) = (try content["latitude"].double(), try content["longitude"].double())
      return .geoPoint(GeoPoint(latitude: latitude, longitude: longitude))
    case "arrayValue": return .array(try content["values"].array().map(value))
    case "mapValue": return .map(try map(content["fields"]))
    default: throw JSON.Mismatch(description: "unknown kind of value \(kind)")
    }
  }

  /// A query with its parent.
  static func query(_ json: JSON) throws -> RunQueryRequest {
    let query = json["structuredQuery"]
    return RunQueryRequest(
      parent: try json["parent"].string(),
      query: StructuredQuery(
        select: query["select"].isPresent ? try query["select"]["fields"].array().map(fieldPath) : nil,
        from: try query["from"].array().map {
          .init(collectionID: try $0["collectionId"].optionalString(), allDescendants: try $0["allDescendants"].bool())
        },
        filter: query["where"].isPresent ? try filter(query["where"]) : nil,
        orderBy: try query["orderBy"].array().map {
          let isDescending = try $0["direction"].optionalString() == "DESCENDING"
          return .init(fieldPath: try fieldPath($0["field"]), isDescending ? .descending : .ascending)
        },
        startAt: try cursor(query["startAt"]),
        endAt: try cursor(query["endAt"]),
        offset: Int32(clamping: try query["offset"].integer()),
        limit: query["limit"].isPresent ? Int32(clamping: try limit(query["limit"])) : nil
      )
    )
  }

  /// A limit: a number, or a wrapper with one.
  private static func limit(_ json: JSON) throws -> Int64 {
    json["value"].isPresent ? try json["value"].integer() : try json.integer()
  }

  private static func fieldPath(_ json: JSON) throws -> String { try json["fieldPath"].optionalString() }

  private static func cursor(_ json: JSON) throws -> StructuredQuery.Cursor? {
    guard json.isPresent else { return nil }
    return .init(values: try json["values"].array().map(value), before: try json["before"].bool())
  }

  private static func filter(_ json: JSON) throws -> Filter {
    let composite = json["compositeFilter"]
    if composite.isPresent {
      let isOr = try composite["op"].optionalString() == "OR"
      return .composite(isOr ? .or : .and, try composite["filters"].array().map(filter))
    }
    let field = json["fieldFilter"]
    if field.isPresent {
      guard let operation = Filter.FieldOperator(rawValue: try field["op"].string()) else {
        throw JSON.Mismatch(description: "unknown operator \(try field["op"].string())")
      }
      return .field(path: try fieldPath(field["field"]), operation, try value(field["value"]))
    }
    let unary = json["unaryFilter"]
    guard let operation = Filter.UnaryOperator(rawValue: try unary["op"].string()) else {
      throw JSON.Mismatch(description: "unknown operator \(try unary["op"].string())")
    }
    return .unary(path: try fieldPath(unary["field"]), operation)
  }

  private static func bytes(_ text: String) throws -> [UInt8] {
    guard let data = Data(base64Encoded: text) else { throw JSON.Mismatch(description: "expected base64") }
    return Array(data)
  }

  /// A timestamp such as `2020-07-01T02:30:24.996708Z`.
  private static func timestamp(_ text: String) throws -> Timestamp {
    let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
    guard text.hasSuffix("Z"), let first = parts.first, let date = try? Date("\(first)Z", strategy: .iso8601) else {
      throw JSON.Mismatch(description: "expected a moment, not \(text)")
    }
    let fraction = parts.count > 1 ? String(parts[1].prefix(9)) : ""
    let nanos = Int32(fraction + String(repeating: "0", count: 9 - fraction.count)) ?? 0
    return Timestamp(seconds: Int64(date.timeIntervalSince1970.rounded()), nanos: nanos)
  }
}
