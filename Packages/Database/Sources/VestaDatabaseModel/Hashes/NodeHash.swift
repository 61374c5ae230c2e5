import VestaBytes
public import VestaDatabaseBackend

/// The hash of a tree, by which a client and the service find out that they hold the same data.
///
/// The base64 of SHA-1 over a canonical string; the empty node's hash is empty. Priorities count, and `1` equals `1.0`.
public enum NodeHash {
  /// The hash of a node.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - order: How children are ordered in the string.
  public static func hash(_ node: DatabaseNode, order: ChildOrder = .standard) -> String {
    String(decoding: digest(node, order), as: UTF8.self)
  }

  /// Whether a hash is that of a node, in either of the orders that clients use.
  public static func matches(_ hash: String, _ node: DatabaseNode) -> Bool {
    self.hash(node) == hash || (hasTwoOrders(node) && self.hash(node, order: .apple) == hash)
  }

  /// How children are ordered in the string of a hash.
  public enum ChildOrder: Sendable {
    /// By priority, then by key.
    case standard
    /// By key when all children have a priority, which is what the Apple SDK does.
    case apple
  }

  /// Whether the orders can differ in a node or below it: where all children have a priority.
  private static func hasTwoOrders(_ node: DatabaseNode) -> Bool {
    guard node.childCount > 0 else { return false }
    var (allPrioritized, found) = (true, false)
    node.visitChildren { _, child in
      if child.priority == nil { allPrioritized = false }
      found = hasTwoOrders(child)
      return !found
    }
    return found || (allPrioritized && node.childCount > 1)
  }

  /// The hash as bytes, of which the strings of the nodes above are made; empty for the empty node.
  private static func digest(_ node: DatabaseNode, _ order: ChildOrder) -> [UInt8] {
    if node.isEmpty { return [] }
    var text: [UInt8] = []
    if let priority = node.priority {
      text += "priority:".utf8
      append(priority, to: &text)
      text.append(UInt8(ascii: ":"))
    }
    if let leaf = node.leaf { append(leaf, to: &text) } else { append(node, to: &text, order) }
    return Base64.standard.encodedBytes(SHA1.digest(text))
  }

  private static func append(_ node: DatabaseNode, to text: inout [UInt8], _ order: ChildOrder) {
    func append(_ key: DatabaseKey, _ child: DatabaseNode) {
      text.append(UInt8(ascii: ":"))
      text += key.text.utf8
      text.append(UInt8(ascii: ":"))
      text += digest(child, order)
    }
    guard node.hasPrioritizedChildren else { return node.forEachChild(append) }
    var children: [(DatabasePosition, DatabaseNode)] = []
    node.forEachChild { children.append((DatabaseIndex.priority.position(of: $0, $1), $1)) }
    let byKey = order == .apple && children.allSatisfy { $0.1.priority != nil }
    if !byKey { children.sort { $0.0 < $1.0 } }
    for (position, child) in children { append(position.key, child) }
  }

  private static func append(_ leaf: DatabaseLeaf, to text: inout [UInt8]) {
    guard let number = leaf.number else { return text += self.text(of: leaf).utf8 }
    text += "number:".utf8
    let bits = (number == 0 ? 0 : number).bitPattern
    for shift in stride(from: 60, through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: bits >> UInt64(shift)) & 0xF
      text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
    }
  }

  static func text(of leaf: DatabaseLeaf) -> String {
    switch leaf {
    case .bool(let value): "boolean:\(value)"
    case .int, .double: "number:" + Self.hexadecimal(leaf.number ?? 0)
    case .string(let value): "string:" + value
    case .timestamp: "object:timestamp"
    case .incrementInt(let delta): "object:increment:\(delta)"
    case .incrementDouble(let delta): "object:increment:\(delta)"
    }
  }

  /// The sixteen lower-case digits of a double's bits.
  static func hexadecimal(_ number: Double) -> String {
    let digits = String((number == 0 ? 0 : number).bitPattern, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
