import Foundation
import VestaConcurrency
import VestaFiles
import VestaStorageBackend

/// The downloads to files that are under way, kept so that they go on after the process was killed.
struct DownloadBook: Sendable {
  struct Entry: Codable, Sendable, Equatable {
    let bucket: String
    let object: String
    let target: String
    /// The file beside the target.
    let temporary: String
    let generation: Int64
    let size: Int64
    /// Seconds since 1970.
    let begun: Int64

    var key: String { DownloadBook.key(StorageLocation(bucket: bucket, path: object), target) }
  }

  /// The time for which a download that nobody continues is kept: a week.
  static let lifetime: Int64 = 7 * 24 * 3600

  private let book: TransferBook<Entry>
  private let now: @Sendable () -> Int64

  init(directory: URL, now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }) {
    book = TransferBook(directory: directory, fileExtension: "download")
    self.now = now
  }

  var directory: URL { book.directory }

  static func key(_ location: StorageLocation, _ target: String) -> String { "\(location.gsURL)\u{0}\(target)" }

  func claim(_ key: String) -> Bool { book.claim(key) }
  func release(_ key: String) { book.release(key) }
  func forget(_ key: String) { book.forget(key) }

  /// The entry of a download of the same object to the same file.
  func entry(_ location: StorageLocation, _ target: String) -> Entry? {
    let key = Self.key(location, target)
    guard let entry = book.entry(key), entry.key == key else { return nil }
    return entry
  }

  func remember(_ location: StorageLocation, _ target: String, temporary: String, _ object: StorageObject) {
    removeOld()
    let entry = Entry(
      bucket: location.bucket, object: location.path, target: target, temporary: temporary,
      generation: object.generation, size: object.size, begun: now())
    book.remember(entry, as: entry.key)
  }

  /// Removes the downloads that nobody has continued for long, and their files.
  private func removeOld() {
    let limit = now() - Self.lifetime
    for entry in book.entries() where entry.begun < limit && !book.isClaimed(entry.key) {
      if let file = try? FileBeside(continuing: entry.temporary, target: entry.target) { file.discard() }
      book.forget(entry.key)
    }
  }
}
