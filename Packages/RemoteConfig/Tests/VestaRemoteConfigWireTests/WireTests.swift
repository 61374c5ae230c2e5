import Testing
import VestaBytes
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaRemoteConfigWire

private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension SplitMix {
  fileprivate mutating func text() -> String { pick(["a", "é", "\u{1F600}", "\"\\/'", "\u{0}", "{}", "x:1"]) }

  fileprivate mutating func maybe() -> String? { oneIn(2) ? nil : text() }

  fileprivate mutating func fetch() -> ConfigFetchCall {
    var instance = ConfigInstance()
    instance.installationID = maybe()
    instance.appID = pick([nil, "1:2:ios:3", "1:2:web:3", "x"])
    instance.platform = instance.appID.flatMap { FetchWire.platform(ofApp: $0) }
    if let platform = instance.platform, oneIn(2) {
      instance.operatingSystem = .init(name: platform == "ios" ? "iOS" : platform, version: "17.2")
    }
    instance.platformVersion = instance.operatingSystem?.version
    (instance.packageName, instance.sdkVersion) = (maybe(), maybe())
    instance.countryCode = maybe()
    instance.languageCode = maybe()
    instance.timeZone = maybe()
    instance.appVersion = maybe()
    instance.appBuild = maybe()
    instance.firstOpenTime = pick([nil, 1_700_000_000_000_000, 1_700_000_000_000_001])
    if oneIn(2) { instance.userProperties = ["é": text(), "b": ""] }
    if oneIn(2) { instance.customSignals = ["s": text()] }
    return ConfigFetchCall(
      FetchConfigRequest(namespace: "firebase", instance: instance, etag: pick([nil, "etag-1"])),
      installationToken: maybe())
  }

  fileprivate mutating func response() -> FetchConfigResponse {
    FetchConfigResponse(
      state: pick(FetchConfigResponse.State.allCases), entries: oneIn(2) ? [:] : ["key": text(), text(): ""],
      templateVersion: Int64(below(9)), etag: "e",
      rollouts: oneIn(2) ? [] : [ConfigRollout(rolloutID: text(), variantID: "", affectedParameterKeys: [text()])])
  }

  fileprivate mutating func route() -> RemoteConfigRoute {
    let namespace = pick(["firebase", "firebase-server", "other"])
    let list = ListVersionsRequest(
      namespace: namespace, pageSize: 1 + below(300), pageToken: maybe(), endVersion: pick([nil, 4]),
      startTime: pick([nil, 1_700_000_000_000_001]), endTime: pick([nil, 0]))
    let calls: [RemoteConfigRoute.Call] = [
      .fetch, .invalidations, .template(version: pick([nil, 7])), .publish(isValidateOnly: oneIn(2)), .rollback,
      .listVersions(list), .downloadDefaults(pick(DefaultsFormat.allCases)),
    ]
    return RemoteConfigRoute(project: pick(["p", "a b/c"]), namespace: namespace, pick(calls))
  }

  fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(3) where !bytes.isEmpty {
      let index = below(bytes.count)
      switch below(3) {
      case 0: bytes[index] = UInt8(below(256))
      case 1: bytes.remove(at: index)
      default: bytes.insert(contentsOf: pick([utf8("'"), utf8("{"), utf8("\\"), utf8(":"), utf8("null")]), at: index)
      }
    }
    return bytes
  }
}

/// The kind of the error that `body` throws.
private func code(_ body: () throws -> Void) -> BytesError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? BytesError)?.code
  }
}

@Suite struct FetchWireTests {
  @Test func `the relaxed form of Apple's clients is read`() throws {
    let body = #"""
      {app_instance_id:'fid', app_instance_id_token:'t"o', app_id:'1:2:ios:3', country_code:'US', platform_version:'17.2',
      first_open_time:'2024-01-01T00:00:00.000Z', sdk_version:'it\'s', package_name:'a:b, c',
      analytics_user_properties:{"k":"it's: {x}"}, custom_signals:{"n":3,"f":1.5,"b":true,"gone":null}, new_one:[1]}
      """#
    let call = try FetchWire.call(body: utf8(body), namespace: "firebase", etag: "*")
    let instance = call.request.instance
    #expect(call.request.etag == nil && call.installationToken == "t\"o" && instance.sdkVersion == "it's")
    #expect(instance.packageName == "a:b, c" && instance.platformVersion == "17.2")
    #expect(instance.installationID == "fid" && instance.platform == "ios" && instance.countryCode == "US")
    #expect(instance.operatingSystem == .init(name: "iOS", version: "17.2"))
    #expect(instance.firstOpenTime == 1_704_067_200_000_000)
    #expect(instance.userProperties == ["k": "it's: {x}"])
    #expect(instance.customSignals == ["n": "3", "f": "1.5", "b": "true"])
    let names = utf8("{custom_signals:{k1:'a', 'k 2':'b', k_9z :3}}")
    let named = try FetchWire.call(body: names, namespace: "n", etag: nil)
    #expect(named.request.instance.customSignals == ["k1": "a", "k 2": "b", "k_9z": "3"])
  }

  @Test func `a compressed body is known by its bytes`() {
    #expect(FetchWire.isGzip([0x1F, 0x8B, 8]))
    #expect(!FetchWire.isGzip(utf8("{}")) && !FetchWire.isGzip([]))
  }

  @Test func `responses have the bytes of the protocol`() throws {
    let response = FetchConfigResponse(
      state: .update, entries: ["b": "2", "a": "1"], templateVersion: 7, etag: "e",
      rollouts: [ConfigRollout(rolloutID: "r", variantID: "v", affectedParameterKeys: ["a"])])
    #expect(
      text(try FetchWire.body(of: response))
        == #"{"entries":{"a":"1","b":"2"},"state":"UPDATE","templateVersion":"7","rolloutMetadata":[{"rolloutId":"r","variantId":"v","affectedParameterKeys":["a"]}]}"#
    )
    #expect(
      text(try FetchWire.body(of: FetchConfigResponse(state: .noChange, etag: "e"))) == #"{"state":"NO_CHANGE"}"#)
    let number = #"{"state":"UPDATE","templateVersion":7,"experimentDescriptions":[{}],"personalizationMetadata":{}}"#
    #expect(try FetchWire.response(body: utf8(number), etag: "e").templateVersion == 7)
    for body in [
      #"{}"#, #"{"state":"INSTANCE_STATE_UNSPECIFIED"}"#, #"{"state":"UPDATE","templateVersion":"x"}"#, "[]",
    ] {
      #expect(throws: BytesError.self) { _ = try FetchWire.response(body: utf8(body), etag: nil) }
    }
  }

  @Test func `requests have names in camel case, and both forms are read`() throws {
    var instance = ConfigInstance()
    (instance.installationID, instance.appID, instance.firstOpenTime) = ("f", "1:2:web:3", 1_000_000)
    instance.operatingSystem = .init(name: "web", version: "7")
    (instance.customSignals, instance.userProperties) = (["b": "2", "a": "1"], ["k": "v"])
    let call = ConfigFetchCall(FetchConfigRequest(namespace: "n", instance: instance), installationToken: "t")
    let json =
      #"{"appInstanceIdToken":"t","appInstanceId":"f","appId":"1:2:web:3","platformVersion":"7","firstOpenTime":"1970-01-01T00:00:01Z","analyticsUserProperties":{"k":"v"},"customSignals":{"a":"1","b":"2"}}"#
    #expect(text(try FetchWire.body(of: call)) == json)
    let snake = #"{"app_instance_id":"f","app_instance_id_token":"t","custom_signals":{"snake_case":"1"}}"#
    let read = try FetchWire.call(body: utf8(snake), namespace: "n", etag: "")
    #expect(read.request.instance.installationID == "f" && read.installationToken == "t" && read.request.etag == nil)
    #expect(read.request.instance.customSignals == ["snake_case": "1"] && read.request.namespace == "n")
  }

  @Test func `a member that is empty is none, a number is a string, and a time that is none is left out`() throws {
    func instance(_ json: String) throws -> ConfigInstance {
      try FetchWire.call(body: utf8(json), namespace: "n", etag: nil).request.instance
    }
    #expect(try instance(#"{"appBuild":7,"appId":"","sdkVersion":null,"firstOpenTime":"yesterday"}"#).appBuild == "7")
    #expect(try instance(#"{"appId":"","sdkVersion":null,"firstOpenTime":"yesterday"}"#) == ConfigInstance())
    for wrong in [#"{"appId":[]}"#, #"{"appId":true}"#, #"{"customSignals":[]}"#, #"{"firstOpenTime":[]}"#] {
      #expect(throws: BytesError.self) { try instance(wrong) }
    }
  }

  @Test func `random fetches and responses survive a round trip`() throws {
    var random = SplitMix(seed: 1)
    for round in 0..<20_000 {
      let call = random.fetch()
      let body = try FetchWire.body(of: call)
      let read = try FetchWire.call(body: body, namespace: "firebase", etag: call.request.etag)
      if read != call { Issue.record("round \(round): \(text(body))"); return }
      let response = random.response()
      let answer = try FetchWire.body(of: response)
      if try FetchWire.response(body: answer, etag: "e") != response {
        Issue.record("round \(round): \(text(answer))"); return
      }
    }
  }

  @Test func `hostile bodies are a message or an error`() throws {
    var random = SplitMix(seed: 2)
    var refused = 0
    let apple = utf8("{app_instance_id:'fid', app_id:'1:2:ios:3', custom_signals:{\"n\":3}, x:'\\'y'}")
    for round in 0..<20_000 {
      do {
        switch round % 3 {
        case 0: _ = try FetchWire.call(body: random.damaged(apple), namespace: "firebase", etag: nil)
        case 1:
          let body = random.damaged(try FetchWire.body(of: random.fetch()))
          _ = try FetchWire.call(body: body, namespace: "firebase", etag: nil)
        default:
          _ = try FetchWire.response(body: random.damaged(try FetchWire.body(of: random.response())), etag: nil)
        }
      } catch {
        refused += 1
      }
    }
    #expect(refused > 2_000 && refused < 19_800, "\(refused)")
    let long = utf8("{a:'" + String(repeating: "\"", count: 2_000_000) + "'}")
    #expect(code { _ = try FetchWire.call(body: long, namespace: "f", etag: nil) } == .limitExceeded)
    let deep = utf8(String(repeating: "{a:", count: 100_000))
    #expect(throws: BytesError.self) { _ = try FetchWire.call(body: deep, namespace: "f", etag: nil) }
  }
}

@Suite struct InvalidationWireTests {
  @Test func `the stream is an array of flat objects in any pieces`() throws {
    let messages = [
      ConfigInvalidation(latestVersion: 12), ConfigInvalidation(latestVersion: 13, isFeatureDisabled: true),
      ConfigInvalidation(latestVersion: 14, retryInterval: 30),
    ]
    var body = InvalidationWire.opening
    for (index, message) in messages.enumerated() { body += InvalidationWire.piece(of: message, isFirst: index == 0) }
    body += InvalidationWire.closing
    #expect(try JSONValue(json: body).array?.count == 3)
    #expect(text(InvalidationWire.piece(of: messages[0], isFirst: true)) == #"{"latestTemplateVersionNumber":"12"}"#)
    let read = try Feeding.verify(body) { pieces in
      var machine = InvalidationMachine()
      return try pieces.flatMap { try machine.received($0) }
    }
    #expect(read == messages)
  }

  @Test func `an object that is too long or wrong ends the stream, and one that says nothing is skipped`() throws {
    var machine = InvalidationMachine(maximumObject: 40)
    #expect(try machine.received(utf8(#"[{"other":"}"} , {}"#)) == [])
    #expect(code { _ = try machine.received([UInt8](repeating: 123, count: 99)) } == .limitExceeded)
    var other = InvalidationMachine()
    #expect(code { _ = try other.received(utf8("{x}")) } == .malformed)
    var quotes = InvalidationMachine()
    let quoted = #"{"other":"a\"}\\","latestTemplateVersionNumber":"5"}"#
    #expect(try quotes.received(utf8(quoted)) == [ConfigInvalidation(latestVersion: 5)])
    var numbers = InvalidationMachine()
    #expect(
      try numbers.received(utf8(#"{"latestTemplateVersionNumber":5}"#)) == [ConfigInvalidation(latestVersion: 5)])
  }

  @Test func `requests survive a round trip, also in the relaxed form`() throws {
    let call = ConfigStreamCall(
      InvalidationsRequest(namespace: "firebase", lastKnownVersion: 3), project: "42", appID: "1:2:ios:3",
      installationID: "fid", sdkVersion: "1")
    #expect(try InvalidationWire.call(body: InvalidationWire.body(of: call), namespace: "x") == call)
    let apple = utf8("{project:'42', namespace:'', lastKnownVersionNumber:'', appId:'a'}")
    let read = try InvalidationWire.call(body: apple, namespace: "firebase")
    #expect(read.request == InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0))
    #expect(
      text(try InvalidationWire.body(of: call))
        == #"{"project":"42","namespace":"firebase","lastKnownVersionNumber":"3","appId":"1:2:ios:3","sdkVersion":"1","appInstanceId":"fid"}"#
    )
    for version in ["'x'", "-1", "[]", "9e99"] {
      let body = utf8("{lastKnownVersionNumber:\(version)}")
      #expect(throws: BytesError.self) { _ = try InvalidationWire.call(body: body, namespace: "f") }
    }
  }

  @Test func `hostile streams are messages or an error, with bounded memory`() {
    var random = SplitMix(seed: 3)
    var refused = 0
    for _ in 0..<20_000 {
      let message = ConfigInvalidation(latestVersion: Int64(random.below(99)), retryInterval: 3)
      var machine = InvalidationMachine()
      do {
        _ = try machine.received(random.damaged(InvalidationWire.piece(of: message, isFirst: random.oneIn(2))))
      } catch {
        refused += 1
      }
    }
    #expect(refused > 200, "\(refused)")
  }
}

@Suite struct AdministrationWireTests {
  @Test func `routes have the paths of the service`() throws {
    func target(_ namespace: String, _ call: RemoteConfigRoute.Call) -> String {
      RemoteConfigRoute(project: "p", namespace: namespace, call).target
    }
    #expect(target("firebase", .fetch) == "/v1/projects/p/namespaces/firebase:fetch")
    #expect(target("firebase", .invalidations) == "/v1/projects/p/namespaces/firebase:streamFetchInvalidations")
    #expect(target("firebase", .template(version: 3)) == "/v1/projects/p/remoteConfig?versionNumber=3")
    #expect(
      target("firebase-server", .template(version: nil))
        == "/v1/projects/p/namespaces/firebase-server/serverRemoteConfig")
    #expect(target("firebase", .rollback) == "/v1/projects/p/remoteConfig:rollback")
    #expect(try RemoteConfigRoute(method: "GET", target: "/v1/projects/p/other") == nil)
    #expect(try RemoteConfigRoute(method: "DELETE", target: "/v1/projects/p/remoteConfig") == nil)
    #expect(try RemoteConfigRoute(method: "GET", target: "/v1/projects/p/namespaces/../remoteConfig") == nil)
    #expect(throws: BytesError.self) {
      _ = try RemoteConfigRoute(method: "GET", target: "/v1/projects/p/remoteConfig?versionNumber=x")
    }
  }

  @Test func `random routes survive a round trip, and hostile ones are a route, none, or an error`() throws {
    var random = SplitMix(seed: 4)
    for round in 0..<20_000 {
      let route = random.route()
      if try RemoteConfigRoute(method: route.method, target: route.target) != route {
        Issue.record("round \(round): \(route.target)"); return
      }
      _ = try? RemoteConfigRoute(method: route.method, target: text(random.damaged(utf8(route.target))))
    }
  }

  @Test func `pages of versions and rollbacks survive a round trip`() throws {
    let page = VersionPage(
      versions: [
        ConfigVersion(
          versionNumber: 3, updateTime: 1_700_000_000_000_000, updateOrigin: .restAPI, updateType: .rollback,
          updateUser: .init(email: "a@b"), description: "é", rollbackSource: 1), ConfigVersion(versionNumber: 2),
      ], nextPageToken: "t")
    #expect(try TemplateWire.page(TemplateWire.body(of: page)) == page)
    #expect(try TemplateWire.page(utf8("{}")) == VersionPage(versions: []))
    #expect(try TemplateWire.rollbackVersion(TemplateWire.body(rollbackTo: 7)) == 7)
    #expect(try TemplateWire.rollbackVersion(utf8(#"{"version_number":8}"#)) == 8)
    #expect(throws: BytesError.self) { _ = try TemplateWire.rollbackVersion(utf8("{}")) }
    #expect(TemplateWire.precondition(match: "*") == .any)
    #expect(TemplateWire.precondition(match: TemplateWire.match(of: .etag("e"))) == .etag("e"))
    #expect(TemplateWire.precondition(match: nil) == nil)
  }

  @Test func `errors have the status of the call and keep their violations`() {
    let violations = [
      TemplateViolation(path: "conditions[2].expression", column: 5, message: "x: y"),
      TemplateViolation(path: "parameters.a", message: "é"),
    ]
    let invalid = RemoteConfigServiceError.invalidTemplate(violations)
    let body = RemoteConfigErrorWire.body(of: invalid, status: 400)
    #expect(RemoteConfigErrorWire.error(status: 400, body: body) == invalid)
    let stale = RemoteConfigServiceError(.failedPrecondition, "VERSION_MISMATCH")
    #expect(RemoteConfigErrorWire.status(of: stale, on: .publish(isValidateOnly: false)) == 412)
    #expect(RemoteConfigErrorWire.status(of: stale, on: .rollback) == 400)
    let bytes = RemoteConfigErrorWire.body(of: stale, status: 412)
    #expect(RemoteConfigErrorWire.error(status: 412, body: bytes) == stale)
    #expect(RemoteConfigErrorWire.error(status: 412, body: []).code == .failedPrecondition)
    #expect(RemoteConfigErrorWire.error(status: 503, body: utf8("<html>")).code == .unavailable)
  }
}
