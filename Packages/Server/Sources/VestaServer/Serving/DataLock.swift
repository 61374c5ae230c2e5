import VestaFiles

/// The lock on a directory of data while a server uses it.
///
/// Each store has a lock too, which is taken when the store is first used: without this one, two servers of a directory
/// would start, and share it product by product.
struct DataLock: Sendable {
  /// The name of the file, which no project's folder can have.
  private static let name = "(server).lock"

  private let file: OpenFile

  /// Locks the directory of a server's settings; the system releases the lock when the process ends.
  ///
  /// - Returns: `nil` for data in memory, and in PostgreSQL, which several servers share.
  /// - Throws: ``ServerError`` while another server has the directory, and where it cannot be written to.
  static func take(_ settings: ServerSettings) throws(ServerError) -> DataLock? {
    guard let data = settings.data, settings.postgres == nil else { return nil }
    do throws(FileFailure) {
      let file = try OpenFile(writing: "\(data)/\(name)", .ifMissing)
      guard try file.lockIfFree() else { throw FileFailure.locked(data) }
      return DataLock(file: file)
    } catch {
      throw ServerError(error.isLocked ? refusal(of: data) : "The directory \(data) cannot be written to: \(error)")
    }
  }

  /// Whether a server uses the directory.
  static func isTaken(_ data: String) -> Bool {
    guard let file = try? OpenFile(writing: "\(data)/\(name)", .never) else { return false }
    defer { file.close() }
    return (try? file.lockIfFree()) == false
  }

  /// The sentence about a directory that another server has.
  static func refusal(of data: String) -> String {
    "Another server uses the data in \(data). Stop it, or name another directory with --data."
  }

  /// Lets another server use the directory.
  func release() { file.close() }
}
