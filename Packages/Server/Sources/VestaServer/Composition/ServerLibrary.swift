import VestaAppCheckService
import VestaAuthBackend
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaEventsInterop
import VestaFirestoreService
import VestaFunctionsEndpoints
import VestaMessagingPush
import VestaPostgres
import VestaRulesGuards
import VestaServiceInterop
import VestaTransportInterop

/// Registers what the settings of a server say about its projects: whom they believe, and their rules.
enum ServerLibrary: Library {
  static let name = "vesta-server"

  static func components() -> [Component] {
    [
      Component(AuthServiceOptions.self, caching: .shared) { container in
        var options = AuthServiceOptions()
        let settings = SettingsOfApps.settings(of: container.appName)
        let isDevelopment = settings.isDevelopment
        options.passkeyRelyingParty = PasskeyRelyingParty(id: settings.passkeyDomain, name: settings.passkeyDomain)
        (options.isDevelopment, options.usesDevelopmentTokens) = (isDevelopment, isDevelopment)
        // As a project of the Emulator Suite is at first.
        if isDevelopment {
          options.initialConfig.hidesEmails = false
          // Test suites guess, and ask for codes, hundreds of times a minute, from one address.
          let unlimited = RateLimit(burst: 1_000_000, refillInterval: .milliseconds(1))
          (options.accountGuesses, options.addressGuesses) = (unlimited, unlimited)
          (options.digitGuesses, options.codesPerRecipient) = (unlimited, unlimited)
          // The suite keeps passwords in clear text: test suites make accounts, and import them, by thousands. A hash
          // of this scheme is replaced at the first sign-in with --production.
          options.passwordScheme = .pbkdf2(.sha256, iterations: 100)
          let project = container.options.projectID
          let isNamed = project != settings.project
          let links = SettingsOfApps.outgoing(of: container.appName).links
          options.codeSender = RecordingCodeSender(logsSecrets: true) {
            links.link($0.link, project: isNamed ? project : nil)
          }
        }
        return options
      },
      Component(FirestoreServiceOptions.self, caching: .shared) { container in
        var options = FirestoreServiceOptions()
        let settings = SettingsOfApps.settings(of: container.appName)
        options.createsDatabasesByReading = settings.isDevelopment
        options.refusesBatchWritesOfUsers = settings.isDevelopment
        if !settings.isDevelopment {
          options.databasesOfUsers = Set(settings.namedRules["firestore", default: [:]].keys)
            .union(settings.indexes.keys)
        }
        return options
      },
      Component(AppCheckServiceOptions.self, caching: .shared) { container in
        let isDevelopment = SettingsOfApps.settings(of: container.appName).isDevelopment
        return AppCheckServiceOptions(acceptsEveryDebugSecret: isDevelopment)
      },
      Component(AppCheckEnforcement.self, caching: .shared) { container in
        AppCheckEnforcement(SettingsOfApps.settings(of: container.appName).enforcesAppCheck)
      },
      Component(FunctionPlaces.self, caching: .shared) { container in
        try FunctionPlaces(SettingsOfApps.settings(of: container.appName).functions)
      },
      Component(RulesSources.self, caching: .shared) { container in
        SettingsOfApps.rules(of: container.appName)?.sources ?? RulesSources()
      },
      Component(PostgresOptions.self, caching: .shared) { container in
        var options = PostgresOptions()
        options.url = SettingsOfApps.settings(of: container.appName).postgres
        // The data is the project's, whatever directory a server has for its files.
        options.space = container.options.projectID
        return options
      },
      Component((any EventTriggerDelivery).self, caching: .shared) { container in
        SettingsOfApps.outgoing(of: container.appName).triggers
      },
      Component((any AuthBlockingFunctions).self, caching: .shared) { container in
        SettingsOfApps.outgoing(of: container.appName).blocking
      },
      Component((any IdentityProviderKeySource).self, caching: .shared) { container in
        SettingsOfApps.outgoing(of: container.appName).providerKeys
      },
      Component(MessagingPushOptions.self, caching: .shared) { container in
        var options = MessagingPushOptions()
        let settings = SettingsOfApps.settings(of: container.appName)
        // Clients of a server that others reach must not choose machines of its network.
        options.allowsLocalEndpoints = settings.isDevelopment
        if let contact = settings.pushContact { options.subject = contact }
        // A project's app has no transport: the one of the server's routes reaches push services.
        options.client = SettingsOfApps.outgoing(of: container.appName).client
        return options
      },
      Component(RulesReporting.self, caching: .shared) { container in
        RulesReporting(isOn: SettingsOfApps.settings(of: container.appName).isDevelopment)
      },
    ]
  }
}

/// The calls of the engines of projects to other programs.
struct OutgoingCalls: Sendable {
  /// Functions that have events.
  let triggers: any EventTriggerDelivery & TriggerSwitch
  /// Functions that decide about accounts.
  let blocking: any AuthBlockingFunctions
  /// Issuers of ID tokens.
  let providerKeys: any IdentityProviderKeySource
  /// The client of HTTP, which reaches push services; `nil` where no server runs.
  let client: @Sendable () throws -> (any HTTPClient)?
  /// The links of messages that are logged.
  let links = ActionLinks()
}

/// The settings of the server that an app belongs to: a library is a type, and cannot keep them itself.
enum SettingsOfApps {
  private struct Entry {
    let settings: ServerSettings
    let rules: ServerRules
    let outgoing: OutgoingCalls?
  }

  private static let table = Locked<[String: Entry]>([:])

  /// The settings for an app; an app without a server gets settings that are not for development.
  static func settings(of app: String) -> ServerSettings {
    table.withLock { $0[app]?.settings } ?? ServerSettings(isDevelopment: false)
  }

  /// The rules of the server of an app.
  static func rules(of app: String) -> ServerRules? { table.withLock { $0[app]?.rules } }

  /// The ways to functions of other programs; such that reach none where no server runs.
  static func outgoing(of app: String) -> OutgoingCalls {
    table.withLock { $0[app]?.outgoing } ?? Composition.outgoing(settings(of: app), nil, .system)
  }

  /// Sets the settings for an app.
  static func set(
    _ settings: ServerSettings, _ rules: ServerRules, _ outgoing: OutgoingCalls?, for app: String
  ) {
    table.withLock { $0[app] = Entry(settings: settings, rules: rules, outgoing: outgoing) }
  }

  /// Forgets the settings for an app.
  static func forget(_ app: String) { table.withLock { $0[app] = nil } }
}
