import Foundation
import VestaCore
import VestaRemoteConfig
import VestaRemoteConfigBackend
import VestaRemoteConfigRemote
import VestaRemoteConfigService
import VestaSQLite
import VestaServiceInterop
import VestaTransport

// Configuration: a template with conditions, changed while the program runs.
@Sendable
func configChapter(_ guide: Guide) async throws {
  let app = try VestaApp.configure(
    options: guide.remoteOptions("remoteconfig"),
    libraries: [
      RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, SQLiteLibrary.self, RemoteConfigRemoteLibrary.self,
      TransportLibrary.self,
    ])
  let config = RemoteConfig.remoteConfig()
  let settings = RemoteConfigSettings()
  settings.minimumFetchInterval = 0  // an earlier run may have fetched a minute ago
  config.configSettings = settings
  config.setDefaults(["welcome": "Hello" as NSString])
  let admin = try app.container.require((any RemoteConfigAdminBackend).self)

  let first = ConfigTemplate(parameters: ["welcome": ConfigParameter(defaultValue: "Hi")])
  _ = try await admin.publish(PublishRequest(template: first, precondition: .any), context: .owner)
  try await config.fetchAndActivate()
  try guide.show(
    "a published value replaces the default: \(config["welcome"].stringValue)", config["welcome"].stringValue == "Hi")

  let updates = config.updates
  let second = ConfigTemplate(
    conditions: [ConfigCondition(name: "everybody", expression: "percent('tour') <= 100")],
    parameters: ["welcome": ConfigParameter(defaultValue: "Hi", conditionalValues: ["everybody": "Bonjour"])])
  _ = try await admin.publish(PublishRequest(template: second, precondition: .any), context: .owner)
  var changed: Set<String> = []
  for try await update in updates {
    changed = update.updatedKeys
    break
  }
  try await config.activate()
  try guide.show(
    "a new template reached the running program: \(changed.sorted()) is now \(config["welcome"].stringValue)",
    changed == ["welcome"] && config["welcome"].stringValue == "Bonjour")
  await app.delete()
}
