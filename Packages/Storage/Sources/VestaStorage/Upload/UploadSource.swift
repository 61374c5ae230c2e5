import Foundation
import VestaConcurrency

/// Where the bytes of an upload come from.
protocol UploadSource: Sendable {
  /// The length; `nil` when only the end will tell.
  var size: Int64? { get }

  /// Whether bytes can be read again.
  var isRepeatable: Bool { get }

  /// The bytes at an offset, the same ones at each call.
  ///
  /// A source that is not repeatable gives the bytes of the last call again, or those after them.
  ///
  /// - Returns: `length` bytes; fewer at the end.
  /// - Throws: An error when the content has changed since the upload began.
  func read(at offset: Int64, length: Int) async throws -> [UInt8]

  /// Checks at the end that the content has not changed meanwhile.
  func checkUnchanged() throws

  /// Frees what reading holds.
  func close()
}

/// Bytes in memory.
struct DataSource: UploadSource {
  let data: Data
  var size: Int64? { Int64(data.count) }
  var isRepeatable: Bool { true }

  func read(at offset: Int64, length: Int) -> [UInt8] {
    guard offset < Int64(data.count) else { return [] }
    return [UInt8](data.dropFirst(Int(offset)).prefix(length))
  }

  func checkUnchanged() {}
  func close() {}
}

/// A file, which must not change while it is uploaded.
final class FileSource: UploadSource {
  let identity: FileIdentity
  private let file: ReadableFile
  private let path: String

  /// Opens a regular file.
  init(path: String) throws(SystemFailure) {
    self.path = path
    file = try ReadableFile(path: path)
    do {
      identity = try file.identity()
    } catch {
      file.close()
      throw error
    }
    guard identity.isRegular else {
      file.close()
      throw SystemFailure(code: SystemFailure.notAFile)
    }
  }

  var size: Int64? { identity.size }
  var isRepeatable: Bool { true }

  func read(at offset: Int64, length: Int) throws -> [UInt8] {
    let wanted = Int(min(Int64(length), max(0, identity.size - offset)))
    let bytes = try file.read(at: offset, length: wanted)
    guard bytes.count == wanted else { throw changed }
    return bytes
  }

  func checkUnchanged() throws {
    guard try file.identity() == identity else { throw changed }
  }

  func close() { file.close() }

  private var changed: StorageError {
    .unknown(
      message: "The file \(path) changed while it was uploaded, and no object was stored. Upload it again.",
      serverError: [:])
  }
}

/// The bytes of an asynchronous sequence, of which the last chunk is kept to send it again.
final class SequenceSource: UploadSource {
  private struct State {
    var start: Int64 = 0
    var chunk: [UInt8] = []
    var isAtEnd = false
  }

  private let next: @Sendable () async throws -> [UInt8]?
  private let state = Locked(State())

  /// A source.
  ///
  /// - Parameter next: The next bytes, some or none; `nil` at the end. Called by one attempt at a time.
  init(next: @escaping @Sendable () async throws -> [UInt8]?) { self.next = next }

  var size: Int64? { nil }
  var isRepeatable: Bool { false }

  func read(at offset: Int64, length: Int) async throws -> [UInt8] {
    try drop(before: offset)
    while true {
      let (count, isAtEnd) = state.withLock { ($0.chunk.count, $0.isAtEnd) }
      if count >= length || isAtEnd { return state.withLock { Array($0.chunk.prefix(length)) } }
      let bytes = try await next()
      state.withLock { state in
        if let bytes { state.chunk += bytes } else { state.isAtEnd = true }
      }
    }
  }

  /// Forgets what has arrived.
  private func drop(before offset: Int64) throws {
    try state.withLock { state in
      guard offset >= state.start, offset <= state.start + Int64(state.chunk.count) else {
        throw StorageError.unknown(
          message: "The upload was interrupted and the sequence cannot be read again. Upload from a new sequence.",
          serverError: [:])
      }
      state.chunk.removeFirst(Int(offset - state.start))
      state.start = offset
    }
  }

  func checkUnchanged() {}
  func close() {}
}
