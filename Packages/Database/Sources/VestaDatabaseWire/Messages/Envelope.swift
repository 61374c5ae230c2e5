import VestaBytes
import VestaDatabaseBackend

/// The outer object of every message: `{"t":"c","d":{…}}` for control, `{"t":"d","d":{…}}` for data.
enum Envelope {
  enum Kind { case control, data }

  static func read(
    _ json: [UInt8], _ tuning: DatabaseWireTuning
  ) throws(DatabaseWireError) -> (kind: Kind, body: JSONObject) {
    let object: JSONObject
    do {
      object = try JSONObject(json: json, limits: tuning.limits)
    } catch {
      throw DatabaseWireError(error)
    }
    guard case .object(let body)? = object["d"] else {
      throw DatabaseWireError(BytesError(.malformed, "a message has no content"))
    }
    switch object["t"]?.string {
    case "c": return (.control, body)
    case "d": return (.data, body)
    default: throw DatabaseWireError(BytesError(.malformed, "a message is neither control nor data"))
    }
  }
}

extension ProtobufJSONWriter {
  mutating func member(_ name: StaticString, _ text: String) {
    self.name(name)
    write(string: text)
  }

  mutating func member(_ name: StaticString, _ node: DatabaseNode) {
    self.name(name)
    NodeWire.write(node, .export, to: &self)
  }

  /// Writes values by their relative paths.
  mutating func member(_ name: StaticString, _ values: [DatabasePathValue]) {
    self.name(name)
    open(UInt8(ascii: "{"))
    for value in values {
      self.name(key: value.path.text)
      NodeWire.write(value.node, .export, to: &self)
    }
    close(UInt8(ascii: "}"))
  }

  /// Writes the query and its tag, unless it is everything without a tag.
  mutating func query(_ spec: DatabaseQuerySpec, tag: Int?) throws(BytesError) {
    if !spec.isDefault || tag != nil {
      name("q")
      try write(.object(QueryWire.object(of: spec)))
    }
    if let tag {
      name("t")
      write(raw: "\(tag)")
    }
  }

  /// Writes the beginning of a request, up to the members of its body.
  mutating func openRequest(_ id: Int, _ action: String) {
    write(raw: #"{"t":"d","d":{"r":\#(id),"a":"\#(action)","b":"#)
    open(UInt8(ascii: "{"))
  }

  /// Writes the end of a request.
  mutating func closeRequest() {
    close(UInt8(ascii: "}"))
    write(raw: "}}")
  }
}

extension JSONObject {
  /// The path of a message; the root for none.
  func path(_ name: String = "p") throws(BytesError) -> DatabasePath {
    DatabasePath(try text(name) ?? "")
  }

  /// A string; `nil` without one.
  func text(_ name: String) throws(BytesError) -> String? {
    switch self[name] {
    case nil, .null?: return nil
    case .string(let text)?: return text
    default: throw BytesError(.malformed, "the member \(name) is no string")
    }
  }

  /// A string that has to be there.
  func required(_ name: String) throws(BytesError) -> String {
    guard let text = try text(name) else { throw BytesError(.malformed, "the member \(name) is missing") }
    return text
  }

  /// The tag of a query; `nil` without one.
  func tag() throws(BytesError) -> Int? {
    switch self["t"] {
    case nil, .null?: return nil
    case let value?:
      guard let number = value.integer, let tag = Int(exactly: number) else {
        throw BytesError(.malformed, "a tag is no number")
      }
      return tag
    }
  }

  /// The values of a merge by their relative paths; an array counts by its indexes.
  func values(_ name: String = "d") throws(BytesError) -> [DatabasePathValue] {
    switch self[name] {
    case nil, .null?: return []
    case .object(let object)?:
      var values: [DatabasePathValue] = []
      values.reserveCapacity(object.count)
      for member in object.members {
        values.append(DatabasePathValue(DatabasePath(member.name), try NodeWire.node(member.value)))
      }
      return values
    case .array(let elements)?:
      var values: [DatabasePathValue] = []
      for (index, element) in elements.enumerated() {
        values.append(DatabasePathValue(DatabasePath("\(index)"), try NodeWire.node(element)))
      }
      return values
    default: throw BytesError(.malformed, "the values of a merge are no object")
    }
  }
}

extension JSONValue {
  /// The strings of an array; `nil` for anything else.
  var strings: [String]? {
    guard let array else { return nil }
    let strings = array.compactMap(\.string)
    return strings.count == array.count ? strings : nil
  }
}
