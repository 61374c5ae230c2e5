import Foundation
import VestaConcurrency
import VestaCore
import VestaStorageBackend

/// The upload sessions of files, kept in a directory so that an upload goes on after the process was killed.
///
/// One small file for each session, named for the object and the file that is uploaded. It is written beside and
/// renamed, and not synced: a session that is lost costs a new upload, no more.
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
  }

  let directory: URL

  init(directory: URL) { self.directory = directory }

  /// The session of the same file to the same object with the same metadata.
  func session(like wanted: Entry) -> UploadID? {
    guard var kept = read(file(wanted.location, wanted.path)) else { return nil }
    let session = kept.session
    kept.session = wanted.session
    return kept == wanted ? UploadID(rawValue: session) : nil
  }

  func remember(_ entry: Entry) {
    do {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      try JSONEncoder().encode(entry).write(to: file(entry.location, entry.path), options: .atomic)
    } catch {
      log.notice("I-STR000003", "An upload will not go on after a restart, its session could not be kept: \(error)")
    }
  }

  func forget(location: StorageLocation, path: String) {
    // A file that stays does no harm: its session is unknown to the service then, and the upload starts anew.
    try? FileManager.default.removeItem(at: file(location, path))
  }

  /// All uploads that were interrupted, and whose files are still the same.
  func interrupted() -> [Entry] {
    let files = (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)) ?? []
    return files.filter { $0.pathExtension == "upload" }.sorted { $0.path < $1.path }.compactMap(read)
  }

  private func read(_ file: URL) -> Entry? {
    guard let data = try? Data(contentsOf: file) else { return nil }
    return try? JSONDecoder().decode(Entry.self, from: data)
  }

  private func file(_ location: StorageLocation, _ path: String) -> URL {
    // Two hashes, as two pairs with one name would share a session file; the entry itself is compared as well.
    let text = "\(location.gsURL)\u{0}\(path)"
    let name = Self.hash(text, 0xcbf2_9ce4_8422_2325) + Self.hash(text, 0x9E37_79B9_7F4A_7C15)
    return directory.appending(path: name + ".upload")
  }

  /// FNV-1a with a start value.
  private static func hash(_ text: String, _ start: UInt64) -> String {
    let hash = text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    return String(hash, radix: 36)
  }
}

private let log = Logger(service: "VestaStorage")
