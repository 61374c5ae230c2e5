/// The bounds that a reader of JSON keeps to.
public struct JSONLimits: Sendable, Hashable {
  /// How many objects and arrays may be nested.
  public var maximumDepth: Int
  /// The largest size of the document, in bytes.
  public var maximumSize: Int

  /// Bounds.
  ///
  /// - Parameters:
  ///   - maximumDepth: How many objects and arrays may be nested; 512 at most, so that no stack overflows.
  ///   - maximumSize: The largest size of the document, in bytes.
  public init(maximumDepth: Int = 32, maximumSize: Int = 1 << 24) {
    self.maximumDepth = min(maximumDepth, 512)
    self.maximumSize = maximumSize
  }
}

extension JSONValue {
  /// Reads one JSON value (RFC 8259), with nothing after it but white space.
  ///
  /// Refused, beyond what the grammar forbids: a name that occurs twice in one object (two readers could see different
  /// values), bytes that are not UTF-8, and numbers that no `Double` holds. Half of a surrogate pair is U+FFFD.
  ///
  /// - Parameters:
  ///   - json: UTF-8.
  ///   - limits: The bounds on depth and size.
  /// - Throws: ``BytesError`` with `.malformed` or `.limitExceeded`.
  public init(json: [UInt8], limits: JSONLimits = JSONLimits()) throws(BytesError) {
    self = try JSONReader.read(json[...], limits: limits)
  }

  /// Reads one JSON value from a string.
  public init(json: String, limits: JSONLimits = JSONLimits()) throws(BytesError) {
    self = try JSONReader.read(Array(json.utf8)[...], limits: limits)
  }

  /// The value as JSON without spaces, members in their order.
  ///
  /// - Parameter maximumDepth: How many objects and arrays may be nested; 512 at most.
  /// - Throws: ``BytesError`` with `.invalidValue` for a number that is not finite, `.limitExceeded` for more levels.
  public func json(maximumDepth: Int = 512) throws(BytesError) -> [UInt8] {
    try JSONWriter.write(self, maximumDepth: min(maximumDepth, 512))
  }
}

extension JSONObject {
  /// Reads a JSON object, by the rules of `JSONValue.init(json:limits:)`.
  ///
  /// - Throws: ``BytesError`` with `.malformed`, also for a value that is not an object, or `.limitExceeded`.
  public init(json: [UInt8], limits: JSONLimits = JSONLimits()) throws(BytesError) {
    guard case .object(let object) = try JSONReader.read(json[...], limits: limits) else {
      throw .malformed("JSON: the value is not an object")
    }
    self = object
  }

  /// The object as JSON without spaces, members in their order.
  ///
  /// - Parameter maximumDepth: How many objects and arrays may be nested; 512 at most.
  /// - Throws: ``BytesError`` with `.invalidValue` for a number that is not finite, `.limitExceeded` for more levels.
  public func json(maximumDepth: Int = 512) throws(BytesError) -> [UInt8] {
    try JSONWriter.write(.object(self), maximumDepth: min(maximumDepth, 512))
  }
}
