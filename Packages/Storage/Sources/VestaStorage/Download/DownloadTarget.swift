import Foundation
import VestaBytes
import VestaConcurrency
import VestaStorageBackend

/// The target of the bytes of a download.
///
/// One attempt after the other writes to it, until ``publish()`` or ``discard()`` ends it for good: calls after that
/// throw, and nothing is opened again.
protocol DownloadTarget: Sendable {
  /// The download begins. An attempt that is stopped leaves the call to the next one.
  ///
  /// - Returns: The download of an earlier process; `nil` for none.
  /// - Throws: An error when the target cannot be one.
  func prepare() async throws -> DownloadStart?

  /// The object is open: the next bytes are of this generation.
  func opened(_ object: StorageObject)

  /// Takes the bytes at an offset, which is the number of bytes that it has.
  func write(_ bytes: [UInt8], at offset: Int64) throws

  /// Throws away what was taken.
  func restart() throws

  /// Reads what the target has.
  ///
  /// - Parameters:
  ///   - object: The object that it should be.
  ///   - known: The checksum of the bytes that were written, if one attempt wrote all of them.
  /// - Returns: Whether it is the whole object.
  func check(_ object: StorageObject, known: UInt32?) async throws -> Bool

  /// Gives the content its place. Only the attempt that may publish calls it, once.
  func publish() throws

  /// The download was given up.
  func discard()
}

/// The first bytes of an object, from an earlier process.
struct DownloadStart: Sendable, Equatable {
  let generation: Int64
  let length: Int64
}

/// Collects a download in memory.
final class MemoryTarget: DownloadTarget {
  private struct State {
    var content = Data()
    var isDiscarded = false
  }

  private let state = Locked(State())

  func prepare() -> DownloadStart? { nil }
  func opened(_ object: StorageObject) {}

  func write(_ bytes: [UInt8], at offset: Int64) throws {
    try state.withLock { state in
      guard !state.isDiscarded else { throw CancellationError() }
      guard Int64(state.content.count) == offset else { throw DownloadMachine.misplaced(state.content.count, offset) }
      state.content.append(contentsOf: bytes)
    }
  }

  func restart() { state.withLock { $0.content = Data() } }

  func check(_ object: StorageObject, known: UInt32?) -> Bool {
    let content = state.withLock { $0.content }
    guard Int64(content.count) == object.size else { return false }
    if let known { return known == object.crc32c }
    var checksum = CRC32C()
    checksum.update(Array(content))
    return checksum.value == object.crc32c
  }

  func publish() {}

  func discard() { state.withLock { $0 = State(isDiscarded: true) } }

  /// The downloaded bytes.
  var data: Data { state.withLock { $0.content } }
}
