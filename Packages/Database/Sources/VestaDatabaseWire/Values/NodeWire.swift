public import VestaBytes
public import VestaDatabaseBackend

/// Nodes as JSON, and back.
///
/// The export form is that of the WebSocket protocol and of `format=export`: a node with a priority has the member
/// `.priority`, a leaf with one is an object with `.value`. Server values are objects with `.sv`.
public enum NodeWire {
  /// The parts of a node that are written.
  public enum Form: Sendable, Hashable {
    /// Everything, with priorities; never an array.
    case export
    /// Values without priorities; children whose keys are small integers become an array when more than half of it is
    /// filled.
    case plain
    /// The keys of the children, each with the value true; a leaf as it is.
    case shallow
  }

  /// The JSON of a node.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - form: The parts that are written.
  ///   - isPretty: Whether lines are broken and indented.
  public static func bytes(of node: DatabaseNode, form: Form = .export, isPretty: Bool = false) -> [UInt8] {
    var writer = ProtobufJSONWriter()
    if isPretty { writePretty(node, form, indent: 0, to: &writer) } else { write(node, form, to: &writer) }
    return writer.bytes
  }

  /// Reads a node.
  ///
  /// Keys are not checked here: the engine refuses keys that data cannot have.
  ///
  /// - Throws: `BytesError` with `.malformed` for members with a dot that say nothing together.
  public static func node(_ json: JSONValue) throws(BytesError) -> DatabaseNode {
    switch json {
    case .null: return .empty
    case .array(let elements):
      var children: [(DatabaseKey, DatabaseNode)] = []
      children.reserveCapacity(elements.count)
      for (index, element) in elements.enumerated() {
        children.append((DatabaseKey("\(index)"), try node(element)))
      }
      return DatabaseNode(children: children)
    case .object(let object): return try node(object)
    default: return leaf(json).map { DatabaseNode($0) } ?? .empty
    }
  }

  /// Reads a node from bytes.
  public static func node(
    json: [UInt8], tuning: DatabaseWireTuning = DatabaseWireTuning()
  ) throws(BytesError) -> DatabaseNode {
    try node(JSONValue(json: json, limits: tuning.limits))
  }

  // MARK: Reading

  /// Refuses other members next to one, except for the priority.
  private static func checkAlone(_ name: String, in object: JSONObject) throws(BytesError) {
    guard object.count == (object[".priority"] == nil ? 1 : 2) else {
      throw BytesError(.malformed, "a node has other members next to \(name)")
    }
  }

  private static func node(_ object: JSONObject) throws(BytesError) -> DatabaseNode {
    let priority = try object[".priority"].flatMap { json throws(BytesError) in try self.priority(json) }
    if let content = object[".value"], !content.isNull {
      try checkAlone(".value", in: object)
      let node = try node(content)
      return priority == nil ? node : node.withPriority(priority)
    }
    if let content = object[".sv"] {
      try checkAlone(".sv", in: object)
      return DatabaseNode(try serverValue(content), priority: priority)
    }
    var children: [(DatabaseKey, DatabaseNode)] = []
    children.reserveCapacity(object.count)
    for member in object.members where member.name != ".priority" && member.name != ".value" {
      children.append((DatabaseKey(member.name), try node(member.value)))
    }
    return DatabaseNode(children: children, priority: priority)
  }

  private static func priority(_ json: JSONValue) throws(BytesError) -> DatabaseLeaf? {
    switch json {
    case .null: return nil
    case .object(let object):
      guard object.count == 1, let content = object[".sv"] else {
        throw BytesError(.malformed, "a priority is an object")
      }
      return try serverValue(content)
    case .array: throw BytesError(.malformed, "a priority is an array")
    default: return leaf(json)
    }
  }

  private static func serverValue(_ json: JSONValue) throws(BytesError) -> DatabaseLeaf {
    switch json {
    case .string("timestamp"): return .timestamp
    case .object(let object) where object.count == 1:
      switch object["increment"] {
      case .integer(let delta): return .incrementInt(delta)
      case .number(let delta): return .incrementDouble(delta)
      default: break
      }
    default: break
    }
    throw BytesError(.malformed, "a server value is neither a timestamp nor an increment")
  }

  static func leaf(_ json: JSONValue) -> DatabaseLeaf? {
    switch json {
    case .bool(let flag): .bool(flag)
    case .integer(let number): .int(number)
    case .number(let number): .double(number)
    case .string(let text): .string(text)
    case .null, .array, .object: nil
    }
  }

  // MARK: Writing

  static func write(_ node: DatabaseNode, _ form: Form, to writer: inout ProtobufJSONWriter) {
    if let leaf = node.leaf {
      guard form == .export, let priority = node.priority else { return write(leaf, to: &writer) }
      writer.open(UInt8(ascii: "{"))
      writer.name(".value")
      write(leaf, to: &writer)
      writer.name(".priority")
      write(priority, to: &writer)
      return writer.close(UInt8(ascii: "}"))
    }
    if node.isEmpty { return writer.write(raw: "null") }
    if form == .plain, let elements = array(of: node) {
      writer.open(UInt8(ascii: "["))
      for element in elements {
        writer.element()
        write(element, form, to: &writer)
      }
      return writer.close(UInt8(ascii: "]"))
    }
    writer.open(UInt8(ascii: "{"))
    node.forEachChild { key, child in
      writer.name(key: key.text)
      if form == .shallow { writer.write(raw: "true") } else { write(child, form, to: &writer) }
    }
    if form == .export, let priority = node.priority {
      writer.name(".priority")
      write(priority, to: &writer)
    }
    writer.close(UInt8(ascii: "}"))
  }

  static func write(_ leaf: DatabaseLeaf, to writer: inout ProtobufJSONWriter) {
    switch leaf {
    case .bool(let flag): writer.write(raw: flag ? "true" : "false")
    case .int(let number): writer.write(raw: "\(number)")
    case .double(let number): writer.write(raw: text(of: number))
    case .string(let text): writer.write(string: text)
    case .timestamp: writer.write(raw: #"{".sv":"timestamp"}"#)
    case .incrementInt(let delta): writer.write(raw: #"{".sv":{"increment":\#(delta)}}"#)
    // With a point, so that a reader knows it from a whole number.
    case .incrementDouble(let delta): writer.write(raw: #"{".sv":{"increment":\#(delta.isFinite ? delta : 0)}}"#)
    }
  }

  /// A number as the service writes it: without a fraction where it is whole.
  ///
  /// No tree has one that is not finite.
  private static func text(of number: Double) -> String {
    guard number.isFinite else { return "null" }
    guard abs(number) < 0x1p53, let whole = Int64(exactly: number), whole != 0 || number.sign == .plus else {
      return "\(number)"
    }
    return "\(whole)"
  }

  /// The elements, with empty nodes in the gaps; `nil` for a node that is written as an object.
  private static func array(of node: DatabaseNode) -> [DatabaseNode]? {
    var largest = -1
    node.visitChildren { key, _ in
      guard let index = key.integer, index >= 0, key.text == "\(index)" else {
        largest = -1
        return false
      }
      largest = Int(index)
      return true
    }
    guard largest >= 0, largest < 2 * node.childCount else { return nil }
    var elements = [DatabaseNode](repeating: .empty, count: largest + 1)
    node.forEachChild { key, child in elements[Int(key.integer ?? 0)] = child }
    return elements
  }

  /// Writes lines as `print=pretty` has them: two spaces for each level, and spaces on both sides of a colon.
  private static func writePretty(
    _ node: DatabaseNode, _ form: Form, indent: Int, to writer: inout ProtobufJSONWriter
  ) {
    if form == .plain, let elements = array(of: node) {
      for (index, element) in elements.enumerated() {
        writer.write(raw: index == 0 ? "[ " : ", ")
        writePretty(element, form, indent: indent, to: &writer)
      }
      return writer.write(raw: " ]")
    }
    guard node.childCount > 0 else { return write(node, form, to: &writer) }
    var isFirst = true
    func line(_ name: String) {
      writer.write(raw: isFirst ? "{\n" : ",\n")
      writer.write(raw: String(repeating: "  ", count: indent + 1))
      writer.write(string: name)
      writer.write(raw: " : ")
      isFirst = false
    }
    node.forEachChild { key, child in
      line(key.text)
      if form == .shallow {
        writer.write(raw: "true")
      } else {
        writePretty(child, form, indent: indent + 1, to: &writer)
      }
    }
    if form == .export, let priority = node.priority {
      line(".priority")
      write(priority, to: &writer)
    }
    writer.write(raw: "\n" + String(repeating: "  ", count: indent) + "}")
  }
}
