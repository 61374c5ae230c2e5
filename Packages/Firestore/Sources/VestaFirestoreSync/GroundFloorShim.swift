import Foundation

// Until VestaBytes has landed: the least of its JSON reader and of base64, with its names.

/// A JSON value.
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  package init(json: [UInt8]) throws {
    self = try JSONValue.make(JSONSerialization.jsonObject(with: Data(json), options: .fragmentsAllowed))
  }

  private static func make(_ any: Any) throws -> JSONValue {
    switch any {
    case is NSNull: return .null
    case let text as String: return .string(text)
    case let list as [Any]: return .array(try list.map(make))
    case let map as [String: Any]: return .object(JSONObject(members: try map.mapValues(make)))
    case let number as NSNumber:
      switch String(cString: number.objCType) {
      case "c", "B": return .bool(number.boolValue)
      case "d", "f": return .number(number.doubleValue)
      default: return .integer(number.int64Value)
      }
    default: return .null
    }
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  package var array: [JSONValue]? { if case .array(let list) = self { list } else { nil } }
  package var object: JSONObject? { if case .object(let object) = self { object } else { nil } }
  package var isNull: Bool { self == .null }
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  package var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }
}

/// The members of a JSON object.
package struct JSONObject: Sendable, Hashable {
  package struct Member: Sendable, Hashable {
    package let name: String
    package let value: JSONValue
  }

  package let members: [Member]

  init(members: [String: JSONValue]) {
    self.members = members.map { Member(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
  }

  package subscript(name: String) -> JSONValue? { members.first { $0.name == name }?.value }
}

package enum Base64 {
  package static func decode(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }
}
