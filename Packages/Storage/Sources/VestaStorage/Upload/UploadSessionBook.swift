import Foundation
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaStorageBackend

/// The upload sessions of files, kept so that an upload continues after the process was killed.
struct UploadSessionBook: Sendable {
  struct Entry: Codable, Sendable, Equatable {
    var session: String
    let bucket: String
    let object: String
    let path: String
    let identity: FileIdentity
    let metadata: StorageMetadata.Settable

    init(
      session: String, location: StorageLocation, path: String, identity: FileIdentity, metadata: StorageMetadata
    ) {
      self.session = session
      bucket = location.bucket
      object = location.path
      self.path = path
      self.identity = identity
      self.metadata = metadata.fields.withLock { $0.settable }
    }

    var location: StorageLocation { StorageLocation(bucket: bucket, path: object) }
    var key: String { UploadSessionBook.key(location, path) }
  }

  private let book: TransferBook<Entry>

  init(directory: URL) { book = TransferBook(directory: directory, fileExtension: "upload") }

  var directory: URL { book.directory }

  static func key(_ location: StorageLocation, _ path: String) -> String { "\(location.gsURL)\u{0}\(path)" }

  /// Takes the file and the object for an upload; `false` when another one of the same has them.
  func claim(_ key: String) -> Bool { book.claim(key) }

  /// Releases a claim, and forgets the session if it is the claimant's.
  func release(_ key: String, _ session: UploadID?) {
    forget(key, session)
    book.release(key)
  }

  /// Forgets a session, unless the note is of another one.
  func forget(_ key: String, _ session: UploadID?) {
    if let session, book.entry(key)?.session == session.rawValue { book.forget(key) }
  }

  /// The session of the same file to the same object with the same metadata.
  func session(like wanted: Entry) -> UploadID? {
    guard var kept = book.entry(wanted.key) else { return nil }
    let session = kept.session
    kept.session = wanted.session
    return kept == wanted ? UploadID(rawValue: session) : nil
  }

  func remember(_ entry: Entry) { book.remember(entry, as: entry.key) }

  /// All uploads that were interrupted and whose files are still the same.
  ///
  /// Uploads whose files have changed or were removed are forgotten; uploads whose files cannot be opened right now are
  /// kept.
  func interrupted() -> [Entry] {
    book.entries().filter { !book.isClaimed($0.key) && canContinue($0) }
      .sorted { ($0.bucket, $0.object, $0.path) < ($1.bucket, $1.object, $1.path) }
  }

  private func canContinue(_ entry: Entry) -> Bool {
    do {
      if try OpenFile(reading: entry.path).identity() == entry.identity { return true }
    } catch  where !error.isMissing {
      log.error(
        "I-STR000007", "The upload of \(entry.path) to \(entry.location.gsURL) cannot go on now. \(error)")
      return false
    } catch {}
    log.notice(
      "I-STR000008", "The upload of \(entry.path) to \(entry.location.gsURL) is given up: the file has changed.")
    book.forget(entry.key)
    return false
  }
}

private let log = Logger(service: "VestaStorage")
