import Dispatch
import Foundation
import VestaCore
import VestaRemoteConfig
import VestaRemoteConfigBackend
import VestaRemoteConfigService
import VestaSQLite
import VestaServiceInterop

/// An expectation that was not met.
struct Failure: Error { let what: String }

func expect(_ condition: Bool, _ what: String) throws { if !condition { throw Failure(what: what) } }

/// Publishes and fetches in a separate directory, and continues after a restart of the app.
func consume() async -> Int32 {
  let directory = FileManager.default.temporaryDirectory.appending(path: "remote-config-consumer-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  do {
    try await run(in: directory) { try await publishAndActivate($0) }
    try await run(in: directory) { try await goOn($0) }
    print("RemoteConfigConsumer: everything holds")
    return 0
  } catch {
    print("RemoteConfigConsumer: \(error)")
    return 1
  }
}

private func run(in directory: URL, _ body: (VestaApp) async throws -> Void) async throws {
  let options = VestaOptions(projectID: "consumer", backend: .embedded(directory: directory))
  options.callbackQueue = DispatchQueue(label: "callbacks")
  let app = try VestaApp.configure(
    options: options, libraries: [RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, SQLiteLibrary.self])
  try await body(app)
  await app.delete()
}

private func publishAndActivate(_ app: VestaApp) async throws {
  let config = RemoteConfig.remoteConfig()
  config.setDefaults(["welcome": "Hello", "limit": 5])
  let admin = try app.container.require((any RemoteConfigAdminBackend).self)
  let json = """
    {"conditions": [{"name": "all", "expression": "percent <= 100 && app.customSignal['city'].contains(['Ly'])"}],
     "parameters": {"welcome": {"defaultValue": {"value": "Hi"}, "conditionalValues": {"all": {"value": "Bonjour"}}}}}
    """
  try await config.setCustomSignals(["city": "Lyon"])
  let template = try ConfigTemplate(json: Array(json.utf8))
  let stored = try await admin.publish(PublishRequest(template: template, precondition: .any), context: .owner)
  try expect(config["welcome"].stringValue == "Hello", "the default holds before a fetch")
  let status = try await config.fetchAndActivate()
  try expect(status == .successFetchedFromRemote, "the fetch succeeds")
  try expect(config["welcome"].stringValue == "Bonjour" && config["limit"].numberValue == 5, "values come from both")

  var updates = config.updates.makeAsyncIterator()
  var changed = template
  changed.parameters["limit"] = ConfigParameter(defaultValue: "9", valueType: .number)
  _ = try await admin.publish(PublishRequest(template: changed, precondition: .etag(stored.etag)), context: .owner)
  try expect(try await updates.next()?.updatedKeys == ["limit"], "an update names the key that changed")
}

private func goOn(_ app: VestaApp) async throws {
  let config = RemoteConfig.remoteConfig()
  try expect(config["welcome"].stringValue == "Bonjour", "active values are there after a restart")
  try expect(config["limit"].source == .default, "what was fetched waits for its activation")
  try expect(try await config.activate(), "it is activated")
  try expect(config["limit"].numberValue == 9, "and takes effect")
}
