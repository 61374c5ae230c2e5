import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaStorageBackend

/// The downloads to files that are under way, kept so that they continue after the process was killed.
struct DownloadBook: Sendable {
  struct Entry: Codable, Sendable, Equatable {
    let bucket: String
    let object: String
    let target: String
    /// The file next to the target.
    let temporary: String
    let generation: Int64
    let size: Int64
    /// Seconds since 1970.
    let begun: Int64

    var key: String { DownloadBook.key(StorageLocation(bucket: bucket, path: object), target) }
  }

  /// The time for which an abandoned download is kept: a week.
  static let lifetime: Int64 = 7 * 24 * 3600

  /// The largest number of folders that are looked through for leftovers.
  private static let mostFolders = 1_000

  private let book: TransferBook<Entry>
  private let now: @Sendable () -> Int64
  /// Distinguishes the files of this book from other apps' files in the same folder.
  private let tag: String
  /// The folders in which leftovers may be, the last new one at the end; `nil` before they were looked for.
  private let folders = Locked<[String]?>(nil)
  private let list: ValueFile<[String]>

  init(directory: URL, now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }) {
    book = TransferBook(directory: directory, fileExtension: "download")
    self.now = now
    tag = String(FNV1a.hash(directory.standardizedFileURL.path), radix: 36)
    list = ValueFile(directory.appending(path: "folders.json"))
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

  /// Removes the downloads that were abandoned for long, and their files.
  private func removeOld() {
    let limit = now() - Self.lifetime
    for entry in book.entries() where entry.begun < limit && !book.isClaimed(entry.key) {
      if FileBeside.removeLeftover(entry.temporary) { book.forget(entry.key) }
    }
  }

  // MARK: Downloads without a note

  /// A name for a file next to a target, by which it is found when the process was killed.
  func temporaryName() -> String { ".\(tag).\(UUID().uuidString).vesta" }

  /// Notes the folder of a target before the first file is written there.
  func willWrite(besides target: String) {
    let folder = FilePath.parent(of: target)
    let isNew = folders.withLock { folders -> Bool in
      guard folders?.contains(folder) != true else { return false }
      folders = ((folders ?? []) + [folder]).suffix(Self.mostFolders)
      return true
    }
    guard isNew else { return }
    do {
      try list.save { folders.withLock { $0 ?? [] } }
    } catch {
      log.notice("I-STR000010", "What a crash leaves in \(folder) will not be removed by itself. \(error)")
    }
  }

  /// Removes the remains of killed processes, once in each process: files without a writer that no note names.
  func removeLeftovers() {
    guard folders.withLock({ $0 == nil }) else { return }
    let known = (try? list.read(damagedAs: [])) ?? []
    let isFirst = folders.withLock { folders in
      defer { if folders == nil { folders = known } }
      return folders == nil
    }
    guard isFirst else { return }
    let noted = Set(book.entries().map(\.temporary))
    for folder in known {
      let names = (try? DurableFile.names(in: folder)) ?? []
      for name in names where name.hasPrefix(".\(tag).") && name.hasSuffix(".vesta") {
        let path = "\(folder)/\(name)"
        if !noted.contains(path) { FileBeside.removeLeftover(path) }
      }
    }
  }
}

private let log = Logger(service: "VestaStorage")
