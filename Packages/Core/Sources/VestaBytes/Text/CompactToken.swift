/// A token of three parts in base64url with dots between them, as a JSON Web Token is (RFC 7515, section 3.1).
public enum CompactToken {
  /// The bytes of the second part, the claims: read, and not verified.
  ///
  /// - Throws: `BytesError` with `.malformed` when the token has not three parts, or the second is no base64url.
  public static func payload(of token: some StringProtocol) throws(BytesError) -> [UInt8] {
    let parts = Array(token.utf8).split(
      separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("token: it has not three parts") }
    return try Base64.url.decode(utf8: parts[1])
  }
}
