import Foundation
public import VestaDatabaseBackend

/// Why a value cannot be stored; the sentence is Firebase's.
public struct InvalidValue: Error, CustomStringConvertible {
  /// The sentence.
  public let description: String

  /// An error with a sentence.
  public init(_ description: String) { self.description = description }
}

/// Makes nodes of Swift values: dictionaries, arrays, strings, numbers, booleans, `nil` and `NSNull`.
///
/// Dictionaries can have `.value`, `.priority` and `.sv`. The keys of arrays are their indexes.
public struct NodeImport: Sendable {
  /// Where the value is to be stored.
  private let base: DatabasePath
  /// The deepest nesting: the limit of upstream, and of the path.
  private static let maximumNesting = 1000

  /// An import of a value for a path.
  public init(at path: DatabasePath) { base = path }

  /// Makes a node.
  ///
  /// - Parameters:
  ///   - value: The value; `nil` and `NSNull` for the empty node.
  ///   - priority: The priority, which replaces one in the value.
  /// - Throws: ``InvalidValue``.
  public func node(_ value: Any?, priority: Any? = nil) throws(InvalidValue) -> DatabaseNode {
    if let problem = KeyRules.problem(writing: base) { throw InvalidValue(problem) }
    let node = try node(value, at: base, depth: 0)
    guard let priority = Self.present(priority) else { return node }
    return node.withPriority(try self.priority(priority, at: base))
  }

  /// Makes a priority; `nil` for none.
  public func priority(_ value: Any?) throws(InvalidValue) -> DatabaseLeaf? { try priority(value, at: base) }

  private func node(_ value: Any?, at path: DatabasePath, depth: Int) throws(InvalidValue) -> DatabaseNode {
    guard let value = Self.present(value) else { return .empty }
    if depth > Self.maximumNesting { throw InvalidValue("Max object depth exceeded: \(path.text)") }
    if let entries = Self.entries(of: value) { return try node(entries, at: path, depth: depth) }
    if let items = value as? [Any] {
      let entries = items.enumerated().map { ("\($0.offset)", $0.element) }
      return try node(entries, at: path, depth: depth)
    }
    if let leaf = try leaf(value, at: path) { return DatabaseNode(leaf) }
    throw InvalidValue(
      """
      Cannot store object of type \(type(of: value)) at \(path.text). \
      Can only store objects of type NSNumber, NSString, NSDictionary, and NSArray.
      """
    )
  }

  private func node(
    _ entries: [(String, Any)], at path: DatabasePath, depth: Int
  ) throws(InvalidValue) -> DatabaseNode {
    var priority: DatabaseLeaf?
    var children: [(DatabaseKey, DatabaseNode)] = []
    for (name, value) in entries {
      switch name {
      case ".priority": priority = try self.priority(value, at: path)
      case ".value":
        let rest = entries.filter { $0.0 != ".value" && $0.0 != ".priority" }
        guard rest.isEmpty || Self.present(value) == nil else { continue }
        if Self.present(value) != nil {
          var node = try node(value, at: path, depth: depth + 1)
          if let priority = entries.first(where: { $0.0 == ".priority" }) {
            node = node.withPriority(try self.priority(priority.1, at: path))
          }
          return node
        }
      case ".sv":
        guard entries.allSatisfy({ $0.0 == ".sv" || $0.0 == ".priority" }) else {
          throw InvalidValue("Cannot store other keys with server value keys.")
        }
        let leaf = try serverValue(value, at: path)
        let priority = entries.first { $0.0 == ".priority" }
        return DatabaseNode(leaf, priority: try self.priority(priority?.1, at: path))
      default: children.append(try child(name, value, at: path, depth: depth))
      }
    }
    return DatabaseNode(children: children, priority: priority)
  }

  private func child(
    _ name: String, _ value: Any, at path: DatabasePath, depth: Int
  ) throws(InvalidValue) -> (DatabaseKey, DatabaseNode) {
    guard KeyRules.isValidKey(name) else {
      throw InvalidValue(
        """
        Invalid key in object at path: \(path.text). \
        Keys must be non-empty and cannot contain '/' '.' '#' '$' '[' or ']'
        """
      )
    }
    let key = DatabaseKey(name)
    let place = path.child(key)
    let node = try node(value, at: place, depth: depth + 1)
    if !node.isEmpty, let problem = KeyRules.problem(writing: place) { throw InvalidValue(problem) }
    return (key, node)
  }

  private func leaf(_ value: Any, at path: DatabasePath) throws(InvalidValue) -> DatabaseLeaf? {
    if let text = value as? String {
      guard text.utf8.count <= KeyRules.maximumStringBytes else {
        throw InvalidValue("String exceeds max size of 10485760 utf8 bytes: \(path.text)")
      }
      return .string(text)
    }
    guard let leaf = Self.number(value) else { return nil }
    if let number = leaf.number, !number.isFinite { throw InvalidValue("Cannot store NaN at path: \(path.text).") }
    return leaf
  }

  private func priority(_ value: Any?, at path: DatabasePath) throws(InvalidValue) -> DatabaseLeaf? {
    guard let value = Self.present(value) else { return nil }
    func refuse(_ what: String) -> InvalidValue {
      InvalidValue("Cannot store \(what) as priority at path: \(path.text).")
    }
    if let entries = Self.entries(of: value) {
      if entries.count == 1, let entry = entries.first, entry.0 == ".sv" { return try serverValue(entry.1, at: path) }
      throw refuse("an NSDictionary")
    }
    if value is [Any] { throw refuse("an NSArray") }
    if let text = value as? String { return .string(text) }
    guard let leaf = Self.number(value) else { throw refuse("an object of type \(type(of: value))") }
    if case .bool = leaf { throw refuse("true/false") }
    guard leaf.number?.isFinite == true else { throw refuse("NaN") }
    return leaf
  }

  private func serverValue(_ value: Any, at path: DatabasePath) throws(InvalidValue) -> DatabaseLeaf {
    if value is String, value as? String == "timestamp" { return .timestamp }
    if let entries = Self.entries(of: value), let entry = entries.first, entries.count == 1, entry.0 == "increment" {
      switch Self.number(entry.1) {
      case .int(let delta): return .incrementInt(delta)
      case .double(let delta) where delta.isFinite: return .incrementDouble(delta)
      default: break
      }
    }
    throw InvalidValue("Invalid server value at path: \(path.text). Use ServerValue.timestamp() or increment(_:).")
  }

  // MARK: Types

  /// A value that is neither `nil` nor `NSNull`.
  ///
  /// Only objects are asked for their class: on Linux, asking a container copies all of it into objects, at each level
  /// again.
  private static func present(_ value: Any?) -> Any? {
    guard let value = unwrapped(value) else { return nil }
    return type(of: value) is NSNull.Type ? nil : value
  }

  /// The entries of a dictionary, whatever type its keys are of.
  private static func entries(of value: Any) -> [(String, Any)]? {
    switch type(of: value) {
    case is String.Type, is Int.Type, is Bool.Type, is Double.Type: return nil
    default: break
    }
    if let dictionary = value as? [String: Any] { return dictionary.map { ($0.key, $0.value) } }
    guard let dictionary = value as? [AnyHashable: Any] else { return nil }
    return dictionary.map { (($0.key.base as? String) ?? "\($0.key.base)", $0.value) }
  }

  /// A number or a boolean as a leaf, by its own type: `1` is no boolean and `true` is no number.
  private static func number(_ value: Any) -> DatabaseLeaf? {
    switch type(of: value) {
    case is Bool.Type: return (value as? Bool).map { .bool($0) }
    case is Int.Type: return (value as? Int).map { .int(Int64($0)) }
    case is Double.Type: return (value as? Double).map { .double($0) }
    default: break
    }
    if type(of: value) is NSNumber.Type, let number = value as? NSNumber { return leaf(of: number) }
    if let integer = value as? any BinaryInteger {
      return Int64(exactly: integer).map { .int($0) } ?? .double(Double(integer))
    }
    if let float = value as? any BinaryFloatingPoint { return .double(Double(float)) }
    // Containers are no numbers, and were looked at before.
    return value is NSNumber ? (value as? NSNumber).flatMap(leaf) : nil
  }

  private static func leaf(of number: NSNumber) -> DatabaseLeaf? {
    switch String(cString: number.objCType) {
    case "B": .bool(number.boolValue)
    case "c" where number == 0 || number == 1: .bool(number.boolValue)
    case "f", "d": .double(number.doubleValue)
    case "Q" where number.uint64Value > UInt64(Int64.max): .double(number.doubleValue)
    default: .int(number.int64Value)
    }
  }

  private static func unwrapped(_ value: Any?) -> Any? {
    guard let value else { return nil }
    guard let optional = value as? any AnyOptional else { return value }
    return unwrapped(optional.content)
  }
}

/// An optional of any type within `Any`.
private protocol AnyOptional {
  var content: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var content: Any? { self }
}
