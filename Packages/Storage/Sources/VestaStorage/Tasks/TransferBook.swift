import Foundation
import VestaConcurrency
import VestaCore
import VestaFiles

/// The unfinished transfers, kept in a directory so that they go on after the process was killed.
///
/// One small file for each transfer, readable by its owner alone: whoever knows the id of an upload session can
/// continue it. It is written beside and renamed, and not synced: what is lost costs a new transfer, no more. A
/// transfer claims its key before it reads or writes the file, so two transfers of the same thing at once do not share
/// it.
final class TransferBook<Entry: Codable & Sendable>: Sendable {
  let directory: URL
  private let fileExtension: String
  private let claims = Locked<Set<String>>([])

  init(directory: URL, fileExtension: String) {
    self.directory = directory
    self.fileExtension = fileExtension
  }

  /// Takes a key for a transfer; `false` when another one has it.
  func claim(_ key: String) -> Bool { claims.withLock { $0.insert(Self.name(of: key)).inserted } }

  func release(_ key: String) { claims.withLock { _ = $0.remove(Self.name(of: key)) } }

  func isClaimed(_ key: String) -> Bool { claims.withLock { $0.contains(Self.name(of: key)) } }

  func entry(_ key: String) -> Entry? { read(file(key)) }

  func remember(_ entry: Entry, as key: String) {
    do {
      try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try JSONEncoder().encode(entry).write(to: file(key), options: .atomic)
    } catch {
      log.notice("I-STR000003", "A transfer will not go on after a restart, its state could not be kept: \(error)")
    }
  }

  func forget(_ key: String) { remove(file(key)) }

  /// All entries that can be read, in no order.
  func entries() -> [Entry] {
    do {
      let names = try DurableFile.names(in: directory.path)
      return names.filter { $0.hasSuffix(".\(fileExtension)") }.compactMap { read(directory.appending(path: $0)) }
    } catch {
      log.error("I-STR000006", "The unfinished transfers cannot be listed. \(error)")
      return []
    }
  }

  /// The entry of a file.
  ///
  /// A damaged file is kept under another name, and one that cannot be read at present where it is: a transfer that
  /// does not go on is reported and never forgotten in silence.
  private func read(_ file: URL) -> Entry? {
    do {
      guard let bytes = try DurableFile.read(file.path) else { return nil }
      do {
        return try JSONDecoder().decode(Entry.self, from: Data(bytes))
      } catch {
        let damaged = file.path + ".damaged"
        try DurableFile.move(file.path, to: damaged)
        log.error("I-STR000005", "A transfer does not go on, its state is damaged and is kept as \(damaged). \(error)")
      }
    } catch {
      log.error("I-STR000005", "A transfer does not go on, its state cannot be read at present. \(error)")
    }
    return nil
  }

  private func remove(_ file: URL) {
    // A file that stays does no harm: what it tells of is compared with what is there before it is used.
    try? FileManager.default.removeItem(at: file)
  }

  private func file(_ key: String) -> URL { directory.appending(path: "\(Self.name(of: key)).\(fileExtension)") }

  /// Two hashes, as two keys with one name would share a file; the entry itself is compared as well.
  private static func name(of key: String) -> String {
    hash(key, 0xcbf2_9ce4_8422_2325) + hash(key, 0x9E37_79B9_7F4A_7C15)
  }

  /// FNV-1a with a start value.
  private static func hash(_ text: String, _ start: UInt64) -> String {
    let hash = text.utf8.reduce(start) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    return String(hash, radix: 36)
  }
}

private let log = Logger(service: "VestaStorage")
