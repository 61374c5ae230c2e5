import Foundation
import VestaBytes
import VestaFiles
import VestaFirestoreBackend
import VestaFirestoreWire
import VestaServiceInterop

/// The files `output-0`, `output-1`, … of an export, each closed when it is full.
final class OutputFiles {
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
    let path = document.name.parts(at: "/").dropFirst(5).map(String.init)
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
/// A commit that fails ends the import, also where a repetition might succeed: the engine is in this process.
final class ImportedWrites {
  private let database: String
  private let backend: any FirestoreAdminBackend
  private let context: CallContext
  private let tuning: FirestoreExportTuning
  private var documents: [Document] = []
  private var size = 0

  private(set) var progress = DatabaseFiles.Progress()

  init(
    database: String, backend: any FirestoreAdminBackend, context: CallContext, tuning: FirestoreExportTuning
  ) {
    (self.database, self.backend, self.tuning) = (database, backend, tuning)
    var context = context
    // An import is no change that functions run for.
    context.suppressesEvents = true
    self.context = context
  }

  func add(_ entity: ExportEntity, size: Int) async throws {
    let name = "\(database)/documents/\(entity.path.joined(separator: "/"))"
    documents.append(Document(name: name, fields: entity.fields))
    self.size += size
    if documents.count >= tuning.documentsPerCommit || self.size >= tuning.commitLength { try await finish() }
  }

  func finish() async throws {
    guard !documents.isEmpty else { return }
    var part: [Document]? = documents
    try await backend.import(database, context: context) {
      defer { part = nil }
      return part
    }
    progress.documents += documents.count
    progress.bytes += size
    (documents, size) = ([], 0)
  }
}
