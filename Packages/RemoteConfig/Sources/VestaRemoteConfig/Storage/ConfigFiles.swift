import Foundation
import VestaConcurrency

/// The files in which a ``RemoteConfig`` keeps its contents: one for each part, replaced as a whole.
///
/// A crash leaves the old file or the new one. A file that is damaged counts as absent: everything in it can be fetched
/// or set again.
final class ConfigFiles: Sendable {
  enum Part: String, CaseIterable, Sendable { case active, fetched, defaults, record }

  private let directory: URL
  private let writing = Locked(())

  init(directory: URL) { self.directory = directory }

  func load() -> ConfigContents {
    ConfigContents(
      active: read(.active) ?? ActiveConfig(), fetched: read(.fetched) ?? FetchedConfig(),
      defaults: read(.defaults) ?? [:], record: read(.record) ?? FetchRecord())
  }

  /// Writes parts of the contents.
  ///
  /// - Parameters:
  ///   - parts: Which ones.
  ///   - contents: Returns the contents; called when it is this call's turn, so that the last writer writes the newest.
  /// - Throws: Why a file could not be written.
  func save(_ parts: [Part], _ contents: () -> ConfigContents) throws {
    // Files are written under a lock of their own, which orders the writers; nothing else is locked or called.
    try writing.withLock { _ in
      let contents = contents()
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      for part in parts {
        switch part {
        case .active: try write(contents.active, part)
        case .fetched: try write(contents.fetched, part)
        case .defaults: try write(contents.defaults, part)
        case .record: try write(contents.record, part)
        }
      }
    }
  }

  private func file(_ part: Part) -> URL { directory.appending(path: "\(part.rawValue).json") }

  private func write<Value: Encodable>(_ value: Value, _ part: Part) throws {
    try JSONEncoder().encode(value).write(to: file(part), options: .atomic)
  }

  private func read<Value: Decodable>(_ part: Part) -> Value? {
    guard let data = try? Data(contentsOf: file(part)) else { return nil }
    return try? JSONDecoder().decode(Value.self, from: data)
  }
}
