import Foundation
import VestaCore
import VestaRemoteConfigBackend

/// The app and the device, as conditions see them.
struct AppInfo: Sendable {
  let installationID: @Sendable () -> String
  let appID: String

  init(_ app: VestaApp) {
    appID = app.options.googleAppID
    installationID = { [weak app] in app?.installationID ?? "" }
  }

  var context: DeviceContext {
    DeviceContext(
      appVersion: Self.info("CFBundleShortVersionString"), appBuild: Self.info("CFBundleVersion"),
      systemVersion: systemVersion, locale: Locale.current.identifier, appID: appID)
  }

  /// Returns the instance that asks for values.
  func instance(_ record: FetchRecord) -> ConfigInstance {
    let context = context
    var instance = ConfigInstance()
    instance.installationID = installationID()
    instance.appID = appID
    instance.platform = VestaApp.systemName
    instance.appVersion = context.appVersion.isEmpty ? nil : context.appVersion
    instance.appBuild = context.appBuild.isEmpty ? nil : context.appBuild
    instance.countryCode = Locale.current.region?.identifier
    instance.languageCode = Locale.current.identifier(.bcp47)
    instance.timeZone = TimeZone.current.identifier
    instance.firstOpenTime = record.firstOpenTime
    instance.customSignals = record.customSignals
    instance.operatingSystem = ConfigInstance.System(name: VestaApp.systemName, version: systemVersion)
    return instance
  }

  private var systemVersion: String {
    let version = ProcessInfo.processInfo.operatingSystemVersion
    return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
  }

  private static func info(_ key: String) -> String { Bundle.main.infoDictionary?[key] as? String ?? "" }
}
