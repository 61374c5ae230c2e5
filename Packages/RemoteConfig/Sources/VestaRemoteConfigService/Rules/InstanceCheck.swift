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
    for (name, value) in [
      ("app_instance_id", instance.installationID), ("app_id", instance.appID), ("platform", instance.platform),
      ("app_version", instance.appVersion), ("app_build", instance.appBuild), ("country_code", instance.countryCode),
      ("language_code", instance.languageCode), ("time_zone", instance.timeZone),
      ("operating_system", instance.operatingSystem?.name), ("operating_system", instance.operatingSystem?.version),
      ("platform_version", instance.platformVersion), ("package_name", instance.packageName),
      ("sdk_version", instance.sdkVersion), ("browser", instance.browser?.name), ("browser", instance.browser?.version),
    ] {
      if let value { try check(value, maximumValueLength, name) }
    }
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
