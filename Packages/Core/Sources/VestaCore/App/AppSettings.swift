import VestaConcurrency
import VestaFiles

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The few settings of an app that outlive the process, in one small file.
///
/// The file is read when a setting is first asked for, and replaced, durably, when one changes. A file that cannot be
/// used counts as empty: settings have defaults, and an app must not fail over them.
final class AppSettings: Sendable {
  private struct Contents: Codable {
    var isDataCollectionDefaultEnabled: Bool?
  }

  private let file: URL
  private let contents = Locked<Contents?>(nil)

  init(directory: URL) { file = directory.appending(path: "app.json") }

  var isDataCollectionDefaultEnabled: Bool {
    get { contents.withLock { loaded(&$0).isDataCollectionDefaultEnabled ?? true } }
    set {
      // The file is written under the lock, so that the last value set is the one that stays; nothing is called back.
      let failure = contents.withLock { contents -> (any Error)? in
        var changed = loaded(&contents)
        changed.isDataCollectionDefaultEnabled = newValue
        contents = changed
        return write(changed)
      }
      if let failure { log.warning("I-COR000005", "A setting could not be saved to \(file.path): \(failure)") }
    }
  }

  /// Forgets what was set, on disk too: the next app of this name begins with the defaults.
  func clear() {
    contents.withLock { contents in
      // Loaded from the file only if it was needed; an app that never set anything has no file.
      guard loaded(&contents).isDataCollectionDefaultEnabled != nil else { return }
      contents = Contents()
      try? DurableFile.remove(file.path)
    }
  }

  private func loaded(_ contents: inout Contents?) -> Contents {
    if let contents { return contents }
    let read = (try? Data(contentsOf: file)).flatMap { try? JSONDecoder().decode(Contents.self, from: $0) }
    contents = read ?? Contents()
    return read ?? Contents()
  }

  private func write(_ contents: Contents) -> (any Error)? {
    do {
      try DurableFile.makeDirectory(file.deletingLastPathComponent().path)
      try DurableFile.replace(file.path, with: Array(try JSONEncoder().encode(contents)))
      return nil
    } catch {
      return error
    }
  }
}

private let log = Logger(service: "VestaCore")
