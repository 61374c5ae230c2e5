import CVestaChecksum
import VestaCryptoInterop

extension OpenSSLCrypto {
  private static let isAccelerated = vesta_crc32c_is_accelerated()

  /// The CRC-32C checksum of a run of bytes, by hardware where there is any.
  public func crc32c(_ bytes: RawSpan, continuing checksum: UInt32) -> UInt32 {
    guard Self.isAccelerated else {
      var table = CRC32C(continuing: checksum)
      table.update(bytes)
      return table.value
    }
    return bytes.withUnsafeBytes { buffer in
      buffer.withMemoryRebound(to: UInt8.self) { bytes in
        vesta_crc32c_accelerated(checksum, bytes.baseAddress, bytes.count)
      }
    }
  }
}
