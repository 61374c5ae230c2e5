import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

/// The calls of test kits and of the Firebase CLI to the suite's emulator of Storage.
///
/// They need no credential and name no project: they are for all projects of a server for development.
enum StorageSuiteCall: String {
  /// Sets the rules.
  case setRules = "/internal/setRules"
  /// Clears everything.
  case reset = "/internal/reset"
  /// Exports everything to a folder of this machine.
  case export = "/internal/export"

  /// `nil` for a request that is none of these calls.
  init?(_ method: HTTPMethod, _ target: String) {
    self.init(rawValue: String(target.prefix { $0 != "?" }))
    guard method == (self == .setRules ? .put : .post) else { return nil }
  }

  /// Serves a request.
  func response(
    to request: HTTPRequest, _ host: any EndpointHost, _ tuning: StorageEndpointsTuning
  ) async -> HTTPResponse {
    guard host.isDevelopment else { return Self.message("This server is not one for development.", .notFound) }
    if case .export = self, request.fields.first(.origin) != nil {
      // A page could have an export replaced, or fill the disk.
      return Self.message("Pages cannot request an export.", 403)
    }
    do {
      let body = try await request.body.collect(upTo: tuning.bodyLimit)
      switch self {
      case .setRules: return try await StorageRulesCall.response(to: body, host)
      case .reset: try await StorageReset(host: host).run()
      case .export: try await StorageFolderExport(body).write(StorageExportPart(tuning: tuning), host)
      }
      return HTTPResponse(.ok, fields: [.contentType: StorageExchange.text], body: .text("OK"))
    } catch let error as RulesRefusal {
      return Self.message("There was an error updating rules: \(error)", .badRequest)
    } catch let error as ServiceStatus {
      return Self.message(error.message, .badRequest)
    } catch is TransportError {
      return Self.message("The body cannot be read.", .badRequest)
    } catch {
      return Self.message("The call has failed: \(error)", .internalServerError)
    }
  }

  static func message(_ text: String, _ status: HTTPStatus) -> HTTPResponse {
    let object: JSONObject = ["message": .string(text)]
    return .json((try? object.json()) ?? [], status: status)
  }
}
