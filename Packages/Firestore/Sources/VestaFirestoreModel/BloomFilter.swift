package import VestaFirestoreBackend

/// A set of names that takes few bits: a member is always found, another name is rarely found.
///
/// `BloomFilterMessage` says which bits a name sets. The digest is the caller's: it must be MD5 for the filter to
/// mean the same to others.
package struct BloomFilter: Sendable {
  /// Gives the sixteen bytes of the MD5 digest of bytes.
  package typealias Digest = @Sendable ([UInt8]) -> [UInt8]

  /// The filter as the wire has it.
  package private(set) var message: BloomFilterMessage

  private let digest: Digest
  private let bitCount: UInt64

  /// A filter that was received over the wire.
  ///
  /// - Throws: `INVALID_ARGUMENT` when padding and number of hashes do not go with the bitmap.
  package init(_ message: BloomFilterMessage, digest: @escaping Digest) throws(FirestoreServiceError) {
    guard (0..<8).contains(message.padding) else { throw .invalid("Invalid padding: \(message.padding)") }
    guard message.hashCount >= 0 else { throw .invalid("Invalid hash count: \(message.hashCount)") }
    if message.bitmap.isEmpty {
      guard message.padding == 0 else { throw .invalid("Invalid padding when bitmap length is 0: \(message.padding)") }
    } else if message.hashCount == 0 {
      throw .invalid("Invalid hash count: 0")
    }
    self.message = message
    self.digest = digest
    bitCount = UInt64(message.bitmap.count * 8) - UInt64(message.padding)
  }

  /// An empty filter for a number of names.
  ///
  /// - Parameters:
  ///   - count: How many names there will be.
  ///   - falsePositives: The share of other names that may be found, between 0 and 1.
  ///   - digest: MD5.
  package init(expecting count: Int, falsePositives: Double = 0.01, digest: @escaping Digest) {
    // The usual optimum: bits per name -log2(p) / ln 2, and as many hashes as bits per name times ln 2.
    let bitsPerName = BloomFilter.bitsPerName(falsePositives: falsePositives)
    let bits = count == 0 ? 0 : max(8, Int((Double(count) * bitsPerName).rounded(.up)))
    let bytes = (bits + 7) / 8
    let hashes = count == 0 ? 0 : max(1, Int32((bitsPerName * 0.693_147_180_559_945_3).rounded()))
    message = BloomFilterMessage(
      bitmap: Array(repeating: 0, count: bytes), padding: Int32(bytes * 8 - bits), hashCount: hashes
    )
    self.digest = digest
    bitCount = UInt64(bits)
  }

  /// Adds a name.
  package mutating func insert(_ name: String) {
    for bit in bits(of: name) { message.bitmap[bit / 8] |= 1 << UInt8(bit % 8) }
  }

  /// Whether a name may have been added.
  package func mayContain(_ name: String) -> Bool {
    bitCount > 0 && bits(of: name).allSatisfy { message.bitmap[$0 / 8] & 1 << UInt8($0 % 8) != 0 }
  }

  private func bits(of name: String) -> [Int] {
    let bytes = digest(Array(name.utf8))
    guard bitCount > 0, bytes.count == 16 else { return [] }
    let (first, second) = (BloomFilter.number(bytes[..<8]), BloomFilter.number(bytes[8...]))
    return (0..<UInt64(message.hashCount)).map { Int((first &+ $0 &* second) % bitCount) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// -log2(p) / ln 2, by halving p.
  private static func bitsPerName(falsePositives: Double) -> Double {
    var rest = min(max(falsePositives, 1e-9), 0.999)
    var log = 0.0
    while rest < 0.5 {
      rest *= 2
      log += 1
    }
    // Between a half and one, a straight line is near enough: the result only sets a size.
    log += 2 * (1 - rest)
    return log / 0.693_147_180_559_945_3
  }
}
