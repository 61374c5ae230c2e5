import Export
import Foundation

/// The folder that is exported to.
struct Target {
  let root: String
  /// The folder as the caller has written it.
  let directory: String
  let isRepository: Bool

  private var files: FileManager { .default }
  private var path: String { URL(filePath: directory).standardizedFileURL.path }
  private var name: String { URL(filePath: directory).standardizedFileURL.lastPathComponent }
  /// The entry that tells an earlier export from a folder with a developer's work.
  private var mark: String { path + (isRepository ? "/.git" : "/.vesta-export") }

  /// Refuses a folder in which something could be lost.
  func check() throws {
    var isFolder: ObjCBool = false
    guard files.fileExists(atPath: path, isDirectory: &isFolder) else { return }
    guard isFolder.boolValue else { throw ExportFailure("\(directory) is not a folder.") }
    let isEmpty = try files.contentsOfDirectory(atPath: path).isEmpty
    let isMarked = files.fileExists(atPath: mark)
    guard isEmpty || isMarked else {
      throw ExportFailure("\(directory) is not empty. Name a new folder, or empty it first.")
    }
    guard isRepository, isMarked else { return }
    let subject = try? Shell.output("git", "-C", path, "log", "-1", "--format=%s")
    guard subject?.firstMatch(of: /^Vesta [0-9]/) != nil else {
      throw ExportFailure("\(directory) is a repository that this script did not write. Name a new folder.")
    }
  }

  // MARK: Copies

  /// Writes a copy of each package.
  ///
  /// - Returns: The lines to print.
  func writeCopies(_ export: Export) throws -> [String] {
    try files.createDirectory(atPath: path, withIntermediateDirectories: true)
    if files.fileExists(atPath: mark) {
      for entry in try files.contentsOfDirectory(atPath: path) where entry.hasPrefix("vesta-") {
        try files.removeItem(atPath: "\(path)/\(entry)")
      }
    }
    try Data().write(to: URL(filePath: mark))
    for package in export.packages {
      let copy = "\(path)/\(package.identity)"
      try copyFolder("\(root)/\(package.folder)", to: copy)
      try export.manifestOfCopy(package).write(toFile: "\(copy)/Package.swift", atomically: true, encoding: .utf8)
    }
    try copyLicense()
    let others = export.packages.count - export.wanted
    let title = "Wrote \(export.wanted) packages and \(others) that they need to \(path). In your manifest:"
    return [title] + export.usageOfCopies(in: directory)
  }

  /// Copies what belongs to a package: everything but the products of builds.
  private func copyFolder(_ source: String, to target: String) throws {
    try files.createDirectory(atPath: target, withIntermediateDirectories: true)
    for entry in try files.contentsOfDirectory(atPath: source) where entry != ".build" && entry != ".swiftpm" {
      let (from, to) = ("\(source)/\(entry)", "\(target)/\(entry)")
      let attributes = try files.attributesOfItem(atPath: from)
      if attributes[.type] as? FileAttributeType == .typeDirectory {
        try copyFolder(from, to: to)
      } else {
        try files.copyItem(atPath: from, toPath: to)
      }
    }
  }

  private func copyLicense() throws {
    if files.fileExists(atPath: path + "/LICENSE") { try files.removeItem(atPath: path + "/LICENSE") }
    try files.copyItem(atPath: root + "/LICENSE", toPath: path + "/LICENSE")
  }

  // MARK: Repository

  /// Writes one package, commits it and tags it with the version.
  ///
  /// - Returns: The lines to print.
  func writeRepository(_ export: Export) throws -> [String] {
    let version = try Shell.output("\(root)/Scripts/version")
    try files.createDirectory(atPath: path, withIntermediateDirectories: true)
    for entry in try files.contentsOfDirectory(atPath: path) where entry != ".git" {
      try files.removeItem(atPath: "\(path)/\(entry)")
    }
    try writeSources(export)
    try copyLicense()
    try write(".build/\n.swiftpm/\n", ".gitignore")
    let readmes = export.packages.map { package in
      (package.folder, (try? String(contentsOfFile: "\(root)/\(package.folder)/README.md", encoding: .utf8)) ?? "")
    }
    let texts = Dictionary(uniqueKeysWithValues: readmes)
    try write(export.readme(named: name, version: version, readmes: texts), "README.md")
    return try commit(export, version)
  }

  private func writeSources(_ export: Export) throws {
    for package in export.packages {
      try copyFolder("\(root)/\(package.folder)/Sources", to: path + "/Sources")
    }
    let manifest = export.manifestOfRepository(named: name)
    try write(manifest, "Package.swift")
    // Programs of tests are not targets here.
    for folder in try files.contentsOfDirectory(atPath: path + "/Sources")
    where !manifest.contains("name: \"\(folder)\"") {
      try files.removeItem(atPath: "\(path)/Sources/\(folder)")
    }
  }

  private func write(_ text: String, _ file: String) throws {
    try text.write(toFile: "\(path)/\(file)", atomically: true, encoding: .utf8)
  }

  private func commit(_ export: Export, _ version: String) throws -> [String] {
    if !files.fileExists(atPath: mark) { try Shell.output("git", "-C", path, "init", "-q", "-b", "main") }
    try Shell.output("git", "-C", path, "add", "-A")
    if (try? Shell.output("git", "-C", path, "rev-parse", "-q", "--verify", "refs/tags/\(version)")) != nil {
      if (try? Shell.output("git", "-C", path, "diff", "--cached", "--quiet", version)) == nil {
        try Shell.output("git", "-C", path, "reset", "-q", "--hard")
        throw ExportFailure(
          "\(version) is tagged in \(path) with other content. Raise the version first: Scripts/version NEW")
      }
      return ["\(path) has \(version) already; nothing has changed."]
    }
    let names = export.packages[..<export.wanted].map(\.name).joined(separator: " ")
    let hasAuthor = (try? Shell.output("git", "-C", path, "config", "user.email")) != nil
    let git = ["git", "-C", path] + (hasAuthor ? [] : ["-c", "user.name=Vesta", "-c", "user.email=vesta@localhost"])
    try Shell.run(git + ["commit", "-q", "--allow-empty", "-m", "Vesta \(version)", "-m", "Packages: \(names)"])
    try Shell.run(git + ["tag", "-a", version, "-m", "Vesta \(version)"])
    return [
      "Wrote \(path): one package of \(names), version \(version), committed and tagged.",
      "Push it with its tags, or archive it for a registry (swift package archive-source). In a manifest:",
    ] + export.usageOfRepository(named: name, version: version)
  }
}

/// Programs that are run.
enum Shell {
  /// Runs a program.
  ///
  /// - Returns: The output, without the last newline.
  /// - Throws: `ExportFailure` when it fails.
  @discardableResult
  static func output(_ arguments: String...) throws -> String { try run(arguments) }

  /// Runs a program; see `output(_:)`.
  @discardableResult
  static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ExportFailure("`\(arguments.joined(separator: " "))` failed with status \(process.terminationStatus).")
    }
    let text = String(decoding: data, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }
}
