import VestaBytes

/// A value of CBOR (RFC 8949), as far as authenticators write it: of known length, and with keys that are values too.
indirect enum CBOR: Sendable, Equatable {
  case integer(Int64)
  case bytes([UInt8])
  case text(String)
  case array([CBOR])
  case map([Member])
  /// A truth value, a float, or nothing: no answer of an authenticator depends on one.
  case other

  struct Member: Sendable, Equatable {
    let key: CBOR
    let value: CBOR
  }

  /// The value of a key of a map; the first one where there are two.
  subscript(key: CBOR) -> CBOR? {
    guard case .map(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  var bytes: [UInt8]? {
    guard case .bytes(let bytes) = self else { return nil }
    return bytes
  }
}

/// Reads values of CBOR, one after another.
struct CBORReader {
  /// The deepest nesting of values that is read; authenticators nest them three deep.
  static let deepest = 8

  /// How many values are read, with the values in others.
  ///
  /// An authenticator writes some dozens; a megabyte of empty values would take many times that memory.
  static let most = 1_000

  private var left = Self.most
  private var reader: ByteReader

  init(_ bytes: ArraySlice<UInt8>) { reader = ByteReader(bytes) }

  /// The bytes that have not been read.
  var rest: ArraySlice<UInt8> { reader.rest }

  mutating func value(depth: Int = 0) throws(BytesError) -> CBOR {
    guard depth < Self.deepest else { throw BytesError(.limitExceeded, "CBOR: nested more than \(Self.deepest) deep") }
    guard left > 0 else { throw BytesError(.limitExceeded, "CBOR: more than \(Self.most) values") }
    left -= 1
    let head = try reader.byte()
    let detail = head & 0x1F
    switch head >> 5 {
    case 0: return .integer(try number(detail))
    case 1: return .integer(-1 - (try number(detail)))
    case 2: return .bytes(Array(try content(detail)))
    case 3: return .text(try text(detail))
    case 4: return .array(try list(detail, depth))
    case 5: return .map(try members(detail, depth))
    case 6:
      _ = try number(detail)
      return try value(depth: depth + 1)
    default: return try other(detail)
    }
  }

  /// The number of a head, or the one that follows it.
  private mutating func number(_ detail: UInt8) throws(BytesError) -> Int64 {
    guard detail >= 24 else { return Int64(detail) }
    guard detail <= 27 else { throw BytesError(.malformed, "CBOR: a value without a known length") }
    let number = try reader.raw(1 << (detail - 24)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let number = Int64(exactly: number) else { throw BytesError(.invalidValue, "CBOR: a number above 2^63") }
    return number
  }

  private mutating func content(_ detail: UInt8) throws(BytesError) -> ArraySlice<UInt8> {
    let count = try number(detail)
    guard count <= reader.rest.count else { throw BytesError(.malformed, "CBOR: \(count) bytes are not there") }
    return try reader.raw(Int(count))
  }

  private mutating func text(_ detail: UInt8) throws(BytesError) -> String {
    guard let text = String(validating: try content(detail), as: UTF8.self) else {
      throw BytesError(.malformed, "CBOR: a text is not UTF-8")
    }
    return text
  }

  private mutating func list(_ detail: UInt8, _ depth: Int) throws(BytesError) -> [CBOR] {
    var values: [CBOR] = []
    for _ in 0..<(try number(detail)) { values.append(try value(depth: depth + 1)) }
    return values
  }

  private mutating func members(_ detail: UInt8, _ depth: Int) throws(BytesError) -> [CBOR.Member] {
    var members: [CBOR.Member] = []
    for _ in 0..<(try number(detail)) {
      let key = try value(depth: depth + 1)
      members.append(CBOR.Member(key: key, value: try value(depth: depth + 1)))
    }
    return members
  }

  private mutating func other(_ detail: UInt8) throws(BytesError) -> CBOR {
    guard detail < 24 else {
      guard detail <= 27 else { throw BytesError(.malformed, "CBOR: a value without a known length") }
      _ = try reader.raw(1 << (detail - 24))
      return .other
    }
    return .other
  }
}
