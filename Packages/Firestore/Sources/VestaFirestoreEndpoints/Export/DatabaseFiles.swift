import Foundation
import VestaBytes
import VestaFiles
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop

/// The files of an export of one database, in the layout of the emulator of the suite.
struct DatabaseFiles {
  let database: String
  let backend: any FirestoreAdminBackend
  let tuning: FirestoreExportTuning
  /// The ids of the collections whose documents count; empty for all.
  var collections: Set<String> = []

  /// The number of documents and bytes that were written or read.
  struct Progress: Sendable {
    var documents = 0
    var bytes = 0
  }

  static let overviewEnding = ".overall_export_metadata"
  private static let folder = "all_namespaces/all_kinds"
  private static let metadata = "all_namespaces_all_kinds.export_metadata"

  private func counts(_ path: [Substring]) -> Bool {
    collections.isEmpty || path.count > 1 && collections.contains(String(path[path.count - 2]))
  }

  // MARK: Writing

  /// Writes all documents into a folder, which is made.
  ///
  /// - Parameters:
  ///   - top: The path of the folder.
  ///   - name: The name of the export, with which the file of its overview begins.
  ///   - context: The caller.
  ///   - clock: The time.
  func write(to top: String, name: String, context: CallContext, clock: ServiceClock) async throws -> Progress {
    let folder = "\(top)/\(Self.folder)"
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    let start = clock.now()
    let project = String(database.parts(at: "/", omittingEmpty: true).dropFirst().first ?? "")
    let files = OutputFiles(folder: folder, project: project, tuning: tuning)
    do {
      try await backend.export(database, context: context) { part in
        for document in part where counts(document.name.parts(at: "/", omittingEmpty: true)) { try files.add(document) }
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
    return Progress(documents: files.documents, bytes: files.bytes)
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try OpenFile(writing: path, .always, isPrivate: false)
    defer { file.close() }
    try file.write(bytes, at: 0)
  }

  // MARK: Reading

  /// Adds the documents of an export.
  ///
  /// - Parameters:
  ///   - overview: The path of the file of the overview.
  ///   - context: The caller.
  func read(_ overview: String, context: CallContext) async throws -> Progress {
    let parts = try Self.reading(overview) { try ExportOverview(try Self.content(of: overview)) }.parts
    let writes = ImportedWrites(database: database, backend: backend, context: context, tuning: tuning)
    for part in parts {
      let metadata = try Self.path(part.path, in: FilePath.parent(of: overview))
      let files = try Self.reading(metadata) { try ExportPartMetadata(try Self.content(of: metadata)).files }
      var found = 0
      for name in files {
        found += try await read(try Self.path(name, in: FilePath.parent(of: metadata)), writes)
      }
      // A file that was cut off between two records, or has no bytes, is otherwise one with fewer documents.
      if found < part.documents { throw Self.damaged(metadata, has: found, of: part.documents) }
    }
    try await writes.finish()
    return writes.progress
  }

  private static func damaged(_ metadata: String, has found: Int, of stated: Int) -> ServiceStatus {
    ServiceStatus(
      .invalidArgument,
      "The files that \(metadata) names have \(found) documents, and not \(stated): the export is damaged.")
  }

  /// The path of the overview in a folder.
  static func overview(in folder: String) throws -> String {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    guard let name = names.sorted().first(where: { $0.hasSuffix(overviewEnding) }) else {
      throw ServiceStatus(.invalidArgument, "\(folder) has no file that ends with \(overviewEnding).")
    }
    return "\(folder)/\(name)"
  }

  /// A path that a file of the export names, which stays below its folder.
  static func path(_ relative: String, in folder: String) throws -> String {
    guard !relative.isEmpty, !relative.hasPrefix("/"), !relative.parts(at: "/", omittingEmpty: true).contains("..")
    else {
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

  /// Adds the documents of a file.
  ///
  /// - Returns: The number of its documents, also of those that do not count.
  private func read(_ path: String, _ writes: ImportedWrites) async throws -> Int {
    let file = try Self.reading(path) { try OpenFile(reading: path) }
    defer { file.close() }
    var log = ExportLogReader()
    var offset: Int64 = 0
    var found = 0
    while true {
      let bytes = try Self.reading(path) { try file.read(at: offset, length: tuning.readLength) }
      guard !bytes.isEmpty else { break }
      offset += Int64(bytes.count)
      log.feed(bytes)
      while let record = try Self.reading(path, { try log.next() }) {
        let entity = try Self.reading(path) { try ExportEntity(record: record) }
        found += 1
        guard counts(entity.path.map { $0[...] }) else { continue }
        try await writes.add(entity, size: record.count)
      }
    }
    try Self.reading(path) { try log.finish() }
    return found
  }
}
