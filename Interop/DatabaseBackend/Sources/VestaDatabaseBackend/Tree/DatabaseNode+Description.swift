extension DatabaseLeaf: CustomStringConvertible {
  /// The value as it would be written in JSON.
  public var description: String {
    switch self {
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): "\"\(value)\""
    case .timestamp: "timestamp"
    case .incrementInt(let delta): "increment(\(delta))"
    case .incrementDouble(let delta): "increment(\(delta))"
    }
  }
}

extension DatabaseNode: CustomStringConvertible {
  /// The data in short, a priority after a `^`.
  public var description: String {
    let mark = priority.map { "^\($0)" } ?? ""
    if let leaf { return "\(leaf)\(mark)" }
    var parts: [String] = []
    forEachChild { parts.append("\($0): \($1)") }
    return isEmpty ? "null" : "{\(parts.joined(separator: ", "))}\(mark)"
  }
}
