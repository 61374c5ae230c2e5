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

  private func files(_ project: String) -> ExportFiles {
    ExportFiles(database: "projects/\(project)/databases/(default)", tuning: tuning)
  }

  func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject {
    let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
    _ = try await files(project).write(named: Self.name, to: "\(root)/\(Self.name)", from: backend, host.clock)
    let overview = "\(Self.name)/\(Self.name)\(ExportFiles.overviewEnding)"
    return ["path": .string(Self.name), "metadata_file": .string(overview)]
  }

  func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws {
    let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
    _ = try await files(project).read(try overview(entry, root), into: backend)
  }

  /// The path of the overview: as the metadata names it, or the file with its ending in the folder.
  private func overview(_ entry: JSONObject, _ root: String) throws -> String {
    if let file = entry["metadata_file"]?.string {
      let file = String(file.map { $0 == "\\" ? "/" : $0 })
      return file.hasPrefix("/") ? file : try ExportFiles.path(file, in: root)
    }
    let folder = entry["path"]?.string ?? Self.name
    return try ExportFiles.overview(in: folder.hasPrefix("/") ? folder : try ExportFiles.path(folder, in: root))
  }
}
