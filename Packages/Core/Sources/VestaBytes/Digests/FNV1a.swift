/// The 64-bit FNV-1a hash: short names for long strings.
///
/// Equal strings have equal hashes in every process and version, unlike `Hasher`. Two strings can have one hash, and
/// a peer that chooses the strings can produce one.
public enum FNV1a {
  /// The usual start value.
  public static let start: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The hash of a string's UTF-8.
  ///
  /// - Parameters:
  ///   - text: The string.
  ///   - start: The start value; another one makes an independent hash.
  public static func hash(_ text: String, start: UInt64 = start) -> UInt64 {
    text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
