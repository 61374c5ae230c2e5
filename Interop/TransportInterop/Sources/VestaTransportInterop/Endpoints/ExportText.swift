public import VestaBytes

/// JSON in the files of an export: indented by two spaces, as the Firebase CLI writes it.
public enum ExportText {
  /// The bytes of an object, without a line end after it.
  public static func json(_ object: JSONObject) -> [UInt8] {
    var bytes: [UInt8] = []
    append(.object(object), indent: 0, to: &bytes)
    return bytes
  }

  private static func append(_ value: JSONValue, indent: Int, to bytes: inout [UInt8]) {
    switch value {
    case .object(let object) where !object.members.isEmpty:
      list(object.members, "{", "}", indent, &bytes) { member, bytes in
        bytes += ((try? JSONValue.string(member.name).json()) ?? []) + Array(": ".utf8)
        append(member.value, indent: indent + 1, to: &bytes)
      }
    case .array(let elements) where !elements.isEmpty:
      list(elements, "[", "]", indent, &bytes) { append($0, indent: indent + 1, to: &$1) }
    default: bytes += (try? value.json()) ?? []
    }
  }

  private static func list<Element>(
    _ elements: [Element], _ open: String, _ close: String, _ indent: Int, _ bytes: inout [UInt8],
    _ body: (Element, inout [UInt8]) -> Void
  ) {
    bytes += Array(open.utf8)
    for (index, element) in elements.enumerated() {
      bytes += Array((index == 0 ? "\n" : ",\n").utf8) + Array(String(repeating: "  ", count: indent + 1).utf8)
      body(element, &bytes)
    }
    bytes += Array("\n\(String(repeating: "  ", count: indent))\(close)".utf8)
  }
}
