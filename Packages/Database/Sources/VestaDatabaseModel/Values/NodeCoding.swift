import VestaBytes
public import VestaDatabaseBackend

/// The bytes of leaves and nodes, as stores keep them.
///
/// A leaf is a kind and its content; a node is a leaf, or the count of its children with their keys; a priority follows
/// a kind that says so.
public enum NodeCoding {
  private enum Kind {
    static let empty: UInt8 = 0
    static let children: UInt8 = 1
    static let no: UInt8 = 2
    static let yes: UInt8 = 3
    static let int: UInt8 = 4
    static let double: UInt8 = 5
    static let string: UInt8 = 6
    static let timestamp: UInt8 = 7
    static let incrementInt: UInt8 = 8
    static let incrementDouble: UInt8 = 9
    static let priority: UInt8 = 0x80
  }

  /// The deepest nesting that is read.
  private static let maximumDepth = 1100

  /// Writes a node.
  public static func encode(_ node: DatabaseNode) -> [UInt8] {
    var writer = ByteWriter()
    write(node, &writer)
    return writer.bytes
  }

  /// Reads a node.
  ///
  /// - Throws: `BytesError` when the bytes are not a node and nothing else.
  public static func decode(_ bytes: [UInt8]) throws -> DatabaseNode {
    var reader = ByteReader(bytes)
    let node = try read(&reader, depth: 0)
    guard reader.isAtEnd else { throw BytesError(.malformed, "Bytes follow the node.") }
    return node
  }

  /// Writes a row's data of its path: the leaf, if there is one, and the priority.
  public static func encode(leaf: DatabaseLeaf?, priority: DatabaseLeaf?) -> [UInt8] {
    var writer = ByteWriter(reserving: 16)
    write(leaf, priority, &writer)
    return writer.bytes
  }

  /// Reads a row's data of its path.
  public static func decodeRow(_ bytes: [UInt8]) throws -> (leaf: DatabaseLeaf?, priority: DatabaseLeaf?) {
    var reader = ByteReader(bytes)
    let kind = try reader.byte()
    let leaf = try readLeaf(kind & ~Kind.priority, &reader)
    let priority = kind & Kind.priority == 0 ? nil : try readLeaf(try reader.byte(), &reader)
    guard reader.isAtEnd else { throw BytesError(.malformed, "Bytes follow the leaf.") }
    return (leaf, priority)
  }

  private static func write(_ node: DatabaseNode, _ writer: inout ByteWriter) {
    if node.leaf != nil || node.isEmpty { return write(node.leaf, node.priority, &writer) }
    writer.write(byte: Kind.children | (node.priority == nil ? 0 : Kind.priority))
    if let priority = node.priority { write(priority, flags: 0, &writer) }
    writer.write(count: node.childCount)
    node.forEachChild { key, child in
      writer.write(string: key.text)
      write(child, &writer)
    }
  }

  private static func write(_ leaf: DatabaseLeaf?, _ priority: DatabaseLeaf?, _ writer: inout ByteWriter) {
    let flags = priority == nil ? 0 : Kind.priority
    if let leaf { write(leaf, flags: flags, &writer) } else { writer.write(byte: Kind.empty | flags) }
    if let priority { write(priority, flags: 0, &writer) }
  }

  private static func write(_ leaf: DatabaseLeaf, flags: UInt8, _ writer: inout ByteWriter) {
    switch leaf {
    case .bool(let value): writer.write(byte: (value ? Kind.yes : Kind.no) | flags)
    case .int(let value):
      writer.write(byte: Kind.int | flags)
      writer.write(zigzag: value)
    case .double(let value):
      writer.write(byte: Kind.double | flags)
      writer.write(double: value)
    case .string(let value):
      writer.write(byte: Kind.string | flags)
      writer.write(string: value)
    case .timestamp: writer.write(byte: Kind.timestamp | flags)
    case .incrementInt(let delta):
      writer.write(byte: Kind.incrementInt | flags)
      writer.write(zigzag: delta)
    case .incrementDouble(let delta):
      writer.write(byte: Kind.incrementDouble | flags)
      writer.write(double: delta)
    }
  }

  private static func read(_ reader: inout ByteReader, depth: Int) throws -> DatabaseNode {
    guard depth <= maximumDepth else { throw BytesError(.limitExceeded, "The node is nested too deep.") }
    let kind = try reader.byte()
    let hasPriority = kind & Kind.priority != 0
    guard kind & ~Kind.priority == Kind.children else {
      let leaf = try readLeaf(kind & ~Kind.priority, &reader)
      let priority = hasPriority ? try readLeaf(try reader.byte(), &reader) : nil
      return leaf.map { DatabaseNode($0, priority: priority) } ?? .empty
    }
    let priority = hasPriority ? try readLeaf(try reader.byte(), &reader) : nil
    var children: [(DatabaseKey, DatabaseNode)] = []
    for _ in 0..<(try reader.count()) {
      let key = DatabaseKey(try reader.string())
      children.append((key, try read(&reader, depth: depth + 1)))
    }
    return DatabaseNode(children: children, priority: priority)
  }

  private static func readLeaf(_ kind: UInt8, _ reader: inout ByteReader) throws -> DatabaseLeaf? {
    switch kind {
    case Kind.empty: return nil
    case Kind.no: return .bool(false)
    case Kind.yes: return .bool(true)
    case Kind.int: return .int(try reader.zigzag())
    case Kind.double: return .double(try reader.double())
    case Kind.string: return .string(try reader.string())
    case Kind.timestamp: return .timestamp
    case Kind.incrementInt: return .incrementInt(try reader.zigzag())
    case Kind.incrementDouble: return .incrementDouble(try reader.double())
    default: throw BytesError(.malformed, "\(kind) is no kind of a leaf.")
    }
  }
}
