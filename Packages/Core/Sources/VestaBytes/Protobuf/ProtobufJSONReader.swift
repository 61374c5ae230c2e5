/// A member and the members around it: a path that becomes text only when something is wrong there.
@usableFromInline
final class ProtobufJSONPath: Sendable {
  private let name: String
  private let parent: ProtobufJSONPath?

  @usableFromInline
  init(_ name: String, in parent: ProtobufJSONPath?) {
    self.name = name
    self.parent = parent
  }

  /// The names from the outermost one on.
  var text: String {
    var names = [name]
    var outer = parent
    while let node = outer {
      names.append(node.name)
      outer = node.parent
    }
    return names.reversed().joined(separator: ".")
  }
}

/// Reads protobuf's JSON form from a ``JSONValue``; the schemas' visitor for that direction.
///
/// Accepts JSON's names (`createTime`) and the definition's (`create_time`).
public struct ProtobufJSONReader: Sendable {
  /// Whether members that a message does not have are skipped.
  public let ignoresUnknownNames: Bool

  /// Whether the places of members are noted, for the message of an error.
  @usableFromInline
  let notesPlaces: Bool

  /// The path of the member that is being read, for messages.
  @usableFromInline
  let parent: ProtobufJSONPath?

  @usableFromInline
  var member = ""

  @usableFromInline
  var value = JSONValue.null

  @usableFromInline
  var isTaken = false

  @usableFromInline
  init(parent: ProtobufJSONPath?, ignoresUnknownNames: Bool, notesPlaces: Bool) {
    self.parent = parent
    self.ignoresUnknownNames = ignoresUnknownNames
    self.notesPlaces = notesPlaces
  }

  /// Reads an object into a message.
  ///
  /// What is refused is read twice: the first time without the places of members, each of which costs an allocation.
  @inlinable
  public static func merge<Schema: ProtobufSchema>(
    _ json: JSONValue, into message: inout Schema.Message, _ schema: Schema.Type, ignoresUnknownNames: Bool
  ) throws(BytesError) {
    func read(notesPlaces: Bool) throws(BytesError) {
      let reader = ProtobufJSONReader(
        parent: nil, ignoresUnknownNames: ignoresUnknownNames, notesPlaces: notesPlaces)
      try reader.merge(json, into: &message, schema)
    }
    do {
      try read(notesPlaces: false)
    } catch {
      try read(notesPlaces: true)
      throw error
    }
  }

  /// Reads an object into a message, within the member that is being read.
  @inlinable
  public func merge<Schema: ProtobufSchema>(
    _ json: JSONValue, into message: inout Schema.Message, _ schema: Schema.Type
  ) throws(BytesError) {
    guard case .object(let object) = json else { throw malformed("this is no object") }
    var reader = ProtobufJSONReader(
      parent: here, ignoresUnknownNames: ignoresUnknownNames, notesPlaces: notesPlaces)
    for entry in object.members {
      reader.begin(entry.name, entry.value)
      try Schema.visit(&message, &reader)
      guard reader.isTaken || ignoresUnknownNames else { throw reader.malformed("there is no such member") }
    }
  }

  /// An error with the path of the member.
  public func malformed(_ message: String) -> BytesError {
    BytesError(.malformed, memberPath.isEmpty ? "JSON: \(message)" : "JSON at \(memberPath): \(message)")
  }

  /// A reader of a member of the value that is being read, for a kind that reads an object itself.
  public func within(_ name: String) -> ProtobufJSONReader {
    var reader = ProtobufJSONReader(
      parent: here, ignoresUnknownNames: ignoresUnknownNames, notesPlaces: notesPlaces)
    reader.member = name
    return reader
  }

  @usableFromInline
  var memberPath: String { here?.text ?? "" }

  /// The member that is being read, as the parent of what is within it.
  @usableFromInline
  var here: ProtobufJSONPath? {
    guard notesPlaces else { return nil }
    return member.isEmpty ? parent : ProtobufJSONPath(member, in: parent)
  }

  @usableFromInline
  mutating func begin(_ name: String, _ value: JSONValue) {
    // Unsafe pointer, used inside the closure only: most names are found without an underscore in a few steps.
    let isOfDefinition = name.withBytes { bytes in bytes.contains(UInt8(ascii: "_")) }
    member = isOfDefinition ? Self.jsonName(of: name) : name
    self.value = value
    isTaken = false
  }

  /// Whether a name of a schema is this one.
  @usableFromInline
  func matches(_ name: StaticString, _ text: String) -> Bool {
    guard name.utf8CodeUnitCount == text.utf8.count else { return false }
    // Unsafe pointers, used inside the closures only: the bytes of the names are compared in place.
    return text.withBytes { text in
      name.withUTF8Buffer { name in
        for index in 0..<name.count where name[index] != text[index] { return false }
        return true
      }
    }
  }

  /// The name in JSON of a name of the definition: `create_time` is `createTime`.
  private static func jsonName(of name: String) -> String {
    var letters: [UInt8] = []
    var isRaised = false
    for letter in name.utf8 {
      if letter == UInt8(ascii: "_") {
        isRaised = true
      } else {
        letters.append(isRaised && (97...122).contains(letter) ? letter - 32 : letter)
        isRaised = false
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }

  /// The integer of a number, or of a string of one.
  @usableFromInline
  func integer(_ json: JSONValue) throws(BytesError) -> Int64 {
    let number: JSONValue? = if case .string(let text) = json { JSONValue.number(of: text) } else { json }
    switch number {
    case .integer(let value): return value
    case .number(let value):
      guard let whole = Int64(exactly: value) else { throw malformed("this is no integer") }
      return whole
    default: throw malformed("this is no integer")
    }
  }
}

extension JSONValue {
  /// The number that a string has, in JSON's grammar; `nil` for another string.
  static func number(of text: String) -> JSONValue? {
    guard let value = try? JSONValue(json: text), value.double != nil, text.utf8.first.map({ $0 > 32 }) == true,
      text.utf8.last.map({ $0 > 32 }) == true
    else { return nil }
    return value
  }
}

extension ProtobufJSONReader: ProtobufVisitor {
  /// Fields are read.
  @inlinable
  public var isReading: Bool { true }

  /// Takes the current member if it has this name; null is the absence of a value.
  @inlinable
  mutating func take(_ name: StaticString, acceptsNull: Bool) -> JSONValue? {
    guard !isTaken, matches(name, member) else { return nil }
    isTaken = true
    // Written out: a bare nil in an expression would be JSON's null here.
    return if value.isNull, !acceptsNull { Optional<JSONValue>.none } else { value }
  }

  /// Reads a member.
  @inlinable
  public mutating func field<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value, _ kind: Kind.Type
  ) throws(BytesError) {
    if let json = take(name, acceptsNull: Kind.acceptsNull) { value = try Kind.read(json, self) }
  }

  /// Reads a member.
  @inlinable
  public mutating func optional<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ value: inout Kind.Value?, _ kind: Kind.Type
  ) throws(BytesError) {
    if let json = take(name, acceptsNull: Kind.acceptsNull) { value = try Kind.read(json, self) }
  }

  /// Reads an array.
  @inlinable
  public mutating func repeated<Kind: ProtobufKind>(
    _ number: UInt32, _ name: StaticString, _ values: inout [Kind.Value], _ kind: Kind.Type
  ) throws(BytesError) {
    guard let json = take(name, acceptsNull: false) else { return }
    guard case .array(let elements) = json else { throw malformed("this is no array") }
    values.reserveCapacity(values.count + elements.count)
    for element in elements { values.append(try Kind.read(element, self)) }
  }

  /// Reads an object into a map.
  @inlinable
  public mutating func map<Kind: ProtobufKind, Map: ProtobufMap>(
    _ number: UInt32, _ name: StaticString, _ entries: inout Map, _ kind: Kind.Type
  ) throws(BytesError) where Map.Value == Kind.Value {
    guard let json = take(name, acceptsNull: false) else { return }
    guard case .object(let object) = json else { throw malformed("this is no object") }
    guard entries.isEmpty else {
      entries.reserve(object.count)
      for entry in object.members { entries.set(try Kind.read(entry.value, self), for: entry.name) }
      return
    }
    var (names, values): ([String], [Kind.Value]) = ([], [])
    names.reserveCapacity(object.count)
    values.reserveCapacity(object.count)
    for entry in object.members {
      names.append(entry.name)
      values.append(try Kind.read(entry.value, self))
    }
    entries = Map(names: names, values: values)
  }

  /// Reads a member of a oneof.
  @inlinable
  public mutating func member<Kind: ProtobufKind, Oneof>(
    _ number: UInt32, _ name: StaticString, _ oneof: inout Oneof, _ kind: Kind.Type,
    extract: (Oneof) -> Kind.Value?, embed: (Kind.Value) -> Oneof
  ) throws(BytesError) {
    if let json = take(name, acceptsNull: Kind.acceptsNull) { oneof = embed(try Kind.read(json, self)) }
  }
}
