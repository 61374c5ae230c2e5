import VestaConcurrency

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The few settings of an app that outlive the process, in one small file.
///
/// The file is read when a setting is first asked for, and replaced, durably, when one changes. While it cannot be
/// read, and from the time when it is found damaged, data collection is off, as it may have been switched off in there;
/// an app must not fail over its settings.
final class AppSettings: Sendable {
  private struct Contents: Codable {
    var isDataCollectionDefaultEnabled: Bool?
  }

  private let directory: @Sendable () -> URL
  private let contents = Locked<Contents?>(nil)

  /// - Parameter directory: Where the file is; asked for when a setting is.
  init(directory: @autoclosure @escaping @Sendable () -> URL) { self.directory = directory }

  private var url: URL { directory().appending(path: "app.json") }
  private var file: ValueFile<Contents> { ValueFile(url) }
  private var path: String { url.path }

  var isDataCollectionDefaultEnabled: Bool {
    get {
      let (loaded, failure) = contents.withLock { load(&$0) }
      if let failure {
        log.warning("I-COR000017", "The settings in \(path) could not be read, data collection is off: \(failure)")
      }
      return loaded.isDataCollectionDefaultEnabled ?? true
    }
    set {
      // The file is written under the lock, so that the last value set is the one that stays; nothing is called back.
      let failure = contents.withLock { contents -> (any Error)? in
        var changed = load(&contents).contents
        changed.isDataCollectionDefaultEnabled = newValue
        contents = changed
        return write(changed)
      }
      if let failure { log.warning("I-COR000005", "A setting could not be saved to \(path): \(failure)") }
    }
  }

  /// Forgets what was set, on disk too: the next app of this name begins with the defaults.
  func clear() {
    // The file is removed under the lock, as it is written; nothing is called back.
    let failure = contents.withLock { contents -> (any Error)? in
      // Loaded from the file only if it was needed; an app that never set anything has no file.
      guard load(&contents).contents.isDataCollectionDefaultEnabled != nil else { return nil }
      contents = Contents()
      do {
        try file.remove()
        return nil
      } catch {
        return error
      }
    }
    if let failure { log.warning("I-COR000005", "The settings in \(path) could not be removed: \(failure)") }
  }

  /// The contents, read from the file when that is needed; those to go by, and the failure, when it cannot be read.
  private func load(_ known: inout Contents?) -> (contents: Contents, failure: (any Error)?) {
    if let known { return (known, nil) }
    let off = Contents(isDataCollectionDefaultEnabled: false)
    do {
      let read = try file.read(damagedAs: off) ?? Contents()
      known = read
      return (read, nil)
    } catch {
      // Remembered if the file says so by now; otherwise the next request tries again.
      if let damaged = error as? DamagedFile, damaged.keptAs != nil { known = off }
      return (off, error)
    }
  }

  private func write(_ contents: Contents) -> (any Error)? {
    do {
      try file.save { contents }
      return nil
    } catch {
      return error
    }
  }
}

private let log = Logger(service: "VestaCore")
