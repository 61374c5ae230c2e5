package import VestaFirestoreBackend

/// The encoding of a value in a row: a tag, and what the tag needs.
///
/// The tags are part of what is on disk: never change one.
private enum Tag: UInt8 {
  case null = 0
  case no = 1
  case yes = 2
  case integer = 3
  case double = 4
  case timestamp = 5
  case string = 6
  case bytes = 7
  case reference = 8
  case geoPoint = 9
  case array = 10
  case map = 11
}

extension RowWriter {
  /// Appends the entries of a map.
  package mutating func write(map: MapValue) {
    write(count: map.count)
    for (name, value) in map {
      write(text: name)
      write(value: value)
    }
  }

  /// Appends a value.
  package mutating func write(value: Value) {
    switch value {
    case .null: write(.null)
    case .boolean(let value): write(value ? .yes : .no)
    case .integer(let value):
      write(.integer)
      write(int: value)
    case .double(let value):
      write(.double)
      write(fixed: value.bitPattern)
    case .timestamp(let value):
      write(.timestamp)
      write(int: value.seconds)
      write(count: Int(value.nanos))
    case .string(let value):
      write(.string)
      write(text: value)
    case .bytes(let value):
      write(.bytes)
      write(blob: value)
    case .reference(let value):
      write(.reference)
      write(text: value)
    case .geoPoint(let value):
      write(.geoPoint)
      write(fixed: value.latitude.bitPattern)
      write(fixed: value.longitude.bitPattern)
    case .array(let values):
      write(.array)
      write(count: values.count)
      for value in values { write(value: value) }
    case .map(let map):
      write(.map)
      write(map: map)
    }
  }

  private mutating func write(_ tag: Tag) { write(byte: tag.rawValue) }
}

extension RowReader {
  /// Deeper values are never written; reading them could use up the stack.
  private static let maximumDepth = 64

  /// Reads a map.
  package mutating func map(depth: Int = 0) throws(FirestoreServiceError) -> MapValue {
    let count = try count()
    guard depth <= RowReader.maximumDepth, count >= 0 else { throw .damaged }
    var names: [String] = []
    var values: [Value] = []
    names.reserveCapacity(min(count, 1024))
    values.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      names.append(try text())
      values.append(try value(depth: depth))
    }
    return MapValue(names: names, values: values)
  }

  /// Reads a value.
  package mutating func value(depth: Int = 0) throws(FirestoreServiceError) -> Value {
    guard let tag = Tag(rawValue: try byte()) else { throw .damaged }
    switch tag {
    case .null: return .null
    case .no: return .boolean(false)
    case .yes: return .boolean(true)
    case .integer: return .integer(try int())
    case .double: return .double(Double(bitPattern: try fixed()))
    case .timestamp:
      let seconds = try int()
      guard let nanos = Int32(exactly: try count()) else { throw .damaged }
      return .timestamp(Timestamp(seconds: seconds, nanos: nanos))
    case .string: return .string(try text())
    case .bytes: return .bytes(try blob())
    case .reference: return .reference(try text())
    case .geoPoint:
      let latitude = Double(bitPattern: try fixed())
      return .geoPoint(GeoPoint(latitude: latitude, longitude: Double(bitPattern: try fixed())))
    case .array:
      let count = try count()
      guard depth <= RowReader.maximumDepth, count >= 0 else { throw .damaged }
      var values: [Value] = []
      for _ in 0..<count { values.append(try value(depth: depth + 1)) }
      return .array(values)
    case .map: return .map(try map(depth: depth + 1))
    }
  }
}
