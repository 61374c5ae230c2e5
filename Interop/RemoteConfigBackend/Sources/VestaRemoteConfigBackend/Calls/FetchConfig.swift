/// The attributes that an instance of an app sends about itself, and that conditions are evaluated against.
public struct ConfigInstance: Sendable, Hashable, Codable {
  /// The id of the installation; percentages are drawn from it.
  public var installationID: String?
  /// The id of the app, such as `1:1234:ios:5678`.
  public var appID: String?
  /// The platform: `ios`, `android`, `web`, `linux`, ...
  public var platform: String?
  /// The version of the app, such as `2.1.0`.
  public var appVersion: String?
  /// The build of the app.
  public var appBuild: String?
  /// The country as a code of two letters.
  public var countryCode: String?
  /// The language, such as `en-US`.
  public var languageCode: String?
  /// The name of the time zone.
  public var timeZone: String?
  /// The time at which the app was first opened, in microseconds since 1970.
  public var firstOpenTime: Int64?
  /// The user properties of analytics.
  public var userProperties: [String: String] = [:]
  /// The custom signals that the app has set; numbers as strings.
  public var customSignals: [String: String] = [:]
  /// The audiences that the user belongs to.
  public var audiences: Set<String> = []
  /// The operating system.
  public var operatingSystem: System?
  /// The version of the platform, such as `17.2`, also where the system is not known.
  public var platformVersion: String?
  /// The identifier of the app's bundle or package.
  public var packageName: String?
  /// The version of the client library.
  public var sdkVersion: String?
  /// The browser.
  public var browser: System?

  /// A system and its version.
  public struct System: Sendable, Hashable, Codable {
    /// The name, such as `iOS`.
    public var name: String
    /// The version, such as `17.2`.
    public var version: String

    /// A system.
    public init(name: String, version: String) {
      self.name = name
      self.version = version
    }
  }

  /// An instance of which nothing is known yet.
  public init() {}
}

/// The request for the values of one instance.
public struct FetchConfigRequest: Sendable, Hashable {
  /// The namespace; `firebase` unless the app has several.
  public var namespace: String
  /// The instance that asks.
  public var instance: ConfigInstance
  /// The ETag of the last response; `nil` for none.
  public var etag: String?

  /// A request.
  public init(namespace: String, instance: ConfigInstance, etag: String? = nil) {
    self.namespace = namespace
    self.instance = instance
    self.etag = etag
  }
}

/// The values for one instance.
public struct FetchConfigResponse: Sendable, Hashable {
  /// The change to the fetched entries that the client makes.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The entries replace what was fetched before.
    case update = "UPDATE"
    /// The values that were fetched before are still current.
    case noChange = "NO_CHANGE"
    /// There is no template.
    case noTemplate = "NO_TEMPLATE"
    /// The template has no value for this instance.
    case emptyConfig = "EMPTY_CONFIG"
  }

  /// The change to the fetched entries that the client makes.
  public var state: State
  /// The values by key; those for which the app uses its own default are absent.
  public var entries: [String: String]
  /// The version of the template.
  public var templateVersion: Int64
  /// The ETag for the next request.
  public var etag: String
  /// The rollouts that the instance is part of.
  public var rollouts: [ConfigRollout]

  /// A response.
  public init(
    state: State, entries: [String: String] = [:], templateVersion: Int64 = 0, etag: String,
    rollouts: [ConfigRollout] = []
  ) {
    self.state = state
    self.entries = entries
    self.templateVersion = templateVersion
    self.etag = etag
    self.rollouts = rollouts
  }
}

/// A rollout that an instance is part of.
public struct ConfigRollout: Sendable, Hashable, Codable {
  /// The id of the rollout.
  public var rolloutID: String
  /// The variant that the instance has.
  public var variantID: String
  /// The parameters whose values it sets.
  public var affectedParameterKeys: [String]

  /// A rollout.
  public init(rolloutID: String, variantID: String, affectedParameterKeys: [String]) {
    self.rolloutID = rolloutID
    self.variantID = variantID
    self.affectedParameterKeys = affectedParameterKeys
  }
}

/// The request to be notified of newer templates.
public struct InvalidationsRequest: Sendable, Hashable {
  /// The namespace.
  public var namespace: String
  /// The version of the template that the instance has.
  public var lastKnownVersion: Int64

  /// A request.
  public init(namespace: String, lastKnownVersion: Int64) {
    self.namespace = namespace
    self.lastKnownVersion = lastKnownVersion
  }
}

/// The message that there is a newer template.
public struct ConfigInvalidation: Sendable, Hashable {
  /// The version of the newest template.
  public var latestVersion: Int64
  /// Whether realtime updates are switched off.
  public var isFeatureDisabled: Bool
  /// The pause before the next connection, in seconds.
  public var retryInterval: Int?

  /// A message.
  public init(latestVersion: Int64, isFeatureDisabled: Bool = false, retryInterval: Int? = nil) {
    self.latestVersion = latestVersion
    self.isFeatureDisabled = isFeatureDisabled
    self.retryInterval = retryInterval
  }
}
