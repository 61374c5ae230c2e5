public import VestaDatabaseBackend

/// The limits of a write at the service, whatever the client has checked.
public enum TreeLimits {
  /// The largest write, in estimated bytes.
  public static let maximumWriteBytes = 16 << 20

  /// Why a node cannot be written at a path; `nil` when it can.
  public static func problem(writing node: DatabaseNode, at path: DatabasePath) -> DatabaseReply? {
    let isPriority = path.back?.isPriority == true
    let place = isPriority ? path.parent ?? .root : path
    if isPriority, !node.isEmpty, node.leaf == nil || !isValidPriority(node.leaf) {
      return DatabaseReply(.invalid, message: "The priority at \(place) is neither a number nor a string.")
    }
    for key in place.keys where !KeyRules.isValidKey(key.text) {
      return DatabaseReply(.invalid, message: "Invalid key \"\(key)\" in the path \(place).")
    }
    if let problem = KeyRules.problem(writing: place) { return DatabaseReply(.invalid, message: problem) }
    if NodeSize.estimate(node) > maximumWriteBytes {
      return DatabaseReply(.tooBig, message: "The write exceeds the maximum size that can be written at once (16 MB).")
    }
    var keys = Array(place.keys)
    return self.problem(in: node, at: &keys)
  }

  /// - Parameter keys: The path of the node; the paths below are made of it in place, as most nodes have no problem.
  private static func problem(in node: DatabaseNode, at keys: inout [DatabaseKey]) -> DatabaseReply? {
    var path: DatabasePath { DatabasePath(keys) }
    if let priority = node.priority, !isValidPriority(priority) {
      return DatabaseReply(.invalid, message: "The priority at \(path) is neither a number nor a string.")
    }
    switch node.leaf {
    case .string(let text)? where text.utf8.count > KeyRules.maximumStringBytes:
      return DatabaseReply(.tooBig, message: "String exceeds max size of 10485760 utf8 bytes: \(path.text)")
    case .double(let number)? where !number.isFinite, .incrementDouble(let number)? where !number.isFinite:
      return DatabaseReply(.invalid, message: "Cannot store NaN at path: \(path.text).")
    default: break
    }
    var found: DatabaseReply?
    node.visitChildren { key, child in
      if !KeyRules.isValidKey(key.text) {
        found = DatabaseReply(.invalid, message: "Invalid key in object at path: \(path.text).")
        return false
      }
      keys.append(key)
      if keys.count > KeyRules.maximumDepth || key.text.utf8.count > KeyRules.maximumKeyBytes {
        found = KeyRules.problem(writing: path).map { DatabaseReply(.invalid, message: $0) }
      } else {
        found = problem(in: child, at: &keys)
      }
      keys.removeLast()
      return found == nil
    }
    return found
  }

  private static func isValidPriority(_ leaf: DatabaseLeaf?) -> Bool {
    switch leaf {
    case .bool: false
    case .double(let number): number.isFinite
    default: true
    }
  }
}
