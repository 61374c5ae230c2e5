public import VestaBytes
public import VestaRemoteConfigBackend

/// The request of an app for its values, with what belongs to the call and not to the instance.
public struct ConfigFetchCall: Sendable, Hashable {
  /// The request; its ETag travels in the header `if-none-match`.
  public var request: FetchConfigRequest
  /// The token that proves the installation.
  public var installationToken: String?

  /// A call.
  public init(_ request: FetchConfigRequest, installationToken: String? = nil) {
    self.request = request
    self.installationToken = installationToken
  }
}

/// Fetches as bodies of HTTP, and back.
///
/// The platform is that of the app's id, and the system has the name of the platform: the protocol has no members for
/// them, nor for audiences and the browser.
public enum FetchWire {
  /// The header with the ETag of the last response; `*` for none.
  public static let etagHeader = "if-none-match"
  /// The header of the response with its ETag.
  public static let answerETagHeader = "etag"
  /// The header with the token of the installation.
  public static let installationHeader = "x-goog-firebase-installations-auth"
  /// The header with the API key.
  public static let keyHeader = "x-goog-api-key"

  /// Whether a body is compressed, whatever its header says: browsers announce gzip and send JSON.
  public static func isGzip(_ body: [UInt8]) -> Bool { body.starts(with: [0x1F, 0x8B]) }

  /// The body of a request.
  public static func body(of call: ConfigFetchCall) throws(BytesError) -> [UInt8] {
    let instance = call.request.instance
    var object = JSONObject()
    object["app_instance_id"] = instance.installationID.map(JSONValue.string)
    object["app_instance_id_token"] = call.installationToken.map(JSONValue.string)
    object["app_id"] = instance.appID.map(JSONValue.string)
    object["country_code"] = instance.countryCode.map(JSONValue.string)
    object["language_code"] = instance.languageCode.map(JSONValue.string)
    object["platform_version"] = (instance.platformVersion ?? instance.operatingSystem?.version).map(JSONValue.string)
    object["time_zone"] = instance.timeZone.map(JSONValue.string)
    object["package_name"] = instance.packageName.map(JSONValue.string)
    object["app_version"] = instance.appVersion.map(JSONValue.string)
    object["app_build"] = instance.appBuild.map(JSONValue.string)
    object["sdk_version"] = instance.sdkVersion.map(JSONValue.string)
    object["first_open_time"] = instance.firstOpenTime.map { .string(RFC3339.text(microseconds: $0)) }
    object["analytics_user_properties"] = self.object(instance.userProperties)
    object["custom_signals"] = self.object(instance.customSignals)
    return try object.json()
  }

  /// Reads a request.
  ///
  /// - Parameters:
  ///   - body: JSON, or the relaxed form of Apple's clients; not compressed.
  ///   - namespace: The namespace of the path.
  ///   - etag: The header `if-none-match`.
  ///   - limits: The limits of the JSON.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`.
  public static func call(
    body: [UInt8], namespace: String, etag: String?, limits: JSONLimits = JSONLimits(maximumSize: 1 << 20)
  ) throws(BytesError) -> ConfigFetchCall {
    let object = try RelaxedJSON.object(body, limits: limits)
    func text(_ name: String, _ other: String) throws(BytesError) -> String? {
      switch object[name] ?? object[other] {
      case nil, .null?: return nil
      case .string(let text)?: return text.isEmpty ? nil : text
      case .integer(let number)?: return "\(number)"
      default: throw BytesError(.malformed, "the member \(name) is no string")
      }
    }
    var instance = ConfigInstance()
    instance.installationID = try text("app_instance_id", "appInstanceId")
    instance.appID = try text("app_id", "appId")
    instance.countryCode = try text("country_code", "countryCode")
    instance.languageCode = try text("language_code", "languageCode")
    instance.timeZone = try text("time_zone", "timeZone")
    instance.appVersion = try text("app_version", "appVersion")
    instance.appBuild = try text("app_build", "appBuild")
    instance.firstOpenTime = try text("first_open_time", "firstOpenTime").flatMap { RFC3339.microseconds(of: $0) }
    instance.userProperties = try strings(object["analytics_user_properties"] ?? object["analyticsUserProperties"])
    instance.customSignals = try strings(object["custom_signals"] ?? object["customSignals"])
    instance.platform = instance.appID.flatMap { platform(ofApp: $0) }
    instance.packageName = try text("package_name", "packageName")
    instance.sdkVersion = try text("sdk_version", "sdkVersion")
    instance.platformVersion = try text("platform_version", "platformVersion")
    if let version = instance.platformVersion, let platform = instance.platform {
      instance.operatingSystem = ConfigInstance.System(name: system(platform), version: version)
    }
    let known = etag == "*" || etag?.isEmpty == true ? nil : etag
    return ConfigFetchCall(
      FetchConfigRequest(namespace: namespace, instance: instance, etag: known),
      installationToken: try text("app_instance_id_token", "appInstanceIdToken"))
  }

  /// The body of a response; its ETag travels in the header `etag`.
  public static func body(of response: FetchConfigResponse) throws(BytesError) -> [UInt8] {
    var object = JSONObject()
    if !response.entries.isEmpty { object["entries"] = self.object(response.entries) }
    object["state"] = .string(response.state.rawValue)
    // A string: Apple's clients ignore a number.
    if response.templateVersion > 0 { object["templateVersion"] = .string("\(response.templateVersion)") }
    if !response.rollouts.isEmpty {
      object["rolloutMetadata"] = .array(
        response.rollouts.map { rollout in
          [
            "rolloutId": .string(rollout.rolloutID), "variantId": .string(rollout.variantID),
            "affectedParameterKeys": .array(rollout.affectedParameterKeys.map(JSONValue.string)),
          ]
        })
    }
    return try object.json()
  }

  /// Reads a response.
  ///
  /// - Parameters:
  ///   - body: JSON.
  ///   - etag: The header `etag`.
  ///   - limits: The limits of the JSON.
  /// - Throws: `BytesError` with `.malformed` or `.limitExceeded`, also for a state that says nothing.
  public static func response(
    body: [UInt8], etag: String?, limits: JSONLimits = JSONLimits()
  ) throws(BytesError) -> FetchConfigResponse {
    let object = try JSONObject(json: body, limits: limits)
    guard let state = object["state"]?.string.flatMap(FetchConfigResponse.State.init) else {
      throw BytesError(.malformed, "the state of the values is unknown")
    }
    let version: Int64? =
      switch object["templateVersion"] {
      case .string(let text)?: Int64(text)
      case let number?: number.integer
      case nil: 0
      }
    guard let version else { throw BytesError(.malformed, "the version of the template is no number") }
    return FetchConfigResponse(
      state: state, entries: try strings(object["entries"]), templateVersion: version, etag: etag ?? "",
      rollouts: (object["rolloutMetadata"]?.array ?? []).compactMap(rollout))
  }

  /// The platform of an app's id such as `1:1234:ios:5678`.
  static func platform(ofApp id: String) -> String? {
    let parts = id.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 4 && !parts[2].isEmpty ? String(parts[2]) : nil
  }

  private static func system(_ platform: String) -> String {
    switch platform {
    case "ios": "iOS"
    case "android": "Android"
    default: platform
    }
  }

  /// The strings of an object; numbers and booleans are written out, null is dropped.
  private static func strings(_ json: JSONValue?) throws(BytesError) -> [String: String] {
    switch json {
    case nil, .null?: return [:]
    case .object(let object)?:
      var strings: [String: String] = [:]
      for member in object.members {
        switch member.value {
        case .null: break
        case .string(let text): strings[member.name] = text
        case .integer(let number): strings[member.name] = "\(number)"
        case .number(let number): strings[member.name] = "\(number)"
        case .bool(let flag): strings[member.name] = "\(flag)"
        case .array, .object: throw BytesError(.malformed, "the value of \(member.name) is no string")
        }
      }
      return strings
    default: throw BytesError(.malformed, "a map of strings is no object")
    }
  }

  private static func object(_ strings: [String: String]) -> JSONValue? {
    if strings.isEmpty { return Optional<JSONValue>.none }
    var object = JSONObject()
    for (name, text) in strings.sorted(by: { $0.key < $1.key }) { object[name] = .string(text) }
    return .object(object)
  }

  private static func rollout(_ json: JSONValue) -> ConfigRollout? {
    guard case .object(let object) = json, let id = object["rolloutId"]?.string else { return nil }
    let keys = (object["affectedParameterKeys"]?.array ?? []).compactMap(\.string)
    return ConfigRollout(rolloutID: id, variantID: object["variantId"]?.string ?? "", affectedParameterKeys: keys)
  }
}
