import VestaBytes
import VestaEventsInterop
import VestaFirestoreBackend
import VestaServiceInterop
import VestaTransportInterop

/// A call of the Emulator Suite's own; pure.
enum FirestoreEmulatorCall: Equatable {
  /// Deletes all documents of a database.
  case clear(project: String, database: String)
  /// Deletes a document or the documents of a collection, with everything below.
  case delete(project: String, database: String, ids: [String])
  /// Writes the documents of a database to a folder of the server.
  case export(project: String)
  /// Replaces the security rules of a project.
  case setRules(project: String)
  /// Returns the security rules of a project.
  case rules(project: String)
  /// Reports the outcomes of the expressions of the rules.
  case coverage(project: String, RulesCoverageForm)
  /// Has a function of another program called with changes of documents.
  case setTrigger(project: String, TriggerRegistration)
  /// Ends that.
  case removeTrigger(project: String, key: String)

  /// `nil` for a request that is none of these calls.
  init?(method: HTTPMethod, target: String) {
    guard target.utf8.starts(with: "/emulator/v1/projects/".utf8) else { return nil }
    let path = target.prefix { $0 != "?" }
    let parts = path.parts(at: "/").compactMap {
      try? PercentEncoding.decode($0)
    }
    if method == .post, parts.count == 5, parts[4].hasSuffix(":export") {
      self = .export(project: String(parts[4].dropLast(":export".count)))
      return
    }
    if method == .put || method == .get, parts.count == 5, parts[4].hasSuffix(":securityRules") {
      let project = String(parts[4].dropLast(":securityRules".count))
      self = method == .put ? .setRules(project: project) : .rules(project: project)
      return
    }
    for (suffix, form) in [
      (":ruleCoverage", RulesCoverageForm.json), (":ruleCoverage.html", .page), (":ruleCoverage.lcov", .lcov),
    ]
    where method == .get && parts.count == 5 && parts[4].hasSuffix(suffix) {
      self = .coverage(project: String(parts[4].dropLast(suffix.count)), form)
      return
    }
    if let call = Self.trigger(method, target, parts) {
      self = call
      return
    }
    guard method == .delete, parts.count >= 8, parts[5] == "databases", parts[7] == "documents", !parts[4].isEmpty,
      !parts[6].isEmpty
    else { return nil }
    let ids = Array(parts[8...])
    self =
      ids.isEmpty
      ? .clear(project: parts[4], database: parts[6])
      : .delete(project: parts[4], database: parts[6], ids: ids)
  }

  private static func trigger(_ method: HTTPMethod, _ target: String, _ parts: [String]) -> FirestoreEmulatorCall? {
    guard parts.count > 5, !parts[4].isEmpty else { return nil }
    let key = parts.count == 7 ? parts[6] : ""
    switch (method, parts[5]) {
    case (.put, "triggers") where !key.isEmpty: return .setTrigger(project: parts[4], .legacy(key: key))
    case (.delete, "triggers") where !key.isEmpty: return .removeTrigger(project: parts[4], key: key)
    case (.post, "eventarcTrigger") where parts.count == 6:
      let query = target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) } ?? ""
      guard let key = (try? FormFields(query))?["eventarcTriggerId"], !key.isEmpty else { return nil }
      return .setTrigger(project: parts[4], .modern(key: key))
    default: return nil
    }
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

  func reply(to call: FirestoreEmulatorCall, _ request: HTTPRequest) -> HTTPReply {
    guard host.isDevelopment else {
      return .response(RESTResponse.failure(ServiceStatus(.notFound, "This server is not one for development.")))
    }
    if case .export = call, request.fields.first(.origin) != nil {
      // A page could have an export replaced, or fill the disk.
      let status = ServiceStatus(.permissionDenied, "Pages cannot request an export.")
      return .response(RESTResponse.failure(status))
    }
    let body = request.body.bytes ?? []
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
        case .delete(let project, let database, let ids):
          let backend = try host.backend((any FirestoreBackend).self, project: project)
          try await SubtreeDeletion("projects/\(project)/databases/\(database)", ids).run(backend)
          return RESTResponse.success(Array("{}".utf8))
        case .export(let project):
          try await EmulatorExport(body, project: project).write(host, project: project)
          return RESTResponse.success(Array("{}".utf8))
        case .setRules(let project):
          let rules = try host.backend((any RulesAdministration).self, project: project)
          return try await RulesCall(body).run(rules)
        case .rules(let project):
          let rules = try host.backend((any RulesAdministration).self, project: project)
          return try RulesCall.response(rulesInForce: rules.rulesInForce(of: .firestore))
        case .coverage(let project, let form):
          let rules = try host.backend((any RulesAdministration).self, project: project)
          guard let report = rules.coverage(of: .firestore, as: form) else {
            throw ServiceStatus(.notFound, "The project \(project) has no rules whose coverage is counted.")
          }
          return form == .page
            ? HTTPResponse(fields: [.contentType: "text/html; charset=utf-8"], body: .text(report))
            : RESTResponse.success(Array(report.utf8))
        case .setTrigger(let project, let registration):
          let (trigger, answer) = try registration.trigger(body, project: project)
          try await host.backend((any EventTriggers).self, project: project).set(trigger)
          return RESTResponse.success(try answer.json())
        case .removeTrigger(let project, let key):
          guard try await host.backend((any EventTriggers).self, project: project).remove(key) else {
            throw ServiceStatus(.notFound, "There is no trigger \(key.prefix(100)).")
          }
          return RESTResponse.success(Array("{}".utf8))
        }
      } catch let error as EventTriggerError {
        return RESTResponse.failure(ServiceStatus(.invalidArgument, error.description))
      } catch {
        return RESTResponse.failure(status(of: error))
      }
    }
  }
}
