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
  private let file: OpenFile
  private let path: String

  /// Opens a regular file.
  init(path: String) throws(FileFailure) {
    self.path = path
    file = try OpenFile(reading: path)
    do {
      identity = try file.identity()
    } catch {
      file.close()
      throw error
    }
    guard identity.isRegular else {
      file.close()
      throw FileFailure.notAFile(path)
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
