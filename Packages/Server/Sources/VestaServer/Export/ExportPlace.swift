import Foundation
import VestaBytes
import VestaConcurrency
import VestaFiles

/// The directory that an export takes, and the directory next to it in which the export is written first.
///
/// The directory is the old export or the new one as a whole, whenever the program is killed: the two are exchanged in
/// one step, and the old one is removed after it. Where the directory cannot be exchanged (a file system is mounted at
/// it, its parent cannot be written to, or it has files that are no export's), its entries are exchanged one after the
/// other, so that each product is whole, and all other files stay.
struct ExportPlace: Sendable {
  /// The path without links.
  let path: String

  private static let metadata = ExportDirectory.metadata
  /// The entries of directories that are otherwise empty.
  private static let fillers: Set = [".gitkeep", ".gitignore", ".keep", ".DS_Store", "lost+found"]
  /// The directories that this process writes to.
  private static let written = Locked<Set<String>>([])

  init(_ path: String) {
    let url = Self.followed(URL(filePath: path).standardizedFileURL)
    self.path = url.resolvingSymlinksInPath().path(percentEncoded: false).trimmingSlash
  }

  /// The place that a link leads to, also where there is nothing yet: Foundation resolves existing places alone.
  private static func followed(_ url: URL) -> URL {
    var url = url
    // A cycle ends as it does for the system.
    for _ in 0..<40 {
      let path = url.path(percentEncoded: false).trimmingSlash
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { break }
      let folder = URL(filePath: FilePath.parent(of: path), directoryHint: .isDirectory)
      url = URL(filePath: target, relativeTo: folder).standardizedFileURL
    }
    return url
  }

  // MARK: Checking

  /// Refuses a directory that an export cannot take the place of: one that is neither absent nor empty nor an export.
  func check() throws(ServerError) {
    let here = URL(filePath: FileManager.default.currentDirectoryPath).resolvingSymlinksInPath()
      .path(percentEncoded: false)
    guard here.trimmingSlash != path, !here.hasPrefix(path + "/") else {
      throw ServerError("\(path) is the working directory or above it, and is not replaced. Name another directory.")
    }
    guard FileManager.default.fileExists(atPath: path) else { return }
    guard let names, names.isEmpty || names.contains(Self.metadata) else {
      throw ServerError("\(path) is no export, and is not replaced. Name another directory.")
    }
  }

  /// Refuses as ``check()`` does, and a directory that cannot be written, before there is anything to lose.
  func checkWritable() throws(ServerError) {
    try check()
    var folder = path
    while folder != "/", !FileManager.default.fileExists(atPath: folder) { folder = FilePath.parent(of: folder) }
    let isWritable = [folder, FilePath.parent(of: path)].contains { Self.isWritableDirectory($0) }
    guard Self.isDirectory(folder), isWritable else {
      throw ServerError("Nothing can be exported to \(path): \(folder) cannot be written to. Name another directory.")
    }
  }

  /// Whether the place is a directory, or above it.
  func isOrHas(_ directory: String) -> Bool {
    let other = ExportPlace(directory).path
    return other == path || other.hasPrefix(path + "/")
  }

  /// Whether there is nothing yet: the directory is absent, or as good as empty.
  var isVacant: Bool { !FileManager.default.fileExists(atPath: path) || names?.isEmpty == true }

  /// The entries of the directory but for the usual ones of an empty directory; `nil` where it is none.
  private var names: [String]? {
    (try? FileManager.default.contentsOfDirectory(atPath: path))?
      .filter { !Self.fillers.contains($0) && !$0.hasPrefix(Self.insidePrefix) }
  }

  private static func isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }

  private static func isWritableDirectory(_ path: String) -> Bool {
    isDirectory(path) && FileManager.default.isWritableFile(atPath: path)
  }

  // MARK: Writing

  /// Makes the directory in which the export is written, and removes directories of processes that were killed.
  func makeTemporary(isPrivate: Bool) throws -> String {
    let parent = FilePath.parent(of: path)
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    let isInside = FileManager.default.fileExists(atPath: path) && !isReplacedAsAWhole(parent)
    let (folder, prefix) = isInside ? (path, Self.insidePrefix) : (parent, besidePrefix)
    Self.sweep(folder, prefix)
    let temporary = Self.newName(in: folder, prefix)
    Self.written.withLock { _ = $0.insert(temporary) }
    try FileManager.default.createDirectory(
      atPath: temporary, withIntermediateDirectories: false,
      // Accounts are exported with the hashes of their passwords.
      attributes: isPrivate ? [.posixPermissions: 0o700] : nil)
    return temporary
  }

  /// Removes a directory whose export has failed.
  func discard(_ temporary: String) {
    try? FileManager.default.removeItem(atPath: temporary)
    Self.written.withLock { _ = $0.remove(temporary) }
  }

  private static let insidePrefix = ".export-"

  private var besidePrefix: String { ".\(URL(filePath: path).lastPathComponent).export-" }

  private static func newName(in folder: String, _ prefix: String) -> String {
    let process = ProcessInfo.processInfo.processIdentifier
    return "\(folder)/\(prefix)\(process)-\(SystemRandom.alphanumeric(8))"
  }

  private func isReplacedAsAWhole(_ parent: String) -> Bool {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let isExport = entries.allSatisfy { Self.isEntry($0) || $0.hasPrefix(Self.insidePrefix) }
    return isExport && FileManager.default.isWritableFile(atPath: parent) && Self.device(path) == Self.device(parent)
  }

  /// Whether an export has an entry of a name.
  private static func isEntry(_ name: String) -> Bool { name == metadata || name.hasSuffix("_export") }

  private static func device(_ path: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: path)[.systemNumber] as? NSNumber)?.intValue
  }

  /// Removes the directories of processes that were killed.
  private static func sweep(_ folder: String, _ prefix: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
      let owner = Int32(name.dropFirst(prefix.count).prefix { $0 != "-" })
      let isOwn = owner == ProcessInfo.processInfo.processIdentifier
      let isWritten = written.withLock { $0.contains("\(folder)/\(name)") }
      guard let owner, !isWritten, isOwn || !Platform.isAlive(owner) else { continue }
      try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  // MARK: Publishing

  /// Gives a complete export its place.
  ///
  /// - Throws: ``ServerError`` that names the directory in which the complete export stays.
  func publish(_ temporary: String) throws(ServerError) {
    Platform.sync(fileSystemOf: temporary)
    do {
      if temporary.hasPrefix(path + "/") {
        try exchangeEntries(with: temporary)
      } else {
        try exchange(with: temporary)
      }
    } catch {
      throw ServerError("The export to \(path) failed, and is complete in \(temporary): \(error)")
    }
    discard(temporary)
    try? OpenFile(reading: FilePath.parent(of: path)).sync()
  }

  /// After it the temporary directory has the old export.
  private func exchange(with temporary: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return try Platform.rename(temporary, to: path) }
    do throws(FileFailure) {
      guard try !Platform.exchange(temporary, path) else { return }
      // Without the call of the system there is a short time without the directory.
      let old = "\(temporary).old"
      try Platform.rename(path, to: old)
      try Platform.rename(temporary, to: path)
      try Platform.rename(old, to: temporary)
    } catch {
      guard error.code == EBUSY || error.code == EXDEV else { throw error }
      // A directory of the same file system is mounted there.
      let inside = Self.newName(in: path, Self.insidePrefix)
      Self.written.withLock { _ = $0.insert(inside) }
      defer { discard(inside) }
      try FileManager.default.copyItem(atPath: temporary, toPath: inside)
      Platform.sync(fileSystemOf: inside)
      try exchangeEntries(with: inside)
    }
  }

  /// The entry that makes the directory an export is the last new one.
  private func exchangeEntries(with temporary: String) throws {
    let new = try FileManager.default.contentsOfDirectory(atPath: temporary)
    let old = try FileManager.default.contentsOfDirectory(atPath: path)
    for name in new.sorted(by: { ($0 == Self.metadata ? 1 : 0, $0) < ($1 == Self.metadata ? 1 : 0, $1) }) {
      let (source, target) = ("\(temporary)/\(name)", "\(path)/\(name)")
      if old.contains(name), try !Platform.exchange(source, target) {
        try Platform.rename(target, to: "\(source).old")
        try Platform.rename(source, to: target)
      } else if !old.contains(name) {
        try Platform.rename(source, to: target)
      }
    }
    for name in old where Self.isEntry(name) && !new.contains(name) {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
  }
}

extension String {
  fileprivate var trimmingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
