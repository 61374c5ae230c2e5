import Foundation

extension VestaOptions {
  /// The options of a bare `configure()`, see ``defaultOptions()``.
  static func found(
    _ environment: [String: String] = ProcessInfo.processInfo.environment, in folders: [URL] = programFolders
  ) throws(VestaError) -> VestaOptions {
    let isNamed = environment["VESTA_OPTIONS_FILE"]?.isEmpty == false
    let file = isNamed ? nil : optionsFile(in: folders)
    if let file { log.info("I-COR000014", "The options of the default app are those of \(file).") }
    return try options(environment, file: file)
  }

  /// The path of the first options file in some folders.
  static func optionsFile(in folders: [URL]) -> String? {
    for folder in folders {
      for name in ["GoogleService-Info.plist", "google-services.json"] {
        let path = folder.appending(path: name).path
        if FileManager.default.fileExists(atPath: path) { return path }
      }
    }
    return nil
  }

  /// Where the options of a program are looked for: its resources, the working directory, the folder of the program.
  private static var programFolders: [URL] {
    let executable = Bundle.main.executableURL?.deletingLastPathComponent()
    let directory = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
    return [Bundle.main.resourceURL, directory, executable].compactMap(\.self)
  }
}

private let log = Logger(service: "VestaCore")
