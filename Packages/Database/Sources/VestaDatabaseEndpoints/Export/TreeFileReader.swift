import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseWire

/// Reads a tree from JSON as the file is read: a row for each value, without the tree in memory; pure.
///
/// The file is that of `format=export`, or one that a person has written: with spaces, line ends and arrays. The row of
/// a path with a priority follows the rows below it.
///
/// | in the file | rows |
/// |---|---|
/// | `{"a":{"b":2,".priority":1}}` | `a/b` = 2, `a` with the priority 1 |
/// | `{"a":{".value":2,".priority":1}}` | `a` = 2 with the priority 1 |
/// | `{"a":[true,null,3]}` | `a/0` = true, `a/2` = 3 |
struct TreeFileReader {
  private enum Expectation {
    case value, name, nameOrEnd, valueOrEnd, colon, commaOrEnd, nothing
  }

  private struct Place {
    /// The index of the next element; `nil` for an object.
    var element: Int?
    var path: DatabasePath
    var name = ""
    var value: DatabaseLeaf?
    var priority: DatabaseLeaf?
    var hasRows = false
    var isObject: Bool { element == nil }
  }

  private let limits: DatabaseExportTuning
  private var expectation = Expectation.value
  private var open: [Place] = []
  private var token: [UInt8] = []
  private var isInString = false
  private var isEscaped = false
  private var offset = 0
  private var rows: [DatabaseRow] = []

  init(_ limits: DatabaseExportTuning) { self.limits = limits }

  /// Takes the next bytes of the file.
  ///
  /// - Returns: The rows that end in them.
  /// - Throws: `BytesError` with the place, for what is no tree.
  mutating func rows(in bytes: [UInt8]) throws(BytesError) -> [DatabaseRow] {
    for byte in bytes {
      try take(byte)
      offset += 1
    }
    defer { rows = [] }
    return rows
  }

  /// The rows that are left at the end of the file.
  mutating func finish() throws(BytesError) -> [DatabaseRow] {
    if !token.isEmpty, !isInString { try endToken() }
    guard expectation == .nothing, !isInString else { throw error("the file ends in the middle of a value") }
    defer { rows = [] }
    return rows
  }

  private func error(_ text: String) -> BytesError { BytesError(.malformed, "at byte \(offset): \(text)") }

  // MARK: Tokens

  private mutating func take(_ byte: UInt8) throws(BytesError) {
    if isInString { return try takeInString(byte) }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","),
      UInt8(ascii: ":"), 9, 10, 13, 32:
      if !token.isEmpty { try endToken() }
      try take(mark: byte)
    case UInt8(ascii: "\""):
      guard token.isEmpty else { throw error("a text begins in the middle of another value") }
      isInString = true
      try append(byte)
    default: try append(byte)
    }
  }

  private mutating func takeInString(_ byte: UInt8) throws(BytesError) {
    try append(byte)
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
      try endToken()
    }
  }

  private mutating func append(_ byte: UInt8) throws(BytesError) {
    token.append(byte)
    guard token.count <= limits.longestValue else {
      throw BytesError(.limitExceeded, "at byte \(offset): a value has more than \(limits.longestValue) bytes")
    }
  }

  private mutating func endToken() throws(BytesError) {
    let json: JSONValue
    do throws(BytesError) { json = try JSONValue(json: token) } catch { throw self.error(error.message) }
    token = []
    switch expectation {
    case .value, .valueOrEnd:
      try take(scalar: json)
      endValue()
    case .name, .nameOrEnd:
      guard let name = json.string else { throw error("the name of a member is no text") }
      open[open.count - 1].name = name
      expectation = .colon
    case .colon, .commaOrEnd, .nothing: throw error("a value is where none can be")
    }
  }

  private mutating func take(mark: UInt8) throws(BytesError) {
    switch (mark, expectation) {
    case (9, _), (10, _), (13, _), (32, _): break
    case (UInt8(ascii: "{"), .value), (UInt8(ascii: "{"), .valueOrEnd):
      try begin(element: nil)
      expectation = .nameOrEnd
    case (UInt8(ascii: "["), .value), (UInt8(ascii: "["), .valueOrEnd):
      try begin(element: 0)
      expectation = .valueOrEnd
    case (UInt8(ascii: "}"), .nameOrEnd), (UInt8(ascii: "}"), .commaOrEnd): try end(object: true)
    case (UInt8(ascii: "]"), .valueOrEnd), (UInt8(ascii: "]"), .commaOrEnd): try end(object: false)
    case (UInt8(ascii: ":"), .colon): expectation = .value
    case (UInt8(ascii: ","), .commaOrEnd): expectation = open.last?.isObject == true ? .name : .value
    default: throw error("\"\(Character(Unicode.Scalar(mark)))\" is where it cannot be")
    }
  }

  // MARK: The tree

  /// The path of the next value.
  private func nextPath() throws(BytesError) -> DatabasePath {
    guard let place = open.last else { return .root }
    let key = place.element.map { "\($0)" } ?? place.name
    guard !key.hasPrefix(".") else { throw error("the name \"\(key.prefix(100))\" is none of an export") }
    return place.path.appending(DatabasePath([DatabaseKey(key)]))
  }

  private mutating func begin(element: Int?) throws(BytesError) {
    guard open.count < limits.deepest else {
      throw BytesError(.limitExceeded, "at byte \(offset): the tree has more than \(limits.deepest) levels")
    }
    open.append(Place(element: element, path: try nextPath()))
  }

  private mutating func end(object: Bool) throws(BytesError) {
    guard let place = open.last, place.isObject == object else { throw error("a bracket is closed that is not open") }
    open.removeLast()
    var hasRows = place.hasRows
    if let value = place.value {
      guard !hasRows else { throw error("an object has other members next to .value") }
      rows.append(DatabaseRow(place.path, value, priority: place.priority))
      hasRows = true
    } else if hasRows, let priority = place.priority {
      rows.append(DatabaseRow(place.path, nil, priority: priority))
    }
    if hasRows, !open.isEmpty { open[open.count - 1].hasRows = true }
    endValue()
  }

  private mutating func take(scalar: JSONValue) throws(BytesError) {
    let leaf = (try? NodeWire.node(scalar))?.leaf
    let index = open.count - 1
    switch open.last.map({ $0.isObject ? $0.name : "" }) {
    case ".value"?: open[index].value = leaf
    case ".priority"?: open[index].priority = leaf
    default:
      let path = try nextPath()
      guard let leaf else { return }
      rows.append(DatabaseRow(path, leaf))
      if index >= 0 { open[index].hasRows = true }
    }
  }

  private mutating func endValue() {
    if let element = open.last?.element { open[open.count - 1].element = element + 1 }
    expectation = open.isEmpty ? .nothing : .commaOrEnd
  }
}
