import Foundation
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaFiles
import VestaServiceInterop
import VestaTransportInterop

/// The Realtime Database's part of an export: a file of JSON for each database, with its priorities.
///
/// A file is written and read in parts, so its size does not matter.
struct DatabaseExportPart: ExportPart {
  let tuning: DatabaseExportTuning

  var product: String { "database" }

  private static let folder = "database_export"

  // MARK: Writing

  /// Writes the databases of all projects, as the suite does: in development the name of a database is often that of no
  /// project.
  func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject {
    let folder = "\(root)/\(Self.folder)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for project in [project] + host.projects.filter({ $0 != project }) {
      try await write(try host.backend((any DatabaseAdminBackend).self, project: project), to: folder)
    }
    return ["path": .string(Self.folder)]
  }

  /// Writes the databases of a project.
  private func write(_ admin: any DatabaseAdminBackend, to folder: String) async throws {
    for name in try await admin.databases(context: .owner) {
      let file = try OpenFile(writing: "\(folder)/\(name).json", .always, isPrivate: false)
      defer { file.close() }
      let state = Locked((writer: TreeFileWriter(), offset: Int64(0)))
      try await admin.export(name, context: .owner) { rows in
        try state.withLock { state in
          let bytes = state.writer.add(rows)
          try file.write(bytes, at: state.offset)
          state.offset += Int64(bytes.count)
        }
      }
      try state.withLock { state in try file.write(state.writer.finish(), at: state.offset) }
    }
  }

  // MARK: Reading

  func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws {
    let path = entry["path"]?.string ?? Self.folder
    let folder = path.hasPrefix("/") ? path : "\(root)/\(path)"
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw ServiceStatus(.invalidArgument, "The folder \(folder) of the export cannot be read.")
    }
    for name in names.sorted() where name.hasSuffix(".json") {
      let place = try DatabasePlace(String(name.dropLast(5)), at: "", in: host)
      let admin = try host.backend((any DatabaseAdminBackend).self, project: place.project)
      try await read("\(folder)/\(name)", into: place.namespace, admin)
    }
  }

  private func read(_ path: String, into namespace: String, _ admin: any DatabaseAdminBackend) async throws {
    let file = try OpenFile(reading: path)
    defer { file.close() }
    let state = Locked((reader: TreeFileReader(tuning), offset: Int64(0), isOver: false))
    let length = tuning.readLength
    // The engine says of an error of the file only that there was one.
    let failure = Locked<BytesError?>(nil)
    do throws(DatabaseServiceError) {
      try await admin.import(namespace, context: .owner) { () -> [DatabaseRow]? in
        try state.withLock { state -> [DatabaseRow]? in
          guard !state.isOver else { return nil }
          do throws(BytesError) {
            let bytes: [UInt8]
            do throws(FileFailure) { bytes = try file.read(at: state.offset, length: length) } catch {
              throw BytesError(.malformed, error.description)
            }
            state.offset += Int64(bytes.count)
            state.isOver = bytes.isEmpty
            return bytes.isEmpty ? try state.reader.finish() : try state.reader.rows(in: bytes)
          } catch {
            failure.withLock { $0 = error }
            throw error
          }
        }
      }
    } catch {
      let sentence = failure.withLock { $0?.message } ?? error.status.message
      throw ServiceStatus(.invalidArgument, "\(path): \(sentence)")
    }
  }
}

/// The figures of exports and imports; small in tests.
struct DatabaseExportTuning: Sendable {
  /// The number of bytes of a file that are read at once.
  var readLength = 1 << 20
  /// The most bytes of a value or a name in a file.
  var longestValue = 32 << 20
  /// The most levels of a tree in a file.
  var deepest = 100
}
