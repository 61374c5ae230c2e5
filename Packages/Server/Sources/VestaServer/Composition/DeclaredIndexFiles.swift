import Foundation
import VestaCore
import VestaFirestoreBackend
import VestaFirestoreEndpoints
import VestaServiceInterop
import VestaTransportInterop

/// The files of declared indexes that `firebase.json` names, which are declared when the server starts, in addition to
/// the indexes that a database has.
///
/// A file that cannot be used is reported, and the server starts without it: queries need no declared index.
struct DeclaredIndexFiles {
  private let settings: ServerSettings

  init(_ settings: ServerSettings) { self.settings = settings }

  /// Declares the indexes of the project of the settings.
  func declare(in host: any EndpointHost) async {
    guard settings.products?.contains("firestore") ?? true else { return }
    for (database, path) in settings.indexes.sorted(by: { $0.key < $1.key }) {
      guard let bytes = FileManager.default.contents(atPath: path), let text = String(validating: bytes, as: UTF8.self)
      else {
        report("The file is absent, cannot be read, or is not UTF-8.", path)
        continue
      }
      let name = "projects/\(settings.project)/databases/\(database)"
      do {
        let backend = try host.backend((any FirestoreAdminBackend).self, project: settings.project)
        try await IndexDeployment.deploy(text, to: name, of: backend, context: .owner)
      } catch {
        report((error as? any ServiceFailure)?.status.message ?? "\(error)", path)
      }
    }
  }

  private func report(_ cause: String, _ path: String) {
    log.error("I-SRV000008", "The indexes of \(path) are not declared: \(cause)")
  }
}

private let log = Logger(service: "VestaServer")
