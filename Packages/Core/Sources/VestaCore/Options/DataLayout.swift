import VestaBytes
import VestaFiles

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The folders in which a program keeps its data.
///
/// ```
/// <base>/<project>/(engines)    the data of the project: the files of its engines
/// <base>/<project>/(default)    the data of the default app: its session, its caches, its pending writes
/// <base>/<project>/<name>       the data of another app
/// <base>/<project>/(https%3A%2F%2Fvesta.example)/(default)   the data of the default app with another backend
/// ```
///
/// Names of apps have no parentheses, and those in a project's id and in a backend are encoded, so no two of these
/// meet.
struct DataLayout: Hashable, Sendable {
  /// The directory of the program, or of all programs of the user.
  let base: URL
  /// The folder of the project.
  let project: String
  /// The folder of the backend within that of the project; `nil` for the embedded one.
  let backend: String?
  /// The folder of the app.
  let app: String
  /// The folder in which an earlier version kept the data of the default app; `nil` where it was this one.
  let earlierApp: URL?

  static let defaultApp = "(default)"

  init(options: VestaOptions, appName: String, environment: [String: String]) {
    var earlierApp: URL?
    if let directory = Self.directory(of: options.backend, environment) {
      base = directory
      // The data of an earlier version has the project's id in it. A program that named no project had another id then.
      let isNamed = options.projectID.map { $0 != VestaOptions.programProject } ?? false
      if options.backend.kind == .embedded, appName == AppName.defaultApp, isNamed {
        earlierApp = directory.appending(path: Self.defaultApp)
      }
    } else {
      base = Self.userData(environment).appending(path: "vesta")
    }
    project = options.projectID.map(Self.folder) ?? "(none)-\(VestaOptions.programProject)"
    backend = Self.folder(of: options.backend)
    app = appName == AppName.defaultApp ? Self.defaultApp : appName
    self.earlierApp = earlierApp
  }

  /// The directory of the app.
  var appDirectory: URL { home.appending(path: app) }

  /// The directory of the project with its backend.
  private var home: URL {
    let project = base.appending(path: project)
    return backend.map { project.appending(path: $0) } ?? project
  }

  /// The directory of the project's engines.
  var enginesPath: String {
    Self.path(of: home.appending(path: "(engines)").standardizedFileURL)
  }

  /// Where an earlier version kept the data of the engines: in the folders of apps, that of the default app first.
  var earlierEngines: [String] {
    let folder = base.appending(path: project)
    return (app == Self.defaultApp ? [app] : [Self.defaultApp, app]).map { Self.path(of: folder.appending(path: $0)) }
  }

  /// The directory that an embedded backend names, or the environment where that is left open.
  private static func directory(of backend: VestaOptions.Backend, _ environment: [String: String]) -> URL? {
    if case .embedded(let directory?) = backend { return directory }
    return environment["VESTA_DIRECTORY"].flatMap { $0.isEmpty ? nil : URL(filePath: $0) }
  }

  /// The user's data directory: `XDG_DATA_HOME`, or `.local/share` in the home directory.
  private static func userData(_ environment: [String: String]) -> URL {
    func directory(_ variable: String) -> URL? {
      environment[variable].flatMap { $0.hasPrefix("/") ? URL(filePath: $0) : nil }
    }
    return directory("XDG_DATA_HOME") ?? (directory("HOME") ?? URL.homeDirectory).appending(path: ".local/share")
  }

  /// The name of the folder of a backend; `nil` for the embedded one.
  ///
  /// A long list of addresses is cut, and its digest makes it unique.
  private static func folder(of backend: VestaOptions.Backend) -> String? {
    if case .embedded = backend { return nil }
    let name = folder(backend.description)
    if name.utf8.count <= 120 { return "(\(name))" }
    return "(\(name.prefix(80))-\(Hex.encode(SHA256.digest(Array(name.utf8)).prefix(16))))"
  }

  /// A project's id as the name of a folder.
  private static func folder(_ project: String) -> String {
    let name = PercentEncoding(leaving: "-_.").encode(project)
    return name.hasPrefix(".") || name.isEmpty ? "%" + name : name
  }

  /// A path without a slash at the end.
  static func path(of directory: URL) -> String {
    let path = directory.path(percentEncoded: false)
    return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
  }
}

extension DataLayout {
  /// Moves the data of the default app from where an earlier version kept it, once.
  ///
  /// One rename: after a crash it is in one place or the other, whole.
  func adoptApp() throws(FileFailure) {
    guard let earlierApp else { return }
    let (from, to) = (Self.path(of: earlierApp), Self.path(of: appDirectory))
    guard DurableFile.exists(from), !DurableFile.exists(to) else { return }
    try DurableFile.makeDirectory(Self.path(of: base.appending(path: project)), isPrivate: false)
    try Self.move(from, to)
  }

  /// Moves the data of an engine from where an earlier version kept it, once.
  ///
  /// Each name is moved by one rename, the last one, the store, at the end: without it no engine uses the others, and
  /// the next start continues.
  ///
  /// - Parameter names: The engine's files in its directory; the last one is without the others of no use.
  /// - Returns: A sentence for the log where there is earlier data that cannot be moved, because there is newer data.
  func adoptEngine(_ names: [String]) throws(FileFailure) -> String? {
    let earlier = earlierEngines.first { folder in names.contains { DurableFile.exists("\(folder)/\($0)") } }
    guard let main = names.last, let earlier else { return nil }
    if DurableFile.exists("\(earlier)/\(main)"), DurableFile.exists("\(enginesPath)/\(main)") {
      return "\(earlier)/\(main) is data of an earlier version. It is not used: there is newer data in \(enginesPath)."
    }
    try DurableFile.makeDirectory(enginesPath, isPrivate: false)
    for name in names where DurableFile.exists("\(earlier)/\(name)") {
      guard !DurableFile.exists("\(enginesPath)/\(name)") else { continue }
      try Self.move("\(earlier)/\(name)", "\(enginesPath)/\(name)")
    }
    return nil
  }

  private static func move(_ from: String, _ to: String) throws(FileFailure) {
    do {
      try DurableFile.move(from, to: to)
    } catch {
      // Another process may have moved it in the same moment.
      guard !DurableFile.exists(from), DurableFile.exists(to) else { throw error }
    }
  }
}
