import Foundation
import VestaCore

/// The files in which a ``RemoteConfig`` keeps its contents: one for each part, replaced as a whole.
///
/// A file that is damaged counts as absent and is kept next to it, see `ValueFile`; the other parts are read all the
/// same.
final class ConfigFiles: Sendable {
  enum Part: String, CaseIterable, Sendable { case active, fetched, defaults, record }

  private let active: ValueFile<ActiveConfig>
  private let fetched: ValueFile<FetchedConfig>
  private let defaults: ValueFile<[String: Data]>
  private let record: ValueFile<FetchRecord>

  init(directory: URL) {
    func file(_ part: Part) -> URL { directory.appending(path: "\(part.rawValue).json") }
    active = ValueFile(file(.active))
    fetched = ValueFile(file(.fetched))
    defaults = ValueFile(file(.defaults))
    record = ValueFile(file(.record))
  }

  func load() -> ConfigContents {
    let known = fetched.load()
    var contents = ConfigContents(
      active: active.load() ?? ActiveConfig(), fetched: known ?? FetchedConfig(), defaults: defaults.load() ?? [:],
      record: record.load() ?? FetchRecord())
    // Values that were lost are fetched again, however young they were.
    if known == nil { contents.record.lastFetchTime = nil }
    return contents
  }

  /// Writes parts of the contents.
  ///
  /// - Parameters:
  ///   - parts: The parts.
  ///   - contents: Returns the contents; called when it is this call's turn, so that the last writer writes the newest.
  /// - Throws: Why a file could not be written.
  func save(_ parts: [Part], _ contents: () -> ConfigContents) throws {
    for part in parts {
      switch part {
      case .active: try active.save { contents().active }
      case .fetched: try fetched.save { contents().fetched }
      case .defaults: try defaults.save { contents().defaults }
      case .record: try record.save { contents().record }
      }
    }
  }
}
