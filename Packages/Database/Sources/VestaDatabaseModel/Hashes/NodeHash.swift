import VestaBytes
public import VestaDatabaseBackend

/// The hash of a tree, by which a client and the service find out that they hold the same data.
///
/// The base64 of SHA-1 over a canonical text; the empty node's hash is empty. Priorities count, and `1` equals `1.0`.
public enum NodeHash {
  /// The hash of a node.
  ///
  /// - Parameters:
  ///   - node: The node.
  ///   - order: How children are ordered in the text.
  public static func hash(_ node: DatabaseNode, order: ChildOrder = .standard) -> String {
    guard !node.isEmpty else { return "" }
    var text = ""
    if let priority = node.priority { text = "priority:" + self.text(of: priority) + ":" }
    if let leaf = node.leaf {
      text += self.text(of: leaf)
    } else {
      append(node, to: &text, order)
    }
    return Base64.standard.encode(SHA1.digest([UInt8](text.utf8)))
  }

  /// Whether a hash is that of a node, in either of the orders that clients use.
  public static func matches(_ hash: String, _ node: DatabaseNode) -> Bool {
    self.hash(node) == hash || self.hash(node, order: .apple) == hash
  }

  /// How children are ordered in the text of a hash.
  public enum ChildOrder: Sendable {
    /// By priority, then by key.
    case standard
    /// By key when all children have a priority, which is what the Apple SDK does.
    case apple
  }

  private static func append(_ node: DatabaseNode, to text: inout String, _ order: ChildOrder) {
    var children: [(DatabasePosition, DatabaseNode)] = []
    var allPrioritized = true
    node.forEachChild { key, child in
      if child.priority == nil { allPrioritized = false }
      children.append((DatabaseIndex.priority.position(of: key, child), child))
    }
    let byKey = order == .apple && allPrioritized
    if node.hasPrioritizedChildren, !byKey { children.sort { $0.0 < $1.0 } }
    for (position, child) in children { text += ":\(position.key.text):\(hash(child, order: order))" }
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
