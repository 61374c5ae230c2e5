import VestaBytes

/// A member of a JSON object by its path, and the part of a value that it stands for.
///
/// ```
/// signIn.email.enabled    \ProjectConfig.signIn.allowsPasswords
/// ```
struct JSONMember<Root>: Sendable {
  typealias Part<Value> = any WritableKeyPath<Root, Value> & Sendable

  let path: String
  let read: @Sendable (Root) -> JSONValue?
  /// Sets the part, and returns whether the value was of the right type.
  let write: @Sendable (inout Root, JSONValue) -> Bool
  /// Sets the part to what an object without the member means.
  let clear: @Sendable (inout Root) -> Void

  static func flag(_ path: String, _ part: Part<Bool>) -> JSONMember {
    JSONMember(path: path) {
      .bool($0[keyPath: part])
    } write: { root, json in
      guard case .bool(let value) = json else { return false }
      root[keyPath: part] = value
      return true
    } clear: {
      $0[keyPath: part] = false
    }
  }

  static func number(_ path: String, _ part: Part<Int>) -> JSONMember {
    JSONMember(path: path) {
      .integer(Int64($0[keyPath: part]))
    } write: { root, json in
      guard let value = json.integer.flatMap({ Int(exactly: $0) }) else { return false }
      root[keyPath: part] = value
      return true
    } clear: {
      $0[keyPath: part] = 0
    }
  }

  static func text(_ path: String, _ part: Part<String?>) -> JSONMember {
    JSONMember(path: path) {
      $0[keyPath: part].map { .string($0) }
    } write: { root, json in
      guard let value = json.string else { return false }
      root[keyPath: part] = value
      return true
    } clear: {
      $0[keyPath: part] = nil
    }
  }
}

/// Writes and reads values by the table of their members.
enum JSONMembers {
  /// The object of a value.
  static func json<Root>(of value: Root, _ members: [JSONMember<Root>]) -> JSONObject {
    var object = JSONObject()
    for member in members {
      guard let json = member.read(value) else { continue }
      set(json, at: member.path.split(separator: ".")[...], in: &object)
    }
    return object
  }

  /// Changes a value by the members that an object has.
  ///
  /// With a mask, a member that counts and that the object does not have, or has as null, is cleared, as for any
  /// message of the service.
  /// A path that leads into a member makes it count where the object has it.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - object: The object; members that the table does not have are ignored.
  ///   - mask: The paths that count, each with everything below it; `nil` for what the object has.
  ///   - members: The table.
  /// - Returns: The paths of the members that were changed.
  /// - Throws: `BytesError` with `.malformed` for a member of the wrong type.
  @discardableResult
  static func merge<Root>(
    _ object: JSONObject, into value: inout Root, mask: [String]? = nil, _ members: [JSONMember<Root>]
  ) throws(BytesError) -> Set<String> {
    var changed: Set<String> = []
    for member in members {
      let isWhole = mask?.contains { member.path == $0 || member.path.hasPrefix($0 + ".") } ?? false
      let isNamed = isWhole || mask?.contains { $0.hasPrefix(member.path + ".") } ?? true
      guard isNamed else { continue }
      if let json = find(member.path.split(separator: ".")[...], in: object) {
        guard member.write(&value, json) else { throw BytesError(.malformed, "\(member.path) is of another type") }
        changed.insert(member.path)
      } else if isWhole {
        member.clear(&value)
        changed.insert(member.path)
      }
    }
    return changed
  }

  private static func find(_ path: ArraySlice<Substring>, in object: JSONObject) -> JSONValue? {
    guard let name = path.first, let json = object[String(name)], json != .null else { return nil }
    if path.count == 1 { return json }
    guard case .object(let inner) = json else { return nil }
    return find(path.dropFirst(), in: inner)
  }

  private static func set(_ json: JSONValue, at path: ArraySlice<Substring>, in object: inout JSONObject) {
    guard let name = path.first.map(String.init) else { return }
    if path.count == 1 { return object[name] = json }
    var inner = object[name]?.object ?? JSONObject()
    set(json, at: path.dropFirst(), in: &inner)
    object[name] = .object(inner)
  }
}
