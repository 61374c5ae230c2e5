import VestaServiceInterop
import VestaStorageBackend

/// Whether content is what its sender said; pure.
enum ContentRules {
  /// Compares what is known of some content with what was expected.
  ///
  /// - Throws: `dataLoss` with what differs.
  static func check(_ expected: ContentDigest, size: Int64, crc32c: UInt32, md5: [UInt8]?) throws(StorageServiceError) {
    if let wanted = expected.size, wanted != size {
      throw mismatch("The content has \(size) bytes, and the sender said \(wanted).")
    }
    if let wanted = expected.crc32c, wanted != crc32c {
      throw mismatch("The CRC-32C checksum of the content is not the one that the sender computed.")
    }
    if let wanted = expected.md5, let md5, wanted != md5 {
      throw mismatch("The MD5 digest of the content is not the one that the sender computed.")
    }
  }

  private static func mismatch(_ message: String) -> StorageServiceError {
    StorageServiceError(.dataLoss, message, reason: .contentMismatch)
  }
}
