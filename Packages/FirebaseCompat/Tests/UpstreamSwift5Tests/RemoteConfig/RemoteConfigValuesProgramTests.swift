import FirebaseCore
import FirebaseRemoteConfig
import Foundation
import Testing
import VestaRemoteConfigBackend

@Suite(.serialized) struct RemoteConfigValuesProgramTests {
  @Test func `a program with values of every type runs as it is`() async throws {
    try await withApp("values") { app in
      let model = ValuesModel(remoteConfig: RemoteConfig.remoteConfig(app: app))
      let found1 = try model.defaults()
      #expect(found1 == ["Hello", "true", "2", "true", "true", "true", "5", "red", "2"])
      let (theme, same, columns) = try model.typed()
      #expect(theme == Theme(color: "red", size: 1) && same == theme && columns == 2)

      let admin = try app.container.require((any RemoteConfigAdminBackend).self)
      func publish(_ columns: String) async throws {
        let template = ConfigTemplate(parameters: ["columns": ConfigParameter(defaultValue: .value(columns))])
        _ = try await admin.publish(PublishRequest(template: template, precondition: .any), context: .owner)
      }
      try await publish("3")
      #expect(await answer { model.fetch($0) } == "changed: true, status: true")
      #expect(await answer { model.fetch($0) } == "changed: false, status: true")
      #expect(model.keys() == ["columns isBeta theme title", "columns", "columns"])
      #expect(model.remoteConfig["columns"].numberValue == 3 && model.remoteConfig["columns"].source == .remote)
      #expect(model.remoteConfig.configValue(forKey: "columns", source: .default).numberValue == 2)
      #expect(await model.signals() == ["set", "too long"])

      async let updated = model.firstUpdate()
      try await publish("4")
      let found2 = try await updated
      #expect(found2 == ["columns"])
      #expect(model.remoteConfig["columns"].numberValue == 4)
      model.fireAndForget()
    }
  }
}
