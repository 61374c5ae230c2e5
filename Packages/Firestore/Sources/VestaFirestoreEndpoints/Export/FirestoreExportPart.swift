import Foundation
import VestaBytes
import VestaFiles
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop
import VestaTransportInterop

/// Firestore's part of an export: the documents of the default database, as the emulator of the suite writes them.
///
/// Other databases and the times of documents have no place in the layout.
struct FirestoreExportPart: ExportPart {
  let tuning: FirestoreExportTuning

  var product: String { "firestore" }

  private static let name = "firestore_export"
  private static let folder = "all_namespaces/all_kinds"
  private static let metadata = "all_namespaces_all_kinds.export_metadata"

  private func database(_ project: String) -> String { "projects/\(project)/databases/(default)" }

  // MARK: Writing

  func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject {
    let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
    let top = "\(root)/\(Self.name)"
    let folder = "\(top)/\(Self.folder)"
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    let start = host.clock.now()
    let files = OutputFiles(folder: folder, project: project, tuning: tuning)
    do {
      try await backend.export(database(project), context: .owner) { for document in $0 { try files.add(document) } }
    } catch let error as FirestoreServiceError where error.code == .notFound {
      // No document was ever written.
    }
    try files.finish()
    var parts: [ExportOverview.Part] = []
    if files.documents > 0 {
      let part = ExportPartMetadata(files: files.names, start: start, end: host.clock.now())
      try Self.write(part.bytes(name: Self.name), to: "\(folder)/\(Self.metadata)")
      parts.append(.init(path: "\(Self.folder)/\(Self.metadata)", documents: files.documents, bytes: files.bytes))
    }
    let overview = "\(Self.name).overall_export_metadata"
    try Self.write(ExportOverview(parts: parts).bytes, to: "\(top)/\(overview)")
    return ["path": .string(Self.name), "metadata_file": .string("\(Self.name)/\(overview)")]
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = try OpenFile(writing: path, .always, isPrivate: false)
    defer { file.close() }
    try file.write(bytes, at: 0)
  }

  // MARK: Reading

  func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws {
    let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
    let path = try overview(entry, root)
    let overview = try Self.reading(path) { try ExportOverview(try Self.content(of: path)) }
    let writes = ImportedWrites(database: database(project), backend: backend, tuning: tuning)
    for part in overview.parts {
      let metadata = try Self.path(part.path, in: FilePath.parent(of: path))
      let files = try Self.reading(metadata) { try ExportPartMetadata(try Self.content(of: metadata)).files }
      for name in files {
        try await read(try Self.path(name, in: FilePath.parent(of: metadata)), writes)
      }
    }
    try await writes.finish()
  }

  /// The path of the overview: as the metadata names it, or the file with its ending in the folder.
  private func overview(_ entry: JSONObject, _ root: String) throws -> String {
    if let file = entry["metadata_file"]?.string {
      let file = String(file.map { $0 == "\\" ? "/" : $0 })
      return file.hasPrefix("/") ? file : try Self.path(file, in: root)
    }
    let folder = entry["path"]?.string ?? Self.name
    let path = folder.hasPrefix("/") ? folder : try Self.path(folder, in: root)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    guard let name = names.sorted().first(where: { $0.hasSuffix(".overall_export_metadata") }) else {
      throw ServiceStatus(.invalidArgument, "\(path) has no file that ends with .overall_export_metadata.")
    }
    return "\(path)/\(name)"
  }

  /// A path that a file of the export names, which stays below its folder.
  private static func path(_ relative: String, in folder: String) throws -> String {
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
        try await writes.add(try Self.reading(path) { try ExportEntity(record: record) }, size: record.count)
      }
    }
    try Self.reading(path) { try log.finish() }
  }
}

/// The figures of exports and imports; small in tests.
struct FirestoreExportTuning: Sendable {
  /// The number of documents of one file, as the emulator has it.
  var documentsPerFile = 5_000
  /// The number of bytes that are gathered before they are written.
  var writeLength = 1 << 20
  /// The number of bytes of a file that are read at once.
  var readLength = 1 << 20
  /// The number of documents of one commit.
  var documentsPerCommit = 400
  /// The number of bytes of records after which a commit is full.
  var commitLength = 4 << 20
}

/// The files `output-0`, `output-1`, … of an export, each closed when it is full.
private final class OutputFiles {
  private let folder: String
  private let project: String
  private let tuning: FirestoreExportTuning
  private var file: OpenFile?
  private var log = ExportLogWriter()
  private var waiting: [UInt8] = []
  private var written: Int64 = 0
  private var count = 0

  private(set) var names: [String] = []
  private(set) var documents = 0
  private(set) var bytes = 0

  init(folder: String, project: String, tuning: FirestoreExportTuning) {
    (self.folder, self.project, self.tuning) = (folder, project, tuning)
  }

  func add(_ document: Document) throws {
    if count == tuning.documentsPerFile { try finish() }
    if file == nil { try open() }
    let path = document.name.split(separator: "/", omittingEmptySubsequences: false).dropFirst(5).map(String.init)
    waiting += log.frame(ExportEntity(path: path, fields: document.fields).record(project: project))
    (count, documents) = (count + 1, documents + 1)
    if waiting.count >= tuning.writeLength { try flush() }
  }

  /// Writes what waits, and closes the file.
  func finish() throws {
    try flush()
    file?.close()
    file = nil
  }

  private func open() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let name = "output-\(names.count)"
    file = try OpenFile(writing: "\(folder)/\(name)", .always, isPrivate: false)
    names.append(name)
    (log, written, count) = (ExportLogWriter(), 0, 0)
  }

  private func flush() throws {
    try file?.write(waiting, at: written)
    written += Int64(waiting.count)
    bytes += waiting.count
    waiting = []
  }
}

/// Documents of an import on their way into a database, some in each commit.
///
/// Commits that fail for a time are repeated by nobody: the engine is in this process.
private final class ImportedWrites {
  private let database: String
  private let backend: any FirestoreAdminBackend
  private let tuning: FirestoreExportTuning
  private var documents: [Document] = []
  private var size = 0

  init(database: String, backend: any FirestoreAdminBackend, tuning: FirestoreExportTuning) {
    (self.database, self.backend, self.tuning) = (database, backend, tuning)
  }

  func add(_ entity: ExportEntity, size: Int) async throws {
    let name = "\(database)/documents/\(entity.path.joined(separator: "/"))"
    documents.append(Document(name: name, fields: entity.fields))
    self.size += size
    if documents.count >= tuning.documentsPerCommit || self.size >= tuning.commitLength { try await finish() }
  }

  func finish() async throws {
    guard !documents.isEmpty else { return }
    var context = CallContext.owner
    // An import is no change that functions run for.
    context.suppressesEvents = true
    var part: [Document]? = documents
    try await backend.import(database, context: context) {
      defer { part = nil }
      return part
    }
    (documents, size) = ([], 0)
  }
}
