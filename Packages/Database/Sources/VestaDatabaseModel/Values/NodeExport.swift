import Foundation
public import VestaDatabaseBackend

extension DatabaseNode {
  /// The node as Swift values: dictionaries, arrays, strings, `NSNumber`, and `NSNull` where nothing is.
  ///
  /// Children whose keys are small integers become an array when more than half of it is filled.
  public var plainValue: Any { value(isExport: false) }

  /// The node as Swift values with `.value` and `.priority`; never an array.
  public var exportValue: Any { value(isExport: true) }

  private func value(isExport: Bool) -> Any {
    if let leaf {
      guard isExport, let priority else { return leaf.plainValue }
      return [".value": leaf.plainValue, ".priority": priority.plainValue] as [String: Any]
    }
    guard !isEmpty else { return NSNull() }
    if !isExport, let array = arrayValue { return array }
    var dictionary: [String: Any] = [:]
    dictionary.reserveCapacity(childCount + 1)
    // Swift takes two ways to write one letter for the same key: the first child keeps its place in the dictionary.
    forEachChild { key, child in
      let value = child.value(isExport: isExport)
      if let first = dictionary.updateValue(value, forKey: key.text) { dictionary[key.text] = first }
    }
    if isExport, let priority { dictionary[".priority"] = priority.plainValue }
    return dictionary
  }

  private var arrayValue: [Any]? {
    var largest = -1
    visitChildren { key, _ in
      guard let index = key.integer, index >= 0, key.text == "\(index)" else {
        largest = -1
        return false
      }
      largest = Int(index)
      return true
    }
    guard largest >= 0, largest < 2 * childCount else { return nil }
    var array = [Any](repeating: NSNull(), count: largest + 1)
    forEachChild { key, node in array[Int(key.integer ?? 0)] = node.plainValue }
    return array
  }
}

extension DatabaseLeaf {
  /// The leaf as a Swift value; server values as they are written.
  public var plainValue: Any {
    switch self {
    case .bool(let value): NSNumber(value: value)
    case .int(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .string(let value): value
    case .timestamp: [".sv": "timestamp"]
    case .incrementInt(let delta): [".sv": ["increment": NSNumber(value: delta)]]
    case .incrementDouble(let delta): [".sv": ["increment": NSNumber(value: delta)]]
    }
  }
}
