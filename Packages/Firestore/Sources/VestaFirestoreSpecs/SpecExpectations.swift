import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// The expectations of a case; the ones that a step does not mention stay.
struct SpecExpectations {
  private var targets: [Int32: JSONObject] = [:]
  private var activeLimbo: [String] = []
  private var enqueuedLimbo: [String] = []

  init() {}

  /// Forgets what is expected: a restarted client has nothing.
  mutating func reset() { self = SpecExpectations() }

  mutating func update(_ state: JSONObject?) {
    if let active = state?["activeTargets"]?.object {
      targets = [:]
      for member in active.members { if let id = Int32(member.name) { targets[id] = member.value.object } }
    }
    if let keys = state?["activeLimboDocs"]?.array { activeLimbo = keys.compactMap(\.string) }
    if let keys = state?["enqueuedLimboDocs"]?.array { enqueuedLimbo = keys.compactMap(\.string) }
  }

  func check(_ driver: SpecDriver, _ state: JSONObject?) throws {
    try checkCounts(driver, state)
    let active = driver.machine.core.limbo.active
    guard Set(active.keys.map(\.description)) == Set(activeLimbo) else {
      throw SpecFailure("limbo documents \(active.keys.map(\.description).sorted()), expected \(activeLimbo.sorted())")
    }
    let enqueued = driver.machine.core.limbo.waiting.map(\.description).sorted()
    guard enqueued == enqueuedLimbo.sorted() else {
      throw SpecFailure("enqueued limbo documents \(enqueued), expected \(enqueuedLimbo.sorted())")
    }
    if driver.isNetworkEnabled { try checkTargets(driver) }
  }

  private func checkCounts(_ driver: SpecDriver, _ state: JSONObject?) throws {
    let pairs: [(String, Int)] = [
      ("numOutstandingWrites", driver.sentWrites.count), ("writeStreamRequestCount", driver.writeRequests),
      ("watchStreamRequestCount", driver.watchRequests),
    ]
    for (name, count) in pairs {
      if let expected = state?[name]?.integer, expected != count {
        throw SpecFailure("\(name) is \(count), expected \(expected)")
      }
    }
    let callbacks = state?["userCallbacks"]?.object
    let acknowledged = (callbacks?["acknowledgedDocs"]?.array ?? []).compactMap(\.string)
    let rejected = (callbacks?["rejectedDocs"]?.array ?? []).compactMap(\.string)
    guard driver.acknowledged == acknowledged else {
      throw SpecFailure("acknowledged \(driver.acknowledged), expected \(acknowledged)")
    }
    guard driver.rejected == rejected else { throw SpecFailure("rejected \(driver.rejected), expected \(rejected)") }
  }

  private func checkTargets(_ driver: SpecDriver) throws {
    guard Set(driver.activeTargets.keys) == Set(targets.keys) else {
      throw SpecFailure("targets \(driver.activeTargets.keys.sorted()), expected \(targets.keys.sorted())")
    }
    for (id, expected) in targets {
      guard let record = driver.activeTargets[id] else { continue }
      try check(record, expected)
    }
  }

  private func check(_ record: TargetRecord, _ expected: JSONObject) throws {
    let query = try SpecJSON.query(expected["queries"]?.array?.first)
    guard record.target == query.target else {
      throw SpecFailure("target \(record.id) is \(record.target.canonicalID), expected \(query.target.canonicalID)")
    }
    let purpose = Self.purposes[expected["targetPurpose"]?.string ?? ""] ?? .listen
    guard record.purpose == purpose else {
      throw SpecFailure("target \(record.id) has the purpose \(record.purpose), expected \(purpose)")
    }
    let token = SpecJSON.token(expected["resumeToken"])
    guard record.resumeToken == token else {
      let actual = String(decoding: record.resumeToken, as: UTF8.self)
      throw SpecFailure(
        "target \(record.id) has the token \"\(actual)\", expected \(expected["resumeToken"]?.string ?? "")")
    }
    if token.isEmpty {
      let time = SpecJSON.time(expected["readTime"])
      guard record.snapshotVersion == time else {
        throw SpecFailure("target \(record.id) has the version \(record.snapshotVersion), expected \(time)")
      }
    }
    if let count = expected["expectedCount"]?.integer, record.expectedCount ?? 0 != count {
      throw SpecFailure("target \(record.id) expects \(record.expectedCount ?? 0) documents, expected \(count)")
    }
  }

  private static let purposes: [String: TargetRecord.Purpose] = [
    "TargetPurposeLimboResolution": .limboResolution,
    "TargetPurposeExistenceFilterMismatch": .existenceFilterMismatch,
    "TargetPurposeExistenceFilterMismatchBloom": .existenceFilterMismatchBloom,
  ]

  // MARK: Events

  static func check(_ events: [SpecDriver.Event], _ expected: [JSONValue]) throws {
    guard events.count == expected.count else {
      throw SpecFailure("\(events.count) events, expected \(expected.count): \(events.map(text))")
    }
    let sorted = try expected.map { (try SpecJSON.query($0.object?["query"]), $0) }
      .stablySorted { $0.0.canonicalID < $1.0.canonicalID }
    for (event, (query, json)) in zip(events.stablySorted { $0.query.canonicalID < $1.query.canonicalID }, sorted) {
      guard event.query == query, let object = json.object else {
        throw SpecFailure("an event of \(event.query.canonicalID), expected \(query.canonicalID)")
      }
      try check(event, object)
    }
  }

  private static func text(_ event: SpecDriver.Event) -> String {
    let changes = event.snapshot?.changes.map { "\($0.kind) \($0.document.path)" }
    return
      "\(event.query.canonicalID) \(changes ?? []) fromCache \(event.snapshot?.isFromCache ?? false) \(event.error?.description ?? "")"
  }

  private static func check(_ event: SpecDriver.Event, _ expected: JSONObject) throws {
    let code = Int(expected["errorCode"]?.integer ?? 0)
    guard event.error?.code.rawValue ?? 0 == code else { throw SpecFailure("error \(text(event)), expected \(code)") }
    guard let snapshot = event.snapshot else { return }
    let (fromCache, pending) = (expected["fromCache"]?.bool ?? false, expected["hasPendingWrites"]?.bool ?? false)
    guard snapshot.isFromCache == fromCache, snapshot.hasPendingWrites == pending else {
      throw SpecFailure(
        "fromCache \(snapshot.isFromCache), hasPendingWrites \(snapshot.hasPendingWrites), expected \(fromCache), \(pending): \(text(event))"
      )
    }
    let names: [(String, DocumentViewChange.Kind)] = [
      ("removed", .removed), ("added", .added), ("modified", .modified), ("metadata", .metadata),
    ]
    let wanted = names.flatMap { name, kind in (expected[name]?.array ?? []).compactMap(\.object).map { (kind, $0) } }
      .sorted { ($0.1["key"]?.string ?? "") < ($1.1["key"]?.string ?? "") }
    let actual = snapshot.changes.sorted { $0.document.path < $1.document.path }
    guard wanted.count == actual.count else { throw SpecFailure("changes \(text(event)), expected \(wanted.count)") }
    for (change, (kind, json)) in zip(actual, wanted) { try check(change, kind, json) }
  }

  private static func check(_ change: DocumentViewChange, _ kind: DocumentViewChange.Kind, _ json: JSONObject) throws {
    let document = change.document
    let options = json["options"]?.object
    let isLocal = options?["hasLocalMutations"]?.bool ?? false
    let version = isLocal ? Timestamp.zero : SpecJSON.time(json["version"])
    guard change.kind == kind, document.path.description == json["key"]?.string else {
      throw SpecFailure("\(change.kind) \(document.path), expected \(kind) \(json["key"]?.string ?? "")")
    }
    guard document.version == version, document.hasLocalMutations == isLocal,
      document.hasCommittedMutations == options?["hasCommittedMutations"]?.bool ?? false
    else {
      throw SpecFailure("\(document.path) has version \(document.version), \(document.pending), expected \(json)")
    }
    guard document.fields == json["value"]?.object.map(SpecJSON.map) else {
      throw SpecFailure("\(document.path) has the fields \(String(describing: document.fields)), expected \(json)")
    }
  }
}

extension Array {
  /// The elements in order; equal ones keep theirs.
  fileprivate func stablySorted(by isBefore: (Element, Element) -> Bool) -> [Element] {
    enumerated().sorted {
      isBefore($0.element, $1.element) || !isBefore($1.element, $0.element) && $0.offset < $1.offset
    }.map(\.element)
  }
}
