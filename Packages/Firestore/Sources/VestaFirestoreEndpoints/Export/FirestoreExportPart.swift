import Foundation
import VestaBytes
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTransportInterop

/// Firestore's part of an export: the documents of the default database, as the emulator of the suite writes them.
///
/// Other databases and the times of documents have no place in the layout.
struct FirestoreExportPart: ExportPart {
  let tuning: FirestoreExportTuning

  var product: String { "firestore" }

  private static let name = "firestore_export"

  private func files(_ project: String, _ host: any EndpointHost) throws -> DatabaseFiles {
    let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
    return DatabaseFiles(database: "projects/\(project)/databases/(default)", backend: backend, tuning: tuning)
  }

  func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject {
    let files = try files(project, host)
    _ = try await files.write(to: "\(root)/\(Self.name)", name: Self.name, context: .owner, clock: host.clock)
    let overview = "\(Self.name)/\(Self.name)\(DatabaseFiles.overviewEnding)"
    return ["path": .string(Self.name), "metadata_file": .string(overview)]
  }

  func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws {
    _ = try await files(project, host).read(try overview(entry, root), context: .owner)
  }

  /// The path of the overview: as the metadata names it, or the file with its ending in the folder.
  private func overview(_ entry: JSONObject, _ root: String) throws -> String {
    if let file = entry["metadata_file"]?.string {
      let file = String(file.map { $0 == "\\" ? "/" : $0 })
      return file.hasPrefix("/") ? file : try DatabaseFiles.path(file, in: root)
    }
    let folder = entry["path"]?.string ?? Self.name
    let path = folder.hasPrefix("/") ? folder : try DatabaseFiles.path(folder, in: root)
    return try DatabaseFiles.overview(in: path)
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
