import Foundation
import VestaBytes
import VestaFiles
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop

/// The files of an export of one database, in a folder.
struct ExportFiles {
  /// The resource name of the database.
  let database: String
  /// The collection groups; none for all.
  var collections: Set<String> = []
  let tuning: FirestoreExportTuning

  /// The end of the name of the file that an import begins with.
  static let overviewEnding = ".overall_export_metadata"
  private static let folder = "all_namespaces/all_kinds"
  private static let metadata = "all_namespaces_all_kinds.export_metadata"

  /// Whether a document is one of the transfer, by its path.
  private func includes(_ path: some Collection<String>) -> Bool {
    collections.isEmpty || path.dropLast().suffix(1).first.map(collections.contains) == true
  }

  // MARK: Writing

  /// Writes all files.
  ///
  /// - Parameters:
  ///   - name: The name of the export.
  ///   - top: The folder, which is made.
  ///   - backend: The documents.
  ///   - clock: The clock of the times in the files.
  /// - Returns: The number of documents.
  func write(
    named name: String, to top: String, from backend: any FirestoreAdminBackend, _ clock: ServiceClock
  ) async throws -> Int {
    let folder = "\(top)/\(Self.folder)"
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    let start = clock.now()
    let project = String(database.split(separator: "/")[1])
    let files = OutputFiles(folder: folder, project: project, tuning: tuning)
    do {
      try await backend.export(database, context: .owner) { documents in
        for document in documents {
          let path = document.name.split(separator: "/", omittingEmptySubsequences: false).dropFirst(5).map(String.init)
          if includes(path) { try files.add(path, document.fields) }
        }
      }
    } catch let error as FirestoreServiceError where error.code == .notFound {
      // No document was ever written.
    }
    try files.finish()
    var parts: [ExportOverview.Part] = []
    if files.documents > 0 {
      let part = ExportPartMetadata(files: files.names, start: start, end: clock.now())
      try Self.write(part.bytes(name: name), to: "\(folder)/\(Self.metadata)")
      parts.append(.init(path: "\(Self.folder)/\(Self.metadata)", documents: files.documents, bytes: files.bytes))
    }
    try Self.write(ExportOverview(parts: parts).bytes, to: "\(top)/\(name)\(Self.overviewEnding)")
    return files.documents
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try OpenFile(writing: path, .always, isPrivate: false)
    defer { file.close() }
    try file.write(bytes, at: 0)
  }

  // MARK: Reading

  /// Reads all files, and imports their documents.
  ///
  /// - Parameters:
  ///   - path: The path of the overview.
  ///   - backend: The documents.
  /// - Returns: The number of documents.
  func read(_ path: String, into backend: any FirestoreAdminBackend) async throws -> Int {
    let overview = try Self.reading(path) { try ExportOverview(try Self.content(of: path)) }
    let writes = ImportedWrites(database: database, backend: backend, tuning: tuning)
    for part in overview.parts {
      let metadata = try Self.path(part.path, in: FilePath.parent(of: path))
      let files = try Self.reading(metadata) { try ExportPartMetadata(try Self.content(of: metadata)).files }
      for name in files {
        try await read(try Self.path(name, in: FilePath.parent(of: metadata)), writes)
      }
    }
    try await writes.finish()
    return writes.count
  }

  /// The path of the file that an import begins with.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a folder without one.
  static func overview(in folder: String) throws(ServiceStatus) -> String {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    guard let name = names.sorted().first(where: { $0.hasSuffix(overviewEnding) }) else {
      throw ServiceStatus(.invalidArgument, "\(folder) has no file that ends with \(overviewEnding).")
    }
    return "\(folder)/\(name)"
  }

  /// A path that a file of the export names, which stays below its folder.
  static func path(_ relative: String, in folder: String) throws(ServiceStatus) -> String {
    guard !relative.isEmpty, !relative.hasPrefix("/"), !relative.split(separator: "/").contains("..") else {
      throw ServiceStatus(.invalidArgument, "The export names the file \"\(relative)\", which is not inside of it.")
    }
    return "\(folder)/\(relative)"
  }

  private static func content(of path: String) throws -> [UInt8] {
    let file = try OpenFile(reading: path)
    defer { file.close() }
    let size = try file.size()
    guard size <= 16 << 20 else { throw BytesError(.limitExceeded, "The file has more than 16 MiB.") }
    return try file.read(at: 0, length: Int(size))
  }

  /// Runs a step, whose errors then name the file.
  private static func reading<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as BytesError {
      throw ServiceStatus(.invalidArgument, "\(path): \(error.message)")
    } catch let error as FileFailure {
      throw ServiceStatus(.invalidArgument, "\(path): \(error.description)")
    }
  }

  private func read(_ path: String, _ writes: ImportedWrites) async throws {
    let file = try Self.reading(path) { try OpenFile(reading: path) }
    defer { file.close() }
    var log = ExportLogReader()
    var offset: Int64 = 0
    while true {
      let bytes = try Self.reading(path) { try file.read(at: offset, length: tuning.readLength) }
      guard !bytes.isEmpty else { break }
      offset += Int64(bytes.count)
      log.feed(bytes)
      while let record = try Self.reading(path, { try log.next() }) {
        let entity = try Self.reading(path) { try ExportEntity(record: record) }
        if includes(entity.path) { try await writes.add(entity, size: record.count) }
      }
    }
    try Self.reading(path) { try log.finish() }
  }
}
