extension HTTPFields {
  /// The index of the first field with the name, from an index on.
  func index(of name: HTTPFieldName, from start: Int = 0) -> Int? {
    guard start < spans.count else { return nil }
    var wanted = name.lowercased
    // Unsafe pointers, used inside the closures only: names are compared where they lie.
    return wanted.withUTF8 { wanted in
      buffer.withUnsafeBufferPointer { bytes in
        var index = start
        while index < spans.count {
          let span = spans[index]
          if Int(span.nameCount) == wanted.count, Self.matches(bytes, Int(span.nameStart), wanted) { return index }
          index += 1
        }
        return nil
      }
    }
  }

  /// Calls the closure with the bytes of each field, in order; for transports, which write them without making strings.
  ///
  /// - Parameter body: Takes the name and the value; the buffers are valid during the call only.
  @inlinable
  public func withEachField(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
    buffer.withUnsafeBytes { bytes in
      for span in spans {
        let (name, value) = (Int(span.nameStart), Int(span.valueStart))
        body(
          UnsafeRawBufferPointer(rebasing: bytes[name..<name + Int(span.nameCount)]),
          UnsafeRawBufferPointer(rebasing: bytes[value..<value + Int(span.valueCount)]))
      }
    }
  }

  private static func matches(
    _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ wanted: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    for offset in 0..<wanted.count where lowercase(bytes[start + offset]) != wanted[offset] { return false }
    return true
  }

  static func lowercase(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 32 : byte }
}

/// One field: a name as it was sent, and its value.
public struct HTTPField: Sendable, Hashable {
  /// The name as it was sent.
  public var name: String
  /// The value.
  public var value: String

  /// A field.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension HTTPFields: Sequence, Hashable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  /// Fields in the order of the literal.
  public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
    self.init()
    for (name, value) in elements { append(name, value) }
  }

  /// The fields in order.
  public func makeIterator() -> AnyIterator<HTTPField> {
    var index = 0
    return AnyIterator {
      guard index < spans.count else { return nil }
      defer { index += 1 }
      return HTTPField(name: name(at: index), value: value(at: index))
    }
  }

  /// Whether both have the same fields in the same order; names are compared without regard to case.
  public static func == (left: HTTPFields, right: HTTPFields) -> Bool {
    guard left.count == right.count else { return false }
    return left.spans.indices.allSatisfy { index in
      left.name(at: index).lowercased() == right.name(at: index).lowercased()
        && left.value(at: index) == right.value(at: index)
    }
  }

  /// Feeds names in lower case, and values.
  public func hash(into hasher: inout Hasher) {
    for field in self {
      hasher.combine(field.name.lowercased())
      hasher.combine(field.value)
    }
  }

  /// One line for each field; the values of fields that carry secrets are left out.
  public var description: String {
    map { field in
      let isSecret = ["authorization", "cookie", "set-cookie", "proxy-authorization"].contains(field.name.lowercased())
      return "\(field.name): \(isSecret ? "…" : field.value)"
    }.joined(separator: "\n")
  }
}
