import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFiles

/// The unfinished transfers, kept in a directory so that they continue after the process was killed.
///
/// One small file for each transfer, readable by its owner alone: any caller that knows the id of an upload session can
/// continue it. A transfer claims its key before it reads or writes the file, so two transfers of the same thing at
/// once do not share it.
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
      try file(key).save { entry }
    } catch {
      log.notice("I-STR000003", "A transfer will not go on after a restart, its state could not be kept: \(error)")
    }
  }

  func forget(_ key: String) {
    // A file that stays does no harm: its content is compared with the actual state before it is used.
    try? file(key).remove()
  }

  /// All entries that can be read, in no order.
  func entries() -> [Entry] {
    do {
      let names = try DurableFile.names(in: directory.path)
      return names.filter { $0.hasSuffix(".\(fileExtension)") }.compactMap {
        read(ValueFile(directory.appending(path: $0)))
      }
    } catch {
      log.error("I-STR000006", "The unfinished transfers cannot be listed. \(error)")
      return []
    }
  }

  /// The entry of a file.
  ///
  /// A damaged file is kept under another name, and one that cannot be read right now where it is: a transfer that
  /// does not continue is reported and never forgotten in silence.
  private func read(_ file: ValueFile<Entry>) -> Entry? {
    do {
      return try file.read()
    } catch {
      log.error("I-STR000005", "A transfer does not go on. \(error)")
      return nil
    }
  }

  private func file(_ key: String) -> ValueFile<Entry> {
    ValueFile(directory.appending(path: "\(Self.name(of: key)).\(fileExtension)"))
  }

  /// Two hashes, as two keys with one name would share a file; the entry itself is compared as well.
  private static func name(of key: String) -> String {
    [FNV1a.start, 0x9E37_79B9_7F4A_7C15].map { String(FNV1a.hash(key, start: $0), radix: 36) }.joined()
  }
}

private let log = Logger(service: "VestaStorage")
