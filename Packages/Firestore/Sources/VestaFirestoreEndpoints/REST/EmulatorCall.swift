import VestaBytes
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTransportInterop

/// A call of the Emulator Suite's own; pure.
enum EmulatorCall: Equatable {
  /// Deletes all documents of a database.
  case clear(project: String, database: String)
  /// Replaces the security rules of a project.
  case setRules(project: String)
  /// Reports the outcomes of the expressions of the rules.
  case coverage(project: String, RulesCoverageForm)

  /// `nil` for a request that is none of these calls.
  init?(method: HTTPMethod, target: String) {
    guard target.utf8.starts(with: "/emulator/v1/projects/".utf8) else { return nil }
    let path = target.prefix { $0 != "?" }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).compactMap {
      try? PercentEncoding.decode($0)
    }
    if method == .put, parts.count == 5, parts[4].hasSuffix(":securityRules") {
      self = .setRules(project: String(parts[4].dropLast(":securityRules".count)))
      return
    }
    for (suffix, form) in [
      (":ruleCoverage", RulesCoverageForm.json), (":ruleCoverage.html", .page), (":ruleCoverage.lcov", .lcov),
    ]
    where method == .get && parts.count == 5 && parts[4].hasSuffix(suffix) {
      self = .coverage(project: String(parts[4].dropLast(suffix.count)), form)
      return
    }
    guard method == .delete, parts.count == 8, parts[5] == "databases", parts[7] == "documents", !parts[4].isEmpty,
      !parts[6].isEmpty
    else { return nil }
    self = .clear(project: parts[4], database: parts[6])
  }
}

/// Serves the calls of the Emulator Suite, in development only: they need no credential.
struct EmulatorHandler: Sendable {
  private let host: any EndpointHost
  private let tuning: FirestoreEndpointTuning

  init(_ host: any EndpointHost, _ tuning: FirestoreEndpointTuning) {
    self.host = host
    self.tuning = tuning
  }

  func reply(to call: EmulatorCall, _ body: [UInt8]) -> HTTPReply {
    guard host.isDevelopment else {
      return .response(RESTResponse.failure(ServiceStatus(.notFound, "This server is not one for development.")))
    }
    return .task { [self] in
      do {
        switch call {
        case .clear(let project, let database):
          let backend = try host.backend((any FirestoreAdminBackend).self, project: project)
          do {
            try await backend.clear("projects/\(project)/databases/\(database)", context: .owner)
          } catch let error as FirestoreServiceError where error.code == .notFound {
            // No document was ever written.
          }
          return RESTResponse.success(Array("{}".utf8))
        case .setRules(let project):
          let rules = try host.backend((any RulesAdministration).self, project: project)
          return try await RulesCall(body).run(rules)
        case .coverage(let project, let form):
          let rules = try host.backend((any RulesAdministration).self, project: project)
          guard let report = rules.coverage(of: .firestore, as: form) else {
            throw ServiceStatus(.notFound, "The project \(project) has no rules whose coverage is counted.")
          }
          return form == .page
            ? HTTPResponse(fields: [.contentType: "text/html; charset=utf-8"], body: .text(report))
            : RESTResponse.success(Array(report.utf8))
        }
      } catch {
        return RESTResponse.failure(status(of: error))
      }
    }
  }
}
