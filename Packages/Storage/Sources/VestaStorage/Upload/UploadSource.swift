import Foundation
import VestaFiles

/// The source of the bytes of an upload.
protocol UploadSource: Sendable {
  /// The length; `nil` when it is not known before the end.
  var size: Int64? { get }

  /// Whether bytes can be read again.
  var isRepeatable: Bool { get }

  /// The bytes at an offset, the same ones at each call.
  ///
  /// A source that is not repeatable returns the bytes of the last call again, or the bytes after them.
  ///
  /// - Returns: `length` bytes; fewer at the end.
  /// - Throws: An error when the content has changed since the upload began.
  func read(at offset: Int64, length: Int) async throws -> [UInt8]

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

  func close() {}
}

/// A file, which must not change while it is uploaded.
final class FileSource: UploadSource {
  /// A file as it was when it was opened.
  struct Version: Sendable, Equatable {
    let identity: FileIdentity
    /// The time of the last change of any kind, in nanoseconds since 1970.
    let statusTime: Int64
  }

  let version: Version
  private let file: OpenFile
  private let path: String

  /// Opens a regular file.
  init(path: String) throws(FileFailure) {
    self.path = path
    file = try OpenFile(reading: path)
    do {
      version = Version(identity: try file.identity(), statusTime: try file.statusTime())
    } catch {
      file.close()
      throw error
    }
    guard version.identity.isRegular else {
      file.close()
      throw FileFailure.notAFile(path)
    }
  }

  var identity: FileIdentity { version.identity }
  var size: Int64? { identity.size }
  var isRepeatable: Bool { true }

  func read(at offset: Int64, length: Int) throws -> [UInt8] {
    let wanted = Int(min(Int64(length), max(0, identity.size - offset)))
    let bytes = try file.read(at: offset, length: wanted)
    guard bytes.count == wanted else { throw changed }
    return bytes
  }

  /// Whether something about the file has changed since a version of it, which may be its content.
  ///
  /// - Throws: An error when the content has changed.
  func isTouched(since version: Version?) throws -> Bool {
    guard try file.identity() == identity else { throw changed }
    return try file.statusTime() != (version ?? self.version).statusTime
  }

  func close() { file.close() }

  var changed: StorageError {
    .unknown(
      message: "The file \(path) changed while it was uploaded, and no object was stored. Upload it again.",
      serverError: [:])
  }
}
