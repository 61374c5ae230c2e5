public import VestaBytes

/// The policy document of a form: until when, and with which fields, it uploads an object.
///
/// ```json
/// {"expiration": "2026-01-01T00:00:00Z",
///  "conditions": [{"bucket": "b"}, ["starts-with", "$key", "user/"], ["content-length-range", 1, 1000]]}
/// ```
public struct PolicyDocument: Sendable, Hashable {
  private enum Condition: Sendable, Hashable {
    case equals(String, String)
    case begins(String, String)
  }

  /// The first second at which it is no longer valid, since 1970.
  public let end: Int64

  /// How many bytes the file may have; `nil` for any number.
  public let length: ClosedRange<Int64>?

  private let conditions: [Condition]

  /// Fields that need no condition: they are the policy and its signature.
  private static let free: Set = ["file", "policy", "x-goog-signature", "signature", "googleaccessid"]

  /// Reads a document, as base64 of JSON.
  ///
  /// - Throws: `BytesError` with `.malformed` for a document that none can be.
  public init(_ text: String) throws(BytesError) {
    let json = try JSONObject(json: try Base64.standard.decode(text))
    guard let time = json["expiration"]?.string.flatMap({ RFC3339.parse($0) }) else {
      throw BytesError(.malformed, "the policy has no expiration")
    }
    guard let list = json["conditions"]?.array else { throw BytesError(.malformed, "the policy has no conditions") }
    end = time.seconds
    var conditions: [Condition] = []
    var length: ClosedRange<Int64>?
    for entry in list {
      if let object = entry.object {
        for member in object.members {
          conditions.append(.equals(member.name.lowercased(), try Self.text(member.value)))
        }
        continue
      }
      guard let parts = entry.array, parts.count == 3, let kind = parts[0].string?.lowercased() else {
        throw BytesError(.malformed, "a condition is neither an object nor a list of three")
      }
      guard kind != "content-length-range" else {
        guard let low = Self.number(parts[1]), let high = Self.number(parts[2]), low <= high else {
          throw BytesError(.malformed, "content-length-range has no bounds")
        }
        length = low...high
        continue
      }
      guard let name = parts[1].string, name.hasPrefix("$"), kind == "eq" || kind == "starts-with" else {
        throw BytesError(.malformed, "a condition is none of eq, starts-with and content-length-range")
      }
      let (field, value) = (name.dropFirst().lowercased(), try Self.text(parts[2]))
      conditions.append(kind == "eq" ? .equals(field, value) : .begins(field, value))
    }
    (self.conditions, self.length) = (conditions, length)
  }

  /// The first thing about a form that the document does not allow; `nil` where it allows the form.
  ///
  /// - Parameters:
  ///   - fields: The fields with their names in lower case, and the bucket.
  ///   - key: The name of the object, where it has the name of the file in place of `${filename}`.
  public func objection(to fields: [String: String], key: String) -> String? {
    for condition in conditions {
      switch condition {
      case .equals(let name, let value):
        let isKept = fields[name] == value || (name == "key" && key == value)
        guard isKept else { return "The field \(name) is not the one of the policy." }
      case .begins(let name, let start):
        let isKept = (name == "key" ? key : fields[name] ?? "").hasPrefix(start)
        guard isKept else { return "The field \(name) does not begin as the policy wants." }
      }
    }
    let named = Set(
      conditions.map { condition in
        switch condition {
        case .equals(let name, _), .begins(let name, _): name
        }
      })
    let other = fields.keys.sorted().first {
      !named.contains($0) && !Self.free.contains($0) && !$0.hasPrefix("x-ignore-") && $0 != "bucket"
    }
    return other.map { "The policy has no condition for the field \($0)." }
  }

  private static func text(_ value: JSONValue) throws(BytesError) -> String {
    if let text = value.string { return text }
    if let number = number(value) { return "\(number)" }
    throw BytesError(.malformed, "the value of a condition is no string")
  }

  private static func number(_ value: JSONValue) -> Int64? {
    switch value {
    case .integer(let number) where number >= 0: number
    case .string(let text): Int64(text).flatMap { $0 >= 0 ? $0 : nil }
    default: nil
    }
  }
}
