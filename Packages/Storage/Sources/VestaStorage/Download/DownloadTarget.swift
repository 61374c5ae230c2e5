import Foundation
import VestaBytes
import VestaConcurrency
import VestaStorageBackend

/// The target of the bytes of a download.
protocol DownloadTarget: Sendable {
  /// The download begins.
  ///
  /// - Returns: What an earlier process has downloaded already; `nil` for nothing.
  /// - Throws: An error when the target cannot be one.
  func begin() async throws -> DownloadStart?

  /// The object is open: what is written next is of this generation.
  func opened(_ object: StorageObject)

  /// Takes the next bytes.
  func write(_ bytes: [UInt8]) throws

  /// Throws away what was taken.
  func restart() throws

  /// The download is complete.
  func finish() throws

  /// The download was given up.
  func discard()
}

/// The first bytes of an object, from an earlier process.
struct DownloadStart: Sendable, Equatable {
  let generation: Int64
  let length: Int64
  let checksum: CRC32C
}

/// Collects a download in memory.
final class MemoryTarget: DownloadTarget {
  private let content = Locked(Data())

  func begin() -> DownloadStart? { nil }
  func opened(_ object: StorageObject) {}
  func write(_ bytes: [UInt8]) { content.withLock { $0.append(contentsOf: bytes) } }
  func restart() { content.withLock { $0 = Data() } }
  func finish() {}
  func discard() { content.withLock { $0 = Data() } }

  /// The downloaded bytes.
  var data: Data { content.withLock { $0 } }
}
