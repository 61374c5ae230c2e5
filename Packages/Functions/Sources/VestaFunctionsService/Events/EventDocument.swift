public import Foundation
import VestaBytes
import VestaDataCoding
import VestaEventsInterop
import VestaFunctionsValues

/// A document of an event.
public struct EventDocument: Sendable {
  /// The path below the database's root, such as `rooms/a`.
  public let path: String

  /// The time at which it was created.
  public var createTime: Date? { time("createTime") }

  /// The time of its last change.
  public var updateTime: Date? { time("updateTime") }

  // Made and read where it is asked for: most functions look at a field or two.
  private let event: EventData
  private let name: String

  private var json: JSONObject { event.object[name]?.object ?? JSONObject() }

  private var fields: JSONObject { json["fields"]?.object ?? JSONObject() }

  /// The id: the last segment of the path.
  public var documentID: String { path.parts(at: "/", omittingEmpty: true).last.map(String.init) ?? "" }

  /// A document of the data of an event.
  ///
  /// - Parameter name: The name under which the data has the document.
  init(path: String, of event: EventData, _ name: String) {
    self.path = path
    self.event = event
    self.name = name
  }

  private func time(_ name: String) -> Date? { json[name]?.string.flatMap { WireTime.date($0) } }

  /// The fields: `NSNull`, `Bool`, `Int`, `Double`, `String`, `Date`, `Data`, ``EventGeoPoint``, the path of a
  /// referenced document as `String`, `[Any]` and `[String: Any]`.
  public func data() -> [String: Any] { DocumentValues.decode(fields) }

  /// The value of a field; `nil` when there is none.
  ///
  /// - Parameter field: The name of the field; fields within maps are named by dots, such as `address.city`.
  public func get(_ field: String) -> Any? {
    var value: JSONValue = .object(["mapValue": .object(["fields": .object(fields)])])
    for name in field.split(separator: ".", omittingEmptySubsequences: false) {
      guard let next = value.object?["mapValue"]?.object?["fields"]?.object?[String(name)] else { return nil }
      value = next
    }
    return DocumentValues.decode(value)
  }

  /// The fields as a value of a type.
  ///
  /// - Throws: `DecodingError` when the document has another shape.
  public func data<Value: Decodable>(as type: Value.Type) throws -> Value {
    try SharedCoders().decoder.decode(type, from: data())
  }
}

/// A place on earth, in a document of an event.
public struct EventGeoPoint: Sendable, Hashable, Codable {
  /// Degrees north.
  public let latitude: Double

  /// Degrees east.
  public let longitude: Double
}

/// The values of documents in the wire's JSON: `{"integerValue": "1"}`; pure.
enum DocumentValues {
  static func decode(_ fields: JSONObject) -> [String: Any] {
    var values: [String: Any] = [:]
    values.reserveCapacity(fields.count)
    for member in fields.members { values[member.name] = decode(member.value) }
    return values
  }

  static func decode(_ value: JSONValue) -> Any {
    guard let member = value.object?.members.first else { return NSNull() }
    switch member.name {
    case "booleanValue": return member.value.bool ?? false
    case "integerValue": return member.value.string.flatMap { Int($0) } ?? Int(member.value.integer ?? 0)
    case "doubleValue": return member.value.double ?? member.value.string.flatMap { Double($0) } ?? Double.nan
    case "stringValue": return member.value.string ?? ""
    case "referenceValue": return reference(member.value.string ?? "")
    case "timestampValue": return member.value.string.flatMap { WireTime.date($0) } ?? Date(timeIntervalSince1970: 0)
    case "bytesValue": return Data((try? Base64.standard.decode(member.value.string ?? "")) ?? [])
    case "geoPointValue":
      let point = member.value.object
      return EventGeoPoint(latitude: point?["latitude"]?.double ?? 0, longitude: point?["longitude"]?.double ?? 0)
    case "arrayValue": return (member.value.object?["values"]?.array ?? []).map { decode($0) }
    case "mapValue": return decode(member.value.object?["fields"]?.object ?? JSONObject())
    default: return NSNull()
    }
  }

  /// The path below the root, of a full resource name.
  private static func reference(_ name: String) -> String {
    let parts = name.parts(at: "/", maxSplits: 5)
    return parts.count == 6 && parts[0] == "projects" ? String(parts[5]) : name
  }
}

/// Times of the wire: `2026-01-31T12:00:00.000001Z`; pure.
enum WireTime {
  static func date(_ text: String) -> Date? {
    RFC3339.microseconds(of: text).map { Date(timeIntervalSince1970: Double($0) / 1_000_000) }
  }
}
