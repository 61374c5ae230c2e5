import VestaBytes

/// The percentile of an instance: the same for the same seed and id, independent between seeds.
///
/// The number is the SHA-256 digest of `seed.id`, or of the id alone without a seed, as a big-endian number modulo
/// 100 million: 0 up to, and without, 100 percent in millionths of a percent. It is how Firebase's server SDKs compute
/// it.
public enum Percentile {
  /// The percentile in millionths of a percent.
  ///
  /// - Parameters:
  ///   - seed: The seed of the condition; empty for none.
  ///   - id: The id of the instance.
  public static func micro(seed: String, id: String) -> Int {
    let text = seed.isEmpty ? Array(id.utf8) : Array(seed.utf8) + [UInt8(ascii: ".")] + Array(id.utf8)
    // The remainder is below 2^27, so that the next word fits.
    return Int(SHA256.words(text).reduce(0 as UInt64) { ($0 << 32 | UInt64($1)) % 100_000_000 })
  }
}
