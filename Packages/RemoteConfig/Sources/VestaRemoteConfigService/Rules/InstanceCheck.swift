import VestaRemoteConfigBackend
import VestaServiceInterop

/// The limits of the attributes that an instance sends.
///
/// Conditions are evaluated against it, so that a client that sends megabytes would cost all others. Lengths are in
/// UTF-16, as the clients count them.
enum InstanceCheck {
  static let maximumCustomSignals = 100
  static let maximumUserProperties = 200
  static let maximumAudiences = 2000
  static let maximumNameLength = 250
  static let maximumValueLength = 500

  static func check(_ instance: ConfigInstance) throws(RemoteConfigServiceError) {
    try check(instance.customSignals, maximumCustomSignals, "custom_signals")
    try check(instance.userProperties, maximumUserProperties, "analytics_user_properties")
    guard instance.audiences.count <= maximumAudiences else { throw tooMany("audiences", maximumAudiences) }
    for audience in instance.audiences { try check(audience, maximumNameLength, "audiences") }
    try check(instance.installationID, "app_instance_id")
    try check(instance.appID, "app_id")
    try check(instance.platform, "platform")
    try check(instance.appVersion, "app_version")
    try check(instance.appBuild, "app_build")
    try check(instance.countryCode, "country_code")
    try check(instance.languageCode, "language_code")
    try check(instance.timeZone, "time_zone")
    try check(instance.operatingSystem?.name, "operating_system")
    try check(instance.operatingSystem?.version, "operating_system")
    try check(instance.platformVersion, "platform_version")
    try check(instance.packageName, "package_name")
    try check(instance.sdkVersion, "sdk_version")
    try check(instance.browser?.name, "browser")
    try check(instance.browser?.version, "browser")
  }

  private static func check(_ value: String?, _ name: String) throws(RemoteConfigServiceError) {
    if let value { try check(value, maximumValueLength, name) }
  }

  private static func check(
    _ values: [String: String], _ maximum: Int, _ name: String
  ) throws(RemoteConfigServiceError) {
    guard values.count <= maximum else { throw tooMany(name, maximum) }
    for (key, value) in values {
      try check(key, maximumNameLength, name)
      try check(value, maximumValueLength, name)
    }
  }

  private static func check(_ text: String, _ maximum: Int, _ name: String) throws(RemoteConfigServiceError) {
    guard text.utf8.count > maximum, text.utf16.count > maximum else { return }
    throw RemoteConfigServiceError(.invalidArgument, "\(name): a text has at most \(maximum) characters.")
  }

  private static func tooMany(_ name: String, _ maximum: Int) -> RemoteConfigServiceError {
    RemoteConfigServiceError(.invalidArgument, "\(name): at most \(maximum) are allowed.")
  }
}
