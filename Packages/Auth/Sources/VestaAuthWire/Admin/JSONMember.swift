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

  static func flag(_ path: String, _ part: Part<Bool>) -> JSONMember {
    JSONMember(path: path) {
      .bool($0[keyPath: part])
    } write: { root, json in
      guard case .bool(let value) = json else { return false }
      root[keyPath: part] = value
      return true
    }
  }

  static func number(_ path: String, _ part: Part<Int>) -> JSONMember {
    JSONMember(path: path) {
      .integer(Int64($0[keyPath: part]))
    } write: { root, json in
      guard let value = json.integer.flatMap({ Int(exactly: $0) }) else { return false }
      root[keyPath: part] = value
      return true
    }
  }

  static func text(_ path: String, _ part: Part<String?>) -> JSONMember {
    JSONMember(path: path) {
      $0[keyPath: part].map { .string($0) }
    } write: { root, json in
      guard let value = json.string else { return false }
      root[keyPath: part] = value
      return true
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
  /// - Parameters:
  ///   - value: The value.
  ///   - object: The object; members that the table does not have are ignored.
  ///   - mask: The paths that count, each with everything below it; `nil` for all.
  ///   - members: The table.
  /// - Throws: `BytesError` with `.malformed` for a member of the wrong type.
  static func merge<Root>(
    _ object: JSONObject, into value: inout Root, mask: [String]? = nil, _ members: [JSONMember<Root>]
  ) throws(BytesError) {
    for member in members {
      if let mask, !mask.contains(where: { member.path == $0 || member.path.hasPrefix($0 + ".") }) { continue }
      guard let json = find(member.path.split(separator: ".")[...], in: object) else { continue }
      guard member.write(&value, json) else { throw BytesError(.malformed, "\(member.path) is of another type") }
    }
  }

  private static func find(_ path: ArraySlice<Substring>, in object: JSONObject) -> JSONValue? {
    guard let name = path.first, let json = object[String(name)] else { return nil }
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
