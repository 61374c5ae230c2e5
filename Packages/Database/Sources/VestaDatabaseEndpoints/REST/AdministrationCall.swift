import VestaBytes
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaEventsInterop
import VestaServiceInterop
import VestaTransportInterop

/// A call of the administration, which only owners make.
///
/// | request | answer |
/// |---|---|
/// | `GET /.settings/rules.json` | the text of the rules in force; without comments for `format=strict` |
/// | `PUT /.settings/rules.json` | `{"status":"ok"}`, or 400 with `line:column: …` |
/// | `PUT /.settings/rules.json?dryRun=true` | the same; no rules are put in force |
/// | `GET /.settings/SETTING.json` | the value of a ``DatabaseSetting`` that the server acts by |
/// | `PUT /.settings/SETTING.json` | `{"status":"ok"}` for that value, 501 for another one |
/// | `GET /.inspect/databases.json` | `[{"name":"demo"}]` |
/// | `GET /.inspect/coverage.json`, `/.inspect/coverage` | the outcomes of the rules, in development and to all callers |
/// | `POST /.settings/functionTriggers.json` | `{}`: a function of another program has changes of the database |
struct AdministrationCall: Sendable {
  private enum Action {
    case rules(isStrict: Bool)
    case setRules(isCheck: Bool)
    case databases, addTrigger
    case setting(DatabaseSetting, isSet: Bool)
    case coverage(RulesCoverageForm)
  }

  private var action: Action
  private let place: DatabasePlace
  private let context: CallContext
  private let backend: any DatabaseAdminBackend
  private let body: [UInt8]
  private let host: any EndpointHost

  /// - Returns: `nil` for a request of the data.
  /// - Throws: `UNIMPLEMENTED` for another call of the administration.
  init?(_ request: RESTRequest, _ host: any EndpointHost) throws {
    let http = request.http
    guard ["/.settings/", "/.inspect/"].contains(where: { http.path.hasPrefix($0) }) else { return nil }
    switch (http.path, http.method) {
    case ("/.settings/rules.json", .get): action = .rules(isStrict: false)
    case ("/.settings/rules.json", .put): action = .setRules(isCheck: false)
    case ("/.inspect/databases.json", .get): action = .databases
    case ("/.inspect/coverage.json", .get) where host.isDevelopment: action = .coverage(.json)
    case ("/.inspect/coverage", .get) where host.isDevelopment: action = .coverage(.page)
    case ("/.settings/functionTriggers.json", .post) where host.isDevelopment: action = .addTrigger
    case (let path, let method):
      guard let setting = DatabaseSetting(path: path), method == .get || method == .put else {
        throw ServiceStatus(.unimplemented, "This server has no call \(method) \(path.prefix(100)).")
      }
      action = .setting(setting, isSet: method == .put)
    }
    let fields = try FormFields(String(http.query ?? ""))
    switch action {
    case .rules: action = .rules(isStrict: fields["format"] == "strict")
    case .setRules: action = .setRules(isCheck: fields["dryRun"] == "true")
    default: break
    }
    place = try DatabasePlace(fields["ns"], at: http.authority, in: host)
    var context = CallContext(http, project: place.project, clock: host.clock)
    if let token = fields["auth"] ?? fields["access_token"] { context.caller = .credential(.bearer(token)) }
    self.context = context
    backend = try host.backend((any DatabaseAdminBackend).self, project: place.project)
    (body, self.host) = (request.body, host)
  }

  func response() async throws -> HTTPResponse {
    switch action {
    case .rules(let isStrict):
      let text = try await backend.rules(of: place.namespace, context: context) ?? "null"
      // Tools parse the strict form: it has neither comments nor line ends in strings.
      return .json(isStrict ? try PlacedJSON(text: Array(text.utf8)).value.json() : Array(text.utf8))
    case .setRules(let isCheck):
      guard let source = String(validating: body, as: UTF8.self) else {
        throw ServiceStatus(.invalidArgument, "1:1: The rules are not UTF-8.")
      }
      if isCheck {
        _ = try await backend.checkRules(source, of: place.namespace, context: context)
      } else {
        _ = try await backend.setRules(source, of: place.namespace, context: context)
      }
      return .json(Array(#"{"status":"ok"}"#.utf8))
    case .databases:
      let names = try await backend.databases(context: context)
      let list = JSONValue.array(names.map { .object(["name": .string($0)]) })
      return .json((try? list.json()) ?? [])
    case .setting(let setting, let isSet):
      // Only owners list databases: the call decides whether the caller is one.
      _ = try await backend.databases(context: context)
      guard isSet else { return .json(try setting.value.json()) }
      try setting.set(body)
      return .json(Array(#"{"status":"ok"}"#.utf8))
    case .coverage(let form): return try coverage(as: form)
    case .addTrigger:
      // Only owners list databases: the call decides whether the caller is one.
      _ = try await backend.databases(context: context)
      do {
        let trigger = try ValueEventForm.trigger(body, namespace: place.namespace)
        try await host.backend((any EventTriggers).self, project: triggerProject).set(trigger)
      } catch let error as EventTriggerError {
        throw ServiceStatus(.invalidArgument, error.description)
      }
      return .json(Array("{}".utf8))
    }
  }

  private func coverage(as form: RulesCoverageForm) throws -> HTTPResponse {
    let rules = try host.backend((any RulesAdministration).self, project: place.project)
    guard let report = rules.coverage(of: .database, as: form) else {
      throw ServiceStatus(.notFound, "The project \(place.project) has no rules whose coverage is counted.")
    }
    guard form == .page else { return .json(Array(report.utf8)) }
    return HTTPResponse(fields: [.contentType: "text/html; charset=utf-8"], body: .text(report))
  }

  /// The project of a function: that of its name, as its namespace may be a pattern.
  private var triggerProject: String {
    let name = (try? JSONObject(json: body))?["name"]?.string?.parts(at: "/", omittingEmpty: true) ?? []
    return name.count > 2 && name[0] == "projects" ? String(name[1]) : place.project
  }
}
