/// The fields of a head or of trailers: they keep their order, and names are compared without regard to case.
///
/// All names and values lie in one buffer, so that a parsed head costs two allocations however many fields it has, and
/// copies share them. Strings are made when they are asked for.
///
/// A value never contains CR, LF or NUL: where one is given, a space stands in its place, so that no value can end its
/// line and begin another (RFC 9110, section 5.5).
///
/// ```swift
/// var fields: HTTPFields = [.contentType: "text/plain"]
/// fields.append("set-cookie", "a=1")
/// fields["Content-Type"]   // "text/plain"
/// ```
public struct HTTPFields: Sendable {
  /// The place of one field in the buffer.
  @frozen
  public struct Span: Sendable, Hashable {
    /// The offset of the name.
    public var nameStart: UInt32
    /// The number of bytes of the name.
    public var nameCount: UInt32
    /// The offset of the value.
    public var valueStart: UInt32
    /// The number of bytes of the value.
    public var valueCount: UInt32

    /// A place.
    @inlinable
    public init(nameStart: Int, nameCount: Int, valueStart: Int, valueCount: Int) {
      self.nameStart = UInt32(truncatingIfNeeded: nameStart)
      self.nameCount = UInt32(truncatingIfNeeded: nameCount)
      self.valueStart = UInt32(truncatingIfNeeded: valueStart)
      self.valueCount = UInt32(truncatingIfNeeded: valueCount)
    }
  }

  /// The buffer with all names and values; other bytes may lie between them.
  @usableFromInline private(set) var buffer: [UInt8]

  /// The places of the fields, in order.
  @usableFromInline private(set) var spans: [Span]

  /// No fields.
  public init() {
    buffer = []
    spans = []
  }

  /// The fields of a head that a transport has parsed: nothing is copied or checked again.
  ///
  /// - Parameters:
  ///   - buffer: The bytes of the head.
  ///   - spans: The place of each field in it, in order; one that lies outside of the buffer is left out. Names are
  ///     tokens, values contain no CR, LF or NUL.
  public init(buffer: [UInt8], spans: [Span]) {
    self.buffer = buffer
    let end = UInt64(buffer.count)
    let isInside = spans.allSatisfy { span in
      UInt64(span.nameStart) + UInt64(span.nameCount) <= end && UInt64(span.valueStart) + UInt64(span.valueCount) <= end
    }
    self.spans = isInside ? spans : []
  }

  /// The number of fields.
  public var count: Int { spans.count }

  /// Whether there are none.
  public var isEmpty: Bool { spans.isEmpty }

  /// The number of bytes of all names and values.
  public var byteCount: Int { spans.reduce(0) { $0 + Int($1.nameCount) + Int($1.valueCount) } }

  /// Adds a field after all others.
  ///
  /// - Parameters:
  ///   - name: The name; a field whose name is no token is left out, as it could not be sent.
  ///   - value: The value; each CR, LF and NUL in it becomes a space, and spaces around it are left out.
  public mutating func append(_ name: HTTPFieldName, _ value: String) {
    guard HTTPFieldName.isToken(name.lowercased) else { return }
    let start = buffer.count
    buffer.append(contentsOf: name.lowercased.utf8)
    let middle = buffer.count
    for byte in value.utf8 { buffer.append(byte == 13 || byte == 10 || byte == 0 ? 32 : byte) }
    var (first, last) = (middle, buffer.count)
    while first < last, buffer[first] == 32 || buffer[first] == 9 { first += 1 }
    while last > first, buffer[last - 1] == 32 || buffer[last - 1] == 9 { last -= 1 }
    spans.append(Span(nameStart: start, nameCount: middle - start, valueStart: first, valueCount: last - first))
  }

  /// Removes all fields with the name.
  public mutating func remove(_ name: HTTPFieldName) {
    while let index = index(of: name) { spans.remove(at: index) }
  }

  /// Puts one field in the place of all that have the name.
  public mutating func set(_ name: HTTPFieldName, _ value: String) {
    remove(name)
    append(name, value)
  }

  /// Whether there is a field with the name.
  public func contains(_ name: HTTPFieldName) -> Bool { index(of: name) != nil }

  /// The value of the first field with the name.
  public func first(_ name: HTTPFieldName) -> String? { index(of: name).map { value(at: $0) } }

  /// The values of all fields with the name, in order.
  public func values(_ name: HTTPFieldName) -> [String] {
    var values: [String] = []
    var next = index(of: name)
    while let index = next {
      values.append(value(at: index))
      next = self.index(of: name, from: index + 1)
    }
    return values
  }

  /// The value of the field; several values are joined by a comma, as HTTP says that they mean the same.
  ///
  /// Setting replaces all fields with the name; setting `nil` removes them.
  public subscript(name: HTTPFieldName) -> String? {
    get {
      guard let index = index(of: name) else { return nil }
      if self.index(of: name, from: index + 1) == nil { return value(at: index) }
      return values(name).joined(separator: ", ")
    }
    set {
      remove(name)
      if let newValue { append(name, newValue) }
    }
  }

  /// Adds all fields of others after these.
  public mutating func append(contentsOf others: HTTPFields) {
    others.withEachField { name, value in
      guard !name.isEmpty, name.allSatisfy(HTTPFieldName.isTokenByte) else { return }
      let start = buffer.count
      for byte in name { buffer.append(Self.lowercase(byte)) }
      for byte in value { buffer.append(byte == 13 || byte == 10 || byte == 0 ? 32 : byte) }
      spans.append(
        Span(nameStart: start, nameCount: name.count, valueStart: start + name.count, valueCount: value.count))
    }
  }

  /// Whether the first field with the name has a value that a closure accepts, without a string of it.
  func hasFirst(_ name: HTTPFieldName, where isWanted: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
    guard let index = index(of: name) else { return false }
    let (start, count) = (Int(spans[index].valueStart), Int(spans[index].valueCount))
    // Unsafe pointer, used inside the closure only.
    return buffer.withUnsafeBufferPointer { isWanted(UnsafeBufferPointer(rebasing: $0[start..<start + count])) }
  }

  func name(at index: Int) -> String { text(spans[index].nameStart, spans[index].nameCount) }

  func value(at index: Int) -> String { text(spans[index].valueStart, spans[index].valueCount) }

  private func text(_ start: UInt32, _ count: UInt32) -> String {
    // Unsafe pointer, used inside the closure only: a string from contiguous bytes is made without a copy of the slice.
    buffer.withUnsafeBufferPointer { bytes in
      String(decoding: UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(start) + Int(count)]), as: UTF8.self)
    }
  }
}
