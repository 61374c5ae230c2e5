/// Writes values as a key whose byte order is the order of the values.
///
/// Keys compare element by element, as the values do, each in its direction; a key sorts before the longer ones that
/// begin with its elements. The elements at one position of the keys of one kind must always have the same direction.
///
/// ```swift
/// var key = KeyEncoder()
/// key.append(string: "rooms")
/// key.append(int: createdAt, .descending)
/// try await transaction.put(value, for: key.bytes)
///
/// let rooms = KeyEncoder(.string("rooms")).range   // every key of which the first element is "rooms"
/// ```
///
/// Appending allocates nothing but what the key itself needs; an encoder can be copied to continue from a common
/// beginning.
public struct KeyEncoder: Sendable, Hashable, CustomStringConvertible {
  /// The key so far.
  public private(set) var bytes: [UInt8]

  /// An empty key.
  ///
  /// - Parameter capacity: How many bytes to make room for.
  public init(reserving capacity: Int = 64) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// A key of elements in ascending direction.
  ///
  /// - Parameter elements: The elements in order.
  public init(_ elements: KeyElement...) {
    self.init()
    for element in elements { append(element) }
  }

  /// A key that continues bytes that an encoder wrote before, or from a fixed prefix of the caller's.
  ///
  /// - Parameter prefix: The bytes to begin with.
  public init(continuing prefix: [UInt8]) { bytes = prefix }

  /// The keys that begin with the elements written so far, the key of exactly these among them.
  public var range: KeyRange { KeyRange(prefix: bytes) }

  /// Appends null.
  ///
  /// - Parameter direction: Which way this element is ordered.
  public mutating func appendNull(_ direction: KeyDirection = .ascending) {
    append(tag: KeyFormat.null, direction)
  }

  /// Appends a boolean.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - direction: Which way this element is ordered.
  public mutating func append(bool value: Bool, _ direction: KeyDirection = .ascending) {
    append(tag: value ? KeyFormat.yes : KeyFormat.no, direction)
  }

  /// Appends an integer, in one to nine bytes.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - direction: Which way this element is ordered.
  public mutating func append(int value: Int64, _ direction: KeyDirection = .ascending) {
    let length = (71 - value.magnitude.leadingZeroBitCount) / 8
    let tag = value < 0 ? KeyFormat.zero - UInt8(length) : KeyFormat.zero + UInt8(length)
    append(tag: tag, direction)
    append(low: length, of: value < 0 ? ~value.magnitude : value.magnitude, direction)
  }

  /// Appends a floating-point number, in nine bytes.
  ///
  /// - Parameters:
  ///   - value: The value; NaN sorts below all others, and `-0.0` is written as `0.0`.
  ///   - direction: Which way this element is ordered.
  public mutating func append(double value: Double, _ direction: KeyDirection = .ascending) {
    append(tag: KeyFormat.double, direction)
    append(low: 8, of: OrderedDouble.bits(of: value), direction)
  }

  /// Appends a string, ordered by its UTF-8 bytes.
  ///
  /// - Parameters:
  ///   - value: The string.
  ///   - direction: Which way this element is ordered.
  public mutating func append(string value: String, _ direction: KeyDirection = .ascending) {
    append(tag: KeyFormat.string, direction)
    var value = value
    // Unsafe pointer, used inside the closure only: it is the one way to append UTF-8 without going byte by byte.
    value.withUTF8 { append(escaping: $0, direction) }
  }

  /// Appends bytes.
  ///
  /// - Parameters:
  ///   - value: The bytes.
  ///   - direction: Which way this element is ordered.
  public mutating func append(bytes value: [UInt8], _ direction: KeyDirection = .ascending) {
    append(tag: KeyFormat.bytes, direction)
    // Unsafe pointer, used inside the closure only: the same appending serves strings.
    value.withUnsafeBufferPointer { append(escaping: $0, direction) }
  }

  /// Appends a value of any type.
  ///
  /// - Parameters:
  ///   - element: The value.
  ///   - direction: Which way this element is ordered.
  public mutating func append(_ element: KeyElement, _ direction: KeyDirection = .ascending) {
    switch element {
    case .null: appendNull(direction)
    case .bool(let value): append(bool: value, direction)
    case .int(let value): append(int: value, direction)
    case .double(let value): append(double: value, direction)
    case .string(let value): append(string: value, direction)
    case .bytes(let value): append(bytes: value, direction)
    }
  }

  /// The key so far in readable form, as `KeyPrinter` writes it.
  public var description: String { KeyPrinter.text(for: bytes) }

  private mutating func append(tag: UInt8, _ direction: KeyDirection) {
    bytes.append(direction == .ascending ? tag : ~tag)
  }

  /// Appends the low bytes of a number, the highest of them first.
  private mutating func append(low count: Int, of number: UInt64, _ direction: KeyDirection) {
    let number = direction == .ascending ? number : ~number
    var shift = count * 8
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
  }

  /// Appends bytes with their zeros escaped, and the end.
  private mutating func append(escaping source: UnsafeBufferPointer<UInt8>, _ direction: KeyDirection) {
    let start = bytes.count
    OrderedBytes.append(escaping: source, to: &bytes)
    OrderedBytes.appendEnd(to: &bytes)
    guard direction == .descending else { return }
    for index in start..<bytes.count { bytes[index] = ~bytes[index] }
  }
}
