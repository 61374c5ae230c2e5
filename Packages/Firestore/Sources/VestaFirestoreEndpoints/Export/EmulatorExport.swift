import Foundation
import VestaBytes
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTransportInterop

/// An export of one database to a folder of this machine, as tools request it from the emulator of the suite:
/// `{"database":"projects/p/databases/(default)","export_directory":"/tmp/x","export_name":"e1"}`.
///
/// The export is written next to its place, `/tmp/x/e1`, and moved there when it is complete. A folder that has
/// anything but an export in it is never replaced.
struct EmulatorExport: Equatable {
  /// The full name of the database.
  let database: String
  /// The folder in which the export is made.
  let directory: String
  /// The name of the export, and of its folder.
  let name: String

  private var path: String { "\(directory)/\(name)" }

  /// Reads a request.
  ///
  /// - Throws: `INVALID_ARGUMENT` for a database of another project, a directory that is not absolute, and a name that
  ///   is no name of one folder.
  init(_ body: [UInt8], project: String) throws(ServiceStatus) {
    let object = try RESTBody.object(body)
    let database = object["database"]?.string ?? ""
    let parts = database.parts(at: "/")
    guard parts.count == 4, parts[0] == "projects", parts[1] == project[...], parts[2] == "databases", !parts[3].isEmpty
    else {
      throw ServiceStatus(.invalidArgument, "\"database\" has to be the full name of a database of \(project).")
    }
    let directory = object["export_directory"]?.string ?? ""
    guard directory.hasPrefix("/"), !directory.utf8.contains(0) else {
      throw ServiceStatus(.invalidArgument, "\"export_directory\" has to be the absolute path of a directory.")
    }
    let name = object["export_name"]?.string ?? ""
    guard !["", ".", ".."].contains(name), !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else {
      throw ServiceStatus(.invalidArgument, "\"export_name\" has to be the name of a folder.")
    }
    (self.database, self.directory, self.name) = (database, directory, name)
  }

  /// Writes the documents.
  ///
  /// - Throws: `FAILED_PRECONDITION` where the folder cannot be written; an earlier export is unchanged then.
  func write(_ host: any EndpointHost, project: String) async throws {
    let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
    let files = DatabaseFiles(database: database, backend: backend, tuning: FirestoreExportTuning())
    try checkReplaceable()
    let temporary = "\(directory)/.\(name)-\(DocumentIDs.random())"
    do {
      _ = try await files.write(to: temporary, name: name, context: .owner, clock: host.clock)
      if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
      try FileManager.default.moveItem(atPath: temporary, toPath: path)
    } catch {
      try? FileManager.default.removeItem(atPath: temporary)
      if error is any ServiceFailure || error is CancellationError { throw error }
      throw ServiceStatus(.failedPrecondition, "The export to \(path) failed: \(error)")
    }
  }

  /// A folder may be replaced that is absent, empty, or an export.
  private func checkReplaceable() throws(ServiceStatus) {
    guard FileManager.default.fileExists(atPath: path) else { return }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path),
      names.isEmpty || names.contains(where: { $0.hasSuffix(DatabaseFiles.overviewEnding) })
    else {
      throw ServiceStatus(.failedPrecondition, "\(path) is no export, and is not replaced. Name another folder.")
    }
  }
}
