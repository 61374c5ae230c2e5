import Foundation
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// An export of all buckets to a folder of this machine, as the Firebase CLI requests it from the emulator of Storage:
/// `{"path":"/tmp/x/storage_export","initiatedBy":"exec"}`.
///
/// The export is written next to its place and moved there when it is complete. A folder that has anything but an
/// export in it is never replaced.
struct StorageFolderExport {
  private let path: String

  /// Reads a request.
  ///
  /// - Throws: `INVALID_ARGUMENT` for one without an absolute path.
  init(_ body: [UInt8]) throws(ServiceStatus) {
    guard let path = (try? JSONObject(json: body))?["path"]?.string, !path.isEmpty else {
      throw ServiceStatus(.invalidArgument, "Export request body must include 'path'.")
    }
    guard path.hasPrefix("/"), !path.utf8.contains(0) else {
      throw ServiceStatus(.invalidArgument, "The path of an export has to be absolute.")
    }
    self.path = URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
  }

  /// A folder that is there is replaced only where it is empty or an earlier export.
  private static func checkIsExport(_ place: String) throws {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: place),
      names.isEmpty || names.contains("buckets.json")
    else {
      throw ServiceStatus(.failedPrecondition, "\(place) is no export, and is not replaced. Name another folder.")
    }
  }

  /// Writes the objects.
  ///
  /// - Throws: `FAILED_PRECONDITION` where the folder cannot be replaced; an earlier export is unchanged then.
  func write(_ part: StorageExportPart, _ host: any EndpointHost) async throws {
    let place = path.hasSuffix("/") ? String(path.dropLast()) : path
    let isThere = FileManager.default.fileExists(atPath: place)
    if isThere { try Self.checkIsExport(place) }
    let temporary = "\(place)-\(UUID().uuidString.lowercased())"
    do {
      try await part.write(project: host.defaultProject, into: temporary, in: host)
      if isThere { try FileManager.default.removeItem(atPath: place) }
      try FileManager.default.moveItem(atPath: temporary, toPath: place)
    } catch {
      try? FileManager.default.removeItem(atPath: temporary)
      throw error
    }
  }
}
