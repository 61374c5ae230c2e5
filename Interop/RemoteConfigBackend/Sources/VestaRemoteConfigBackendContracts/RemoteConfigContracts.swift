import VestaConcurrency
public import VestaRemoteConfigBackend
import VestaServiceInterop
public import VestaTesting

/// A configuration service that is held to its contract; it has no template at first.
public struct RemoteConfigSubject: Sendable {
  /// The service as clients see it.
  public let backend: any RemoteConfigBackend

  /// The same service as the owner sees it.
  public let admin: any RemoteConfigAdminBackend

  /// The longest time a check waits for a version.
  public let patience: Duration

  /// A service without a template.
  public init(_ service: any RemoteConfigBackend & RemoteConfigAdminBackend, patience: Duration = .seconds(30)) {
    self.init(backend: service, admin: service, patience: patience)
  }

  /// The two sides of one service.
  public init(
    backend: any RemoteConfigBackend, admin: any RemoteConfigAdminBackend, patience: Duration = .seconds(30)
  ) {
    self.backend = backend
    self.admin = admin
    self.patience = patience
  }
}

// Helpers of all checks.
extension RemoteConfigSubject {
  static let namespace = "firebase"

  @discardableResult
  func publish(_ template: ConfigTemplate, over etag: String? = nil) async throws -> StoredTemplate {
    let request = PublishRequest(template: template, precondition: etag.map { .etag($0) } ?? .any)
    return try await admin.publish(request, context: .owner)
  }

  @discardableResult
  func publish(_ values: [String: String]) async throws -> StoredTemplate {
    try await publish(ConfigTemplate(parameters: values.mapValues { ConfigParameter(defaultValue: .value($0)) }))
  }

  func fetch(_ id: String = "id", etag: String? = nil) async throws -> FetchConfigResponse {
    var instance = ConfigInstance()
    instance.installationID = id
    return try await fetch(instance, etag: etag)
  }

  func fetch(_ instance: ConfigInstance, etag: String? = nil) async throws -> FetchConfigResponse {
    let request = FetchConfigRequest(namespace: Self.namespace, instance: instance, etag: etag)
    return try await backend.fetch(request, context: CallContext())
  }
}

/// The promises of `RemoteConfigBackend` and `RemoteConfigAdminBackend` as checks.
public enum RemoteConfigContracts {
  /// All promises.
  public static let all: [Contract<RemoteConfigSubject>] = fetching + publishing + realtime

  private static let fetching: [Contract<RemoteConfigSubject>] = [
    Contract("without a template a fetch says so") { subject in
      let response = try await subject.fetch()
      try expect(response.state, equals: .noTemplate, "the state")
      try expect(response.entries.isEmpty, "there are entries")
    },
    Contract("a credential that cannot be verified is refused in every call") { subject in
      let forged = CallContext(caller: .credential(.idToken("a.b.c")))
      let request = FetchConfigRequest(namespace: RemoteConfigSubject.namespace, instance: ConfigInstance())
      let refused = try await expectThrows(RemoteConfigServiceError.self, "a fetch") {
        try await subject.backend.fetch(request, context: forged)
      }
      try expect(refused.code, equals: .unauthenticated, "the code of a fetch")
      let unread = try await expectThrows(RemoteConfigServiceError.self, "a template") {
        try await subject.admin.template(namespace: RemoteConfigSubject.namespace, version: nil, context: forged)
      }
      try expect(unread.code, equals: .unauthenticated, "the code of a template")
      let ends = EventLog<String>(patience: subject.patience)
      let connection = subject.backend.listenForInvalidations(
        InvalidationsRequest(namespace: RemoteConfigSubject.namespace, lastKnownVersion: 0), context: forged,
        onEnd: { ends.record($0.map(\.code.name) ?? "in order") }, { _ in })
      defer { connection.cancel() }
      try await ends.wait(for: "the end of the connection") { $0 == [ServiceCode.unauthenticated.name] }
    },
    Contract("a fetch after a publish has the published values") { subject in
      for value in ["a", "b", "c"] {
        try await subject.publish(["key": value])
        try expect(try await subject.fetch().entries, equals: ["key": value], "the entries")
      }
    },
    Contract("a fetch with the last ETag answers that nothing has changed, until something has") { subject in
      try await subject.publish(["key": "a"])
      let first = try await subject.fetch()
      try expect(first.state, equals: .update, "the state of the first fetch")
      let second = try await subject.fetch(etag: first.etag)
      try expect(second.state, equals: .noChange, "the state of the second fetch")
      try expect(second.etag, equals: first.etag, "the ETag of the second fetch")
      try await subject.publish(["key": "b"])
      let third = try await subject.fetch(etag: first.etag)
      try expect(third.state, equals: .update, "the state after a publish")
      try expect(third.entries, equals: ["key": "b"], "the entries after a publish")
    },
    Contract("of the conditions that hold the first one decides") { subject in
      let parameter = ConfigParameter(
        defaultValue: "default", conditionalValues: ["never": "1", "second": "2", "first": "3"])
      let conditions = [
        ConfigCondition(name: "never", expression: "false"), ConfigCondition(name: "first", expression: "true"),
        ConfigCondition(name: "second", expression: "true"),
      ]
      try await subject.publish(ConfigTemplate(conditions: conditions, parameters: ["key": parameter]))
      try expect(try await subject.fetch().entries, equals: ["key": "3"], "the entries")
    },
    Contract("an in-app default leaves the parameter out") { subject in
      let parameters = ["a": ConfigParameter(defaultValue: .inAppDefault), "b": ConfigParameter(defaultValue: "x")]
      try await subject.publish(ConfigTemplate(parameters: parameters))
      try expect(try await subject.fetch().entries, equals: ["b": "x"], "the entries")
    },
    Contract("a personalization is kept, and no instance gets one") { subject in
      let personal = ConfigParameterValue.personalization(id: "p1")
      let conditions = [
        ConfigCondition(name: "first", expression: "true"), ConfigCondition(name: "second", expression: "true"),
      ]
      let template = ConfigTemplate(
        conditions: conditions,
        parameters: [
          "a": ConfigParameter(defaultValue: "x", conditionalValues: ["first": personal]),
          "b": ConfigParameter(defaultValue: "x", conditionalValues: ["first": personal, "second": "y"]),
          "c": ConfigParameter(defaultValue: personal),
        ])
      try await subject.publish(template)
      let kept = try await subject.admin.template(
        namespace: RemoteConfigSubject.namespace, version: nil, context: .owner)
      try expect(kept.template.parameters, equals: template.parameters, "the kept parameters")
      try expect(try await subject.fetch().entries, equals: ["a": "x", "b": "x"], "the entries")
    },
    Contract("a percentage has the same instances at every fetch, and about its share of them") { subject in
      let condition = ConfigCondition(name: "some", expression: "percent('seed') <= 30")
      let parameter = ConfigParameter(defaultValue: "no", conditionalValues: ["some": "yes"])
      try await subject.publish(ConfigTemplate(conditions: [condition], parameters: ["key": parameter]))
      var count = 0
      for number in 0..<400 {
        let value = try await subject.fetch("instance-\(number)").entries
        try expect(try await subject.fetch("instance-\(number)").entries, equals: value, "the second fetch")
        if value == ["key": "yes"] { count += 1 }
      }
      try expect((80...160).contains(count), "\(count) of 400 instances are within 30 percent")
    },
  ]

  private static let publishing: [Contract<RemoteConfigSubject>] = [
    Contract("a publish over another ETag is refused and changes nothing") { subject in
      let first = try await subject.publish(["key": "a"])
      try await subject.publish(
        ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: "b")]), over: first.etag)
      let error = try await expectThrows(RemoteConfigServiceError.self, "the publish over an old ETag") {
        try await subject.publish(ConfigTemplate(), over: first.etag)
      }
      try expect(error.code, equals: .failedPrecondition, "the code")
      try expect(try await subject.fetch().entries, equals: ["key": "b"], "the entries")
    },
    Contract("of 8 publishes over one ETag one succeeds") { subject in
      let first = try await subject.publish(["key": "a"])
      let successes = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<8 {
          group.addTask {
            let parameter = ConfigParameter(defaultValue: .value("\(number)"))
            return (try? await subject.publish(ConfigTemplate(parameters: ["key": parameter]), over: first.etag)) != nil
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      try expect(successes, equals: 1, "the number of publishes that succeeded")
    },
    Contract("an invalid template is refused with the place of each mistake, and changes nothing") { subject in
      try await subject.publish(["key": "a"])
      let template = ConfigTemplate(
        conditions: [ConfigCondition(name: "c", expression: "percent <= 10 && device.os = 'ios'")],
        parameters: ["1st": ConfigParameter(defaultValue: "x")])
      let error = try await expectThrows(RemoteConfigServiceError.self, "an invalid template") {
        try await subject.publish(template)
      }
      try expect(error.code, equals: .invalidArgument, "the code")
      let paths = Set(error.violations.map(\.path))
      try expect(paths, equals: ["conditions[0].expression", "parameters.1st"], "the places")
      try expect(error.violations.compactMap(\.column), equals: [28], "the column")
      try expect(try await subject.fetch().entries, equals: ["key": "a"], "the entries")
    },
    Contract("a request that only checks publishes nothing") { subject in
      let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: "a")])
      let request = PublishRequest(template: template, precondition: .any, isValidateOnly: true)
      let checked = try await subject.admin.publish(request, context: .owner)
      try expect(checked.etag.hasSuffix("-0"), "the ETag is \(checked.etag)")
      try expect(try await subject.fetch().state, equals: .noTemplate, "the state")
    },
    Contract("a rollback publishes the old template as a new version") { subject in
      for value in ["a", "b", "c"] { try await subject.publish(["key": value]) }
      let rolledBack = try await subject.admin.rollback(
        namespace: RemoteConfigSubject.namespace, to: 1, user: nil, context: .owner)
      try expect(rolledBack.template.version?.versionNumber, equals: 4, "the version")
      try expect(rolledBack.template.version?.rollbackSource, equals: 1, "the source")
      try expect(try await subject.fetch().entries, equals: ["key": "a"], "the entries")
    },
    Contract("versions are listed from the newest, page by page") { subject in
      for number in 1...7 { try await subject.publish(["key": "\(number)"]) }
      var request = ListVersionsRequest(pageSize: 3)
      var numbers: [Int64] = []
      repeat {
        let page = try await subject.admin.listVersions(request, context: .owner)
        numbers += page.versions.compactMap(\.versionNumber)
        request.pageToken = page.nextPageToken
      } while request.pageToken != nil
      try expect(numbers, equals: [7, 6, 5, 4, 3, 2, 1], "the versions")
    },
    Contract("only the owner reads and publishes templates") { subject in
      let error = try await expectThrows(RemoteConfigServiceError.self, "a call in nobody's name") {
        try await subject.admin.template(namespace: RemoteConfigSubject.namespace, version: nil, context: CallContext())
      }
      try expect(error.code, equals: .permissionDenied, "the code")
      let broken = ConfigTemplate(conditions: [ConfigCondition(name: "", expression: "?")])
      let refused = try await expectThrows(RemoteConfigServiceError.self, "a publish in nobody's name") {
        try await subject.admin.publish(PublishRequest(template: broken, precondition: .any), context: CallContext())
      }
      try expect(refused.code, equals: .permissionDenied, "the code of the publish")
    },
    Contract("an instance with oversized attributes is refused") { subject in
      try await subject.publish(["key": "a"])
      var instance = ConfigInstance()
      instance.userProperties = ["a": String(repeating: "a", count: 1_000_000)]
      let oversized = instance
      let error = try await expectThrows(RemoteConfigServiceError.self, "the fetch") {
        try await subject.fetch(oversized)
      }
      try expect(error.code, equals: .invalidArgument, "the code")
    },
  ]

  private static let realtime: [Contract<RemoteConfigSubject>] = [
    Contract("a listener hears of a publish, and at once of one that it does not know") { subject in
      let early = VersionLog(subject, knowing: 0)
      try await subject.publish(["key": "a"])
      try await early.wait(for: 1)
      let late = VersionLog(subject, knowing: 0)
      try await late.wait(for: 1)
      try await subject.publish(["key": "b"])
      try await early.wait(for: 2)
      try await late.wait(for: 2)
      early.cancel()
      late.cancel()
    },
    Contract("a listener hears of versions in ascending order and never twice") { subject in
      let log = VersionLog(subject, knowing: 0)
      for number in 1...10 { try await subject.publish(["key": "\(number)"]) }
      try await log.wait(for: 10)
      let versions = log.versions
      try expect(versions == Array(Set(versions)).sorted(), "the versions were \(versions)")
      log.cancel()
    },
    Contract("a listener that blocks delays neither a publish nor other listeners") { subject in
      let gate = Gate()
      let patience = subject.patience
      let calls = EventLog<Void>(patience: patience)
      let slow = VersionLog(subject, knowing: 0) {
        calls.record(())
        _ = gate.passes(within: patience)
      }
      try await subject.publish(["key": "1"])
      try await calls.wait(for: "the call that blocks") { !$0.isEmpty }
      let quick = VersionLog(subject, knowing: 0)
      for number in 2...3 { try await subject.publish(["key": "\(number)"]) }
      try await quick.wait(for: 3)
      let isBlocked = slow.versions.isEmpty
      gate.open()
      try expect(isBlocked, "the listener did not block")
      try await slow.wait(for: 3)
      slow.cancel()
      quick.cancel()
    },
    Contract("many listeners that block, more than there are cores, delay nobody else") { subject in
      let (gate, patience) = (Gate(), subject.patience)
      let calls = EventLog<Void>(patience: patience)
      let blocked = (0..<24).map { _ in
        VersionLog(subject, knowing: 0) {
          calls.record(())
          _ = gate.passes(within: patience)
        }
      }
      try await subject.publish(["key": "1"])
      try await calls.wait(for: "the calls that block") { $0.count == 24 }
      let quick = VersionLog(subject, knowing: 1)
      try await subject.publish(["key": "2"])
      try await quick.wait(for: 2)
      gate.open()
      for log in blocked {
        try await log.wait(for: 2)
        log.cancel()
      }
      quick.cancel()
    },
    Contract("a cancelled listener hears nothing more") { subject in
      let log = VersionLog(subject, knowing: 0)
      try await subject.publish(["key": "a"])
      try await log.wait(for: 1)
      log.cancel()
      let other = VersionLog(subject, knowing: 0)
      try await subject.publish(["key": "b"])
      try await other.wait(for: 2)
      try expect(log.versions.last, equals: 1, "the last version")
      other.cancel()
    },
  ]
}

/// The versions that a listener receives.
private final class VersionLog: Sendable {
  private let log: EventLog<Int64>
  private let registration = Locked<ListenerRegistration?>(nil)

  /// Listens.
  ///
  /// - Parameter body: Called with each message, before it is logged.
  init(_ subject: RemoteConfigSubject, knowing version: Int64, _ body: @escaping @Sendable () -> Void = {}) {
    log = EventLog(patience: subject.patience)
    let request = InvalidationsRequest(namespace: RemoteConfigSubject.namespace, lastKnownVersion: version)
    let added = subject.backend.listenForInvalidations(request, context: CallContext(), onEnd: { _ in }) { [log] in
      body()
      log.record($0.latestVersion)
    }
    registration.withLock { $0 = added }
  }

  var versions: [Int64] { log.events }
  func wait(for version: Int64) async throws { try await log.wait(for: "version \(version)") { $0.last == version } }
  func cancel() { registration.withLock { $0.take() }?.cancel() }
}
