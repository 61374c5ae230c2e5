public import VestaBytes

/// The parts of a signed URL that a server checks, in either form that Google's libraries make.
///
/// | form | parameters |
/// |---|---|
/// | V4 | `X-Goog-Algorithm`, `X-Goog-Credential`, `X-Goog-Date`, `X-Goog-Expires`, `X-Goog-SignedHeaders`, `X-Goog-Signature` |
/// | V2 | `GoogleAccessId`, `Expires`, `Signature` |
public struct SignedURL: Sendable, Hashable {
  /// The first second from which it is valid, since 1970; `nil` where it does not say.
  public var start: Int64?

  /// The first second at which it is no longer valid, since 1970.
  public var end: Int64

  /// The longest time for which a URL of the fourth form is valid: seven days.
  public static let longestTime: Int64 = 604_800

  /// Reads the query of a request; `nil` for a URL that is not signed.
  ///
  /// - Throws: `BytesError` with `.malformed` for a signed URL with a part that is missing or wrong.
  public init?(query: String) throws(BytesError) {
    let fields = try FormFields(query, plusIsSpace: false)
    if fields["X-Goog-Signature"] != nil || fields["X-Goog-Algorithm"] != nil {
      let (start, end) = try Self.times(ofVersion4: fields)
      (self.start, self.end) = (start, end)
    } else if fields["Signature"] != nil || fields["GoogleAccessId"] != nil {
      (start, end) = (nil, try Self.end(ofVersion2: fields))
    } else {
      return nil
    }
  }

  private static func times(ofVersion4 fields: FormFields) throws(BytesError) -> (start: Int64, end: Int64) {
    for name in ["X-Goog-Credential", "X-Goog-SignedHeaders", "X-Goog-Signature"] { _ = try value(name, fields) }
    guard ["GOOG4-RSA-SHA256", "GOOG4-HMAC-SHA256"].contains(try value("X-Goog-Algorithm", fields)) else {
      throw BytesError(.malformed, "The signed URL has an unknown X-Goog-Algorithm.")
    }
    guard let start = seconds(try value("X-Goog-Date", fields)) else {
      throw BytesError(.malformed, "The signed URL has an X-Goog-Date that is no time.")
    }
    guard let time = Int64(try value("X-Goog-Expires", fields)), (1...longestTime).contains(time) else {
      throw BytesError(.malformed, "X-Goog-Expires is a number of seconds, up to seven days.")
    }
    return (start, start + time)
  }

  private static func end(ofVersion2 fields: FormFields) throws(BytesError) -> Int64 {
    for name in ["GoogleAccessId", "Signature"] { _ = try value(name, fields) }
    guard let end = Int64(try value("Expires", fields)) else {
      throw BytesError(.malformed, "The signed URL has an Expires that is no time.")
    }
    return end
  }

  private static func value(_ name: String, _ fields: FormFields) throws(BytesError) -> String {
    guard let value = fields[name], !value.isEmpty else {
      throw BytesError(.malformed, "The signed URL has no \(name).")
    }
    return value
  }

  /// Whether it is valid at a time.
  ///
  /// - Parameter seconds: The time since 1970. A clock that is 15 minutes behind the signer's is believed.
  public func isValid(at seconds: Int64) -> Bool { seconds < end && start.map { seconds >= $0 - 900 } ?? true }

  /// Reads `20240203T040506Z`.
  private static func seconds(_ text: String) -> Int64? {
    let digits = Array(text.utf8)
    guard digits.count == 16, digits[8] == UInt8(ascii: "T"), digits[15] == UInt8(ascii: "Z") else { return nil }
    func part(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
    let time = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
    return RFC3339.parse(time)?.seconds
  }
}
