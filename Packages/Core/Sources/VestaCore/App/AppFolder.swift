import VestaConcurrency

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The directory of an app, which is looked for when it is first asked for: configuring an app touches no file.
final class AppFolder: Sendable {
  private let layout: DataLayout
  private let found = Locked<URL?>(nil)

  init(_ layout: DataLayout) { self.layout = layout }

  /// The directory; that of an earlier version as long as it cannot be moved.
  var url: URL {
    let (url, failure) = found.withLock { found -> (URL, String?) in
      if let found { return (found, nil) }
      do {
        try layout.adoptApp()
        found = layout.appDirectory
        return (layout.appDirectory, nil)
      } catch {
        let earlier = layout.earlierApp ?? layout.appDirectory
        found = earlier
        return (earlier, "\(error)")
      }
    }
    if let failure {
      log.warning("I-COR000011", "The data of the app stays in \(url.path), as it could not be moved: \(failure)")
    }
    return url
  }
}

private let log = Logger(service: "VestaCore")
