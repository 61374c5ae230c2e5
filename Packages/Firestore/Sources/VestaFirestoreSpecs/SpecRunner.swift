public import Foundation
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// Runs the cases of the Firestore spec tests against the client's sync engine.
///
/// Each case is run once with a cache in memory and once with a durable one. Cases for several clients, and cases that
/// the Apple SDK skips, are skipped.
public struct SpecRunner {
  /// The outcome of a run.
  public struct Report: Sendable {
    /// How many cases passed.
    public var passed = 0
    /// How many cases were skipped.
    public var skipped = 0
    /// One line for each case that failed.
    public var failures: [String] = []
  }

  /// How the cache is kept.
  public enum Mode: String, Sendable, CaseIterable {
    /// In memory.
    case memory
    /// In a store that a restarted client opens again.
    case durable
  }

  private let files: [URL]
  private let md5: @Sendable ([UInt8]) -> [UInt8]

  /// A runner of all files in a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - md5: The digest that bloom filters are made with.
  /// - Throws: The failure of reading the folder.
  public init(folder: URL, md5: @escaping @Sendable ([UInt8]) -> [UInt8]) throws {
    self.md5 = md5
    files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.pathExtension == "json" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  /// Runs every case that is for this mode.
  public func run(_ mode: Mode) throws -> Report {
    var report = Report()
    for file in files {
      for test in try SpecCase.cases(in: file) {
        guard isWanted(test, mode) else {
          report.skipped += 1
          continue
        }
        do {
          try run(test, mode)
          report.passed += 1
        } catch {
          report.failures.append(
            "\(mode.rawValue) \(file.deletingPathExtension().lastPathComponent): \(test.name): \(error)")
        }
      }
    }
    return report
  }

  private func isWanted(_ test: SpecCase, _ mode: Mode) -> Bool {
    let barred: Set<String> = [
      "no-ios", "multi-client", "benchmark", mode == .memory ? "durable-persistence" : "eager-gc",
    ]
    return test.tags.isDisjoint(with: barred) && test.clients == 1
  }

  private func run(_ test: SpecCase, _ mode: Mode) throws {
    let disk = SpecDisk(isDurable: mode == .durable, isEager: test.usesEagerGarbageCollection)
    let driver = SpecDriver(limboLimit: test.limboLimit, md5: md5, disk: disk)
    var expectations = SpecExpectations()
    for (index, step) in test.steps.enumerated() {
      do {
        driver.clear()
        try SpecStep(driver).perform(step, expectations: &expectations)
        try check(driver, step, &expectations)
      } catch {
        throw SpecFailure(
          "step \(index) \(step.members.first { !$0.name.hasPrefix("expected") }?.name ?? ""): \(error)")
      }
    }
  }

  private func check(_ driver: SpecDriver, _ step: JSONObject, _ expectations: inout SpecExpectations) throws {
    try SpecExpectations.check(driver.events, step["expectedSnapshotEvents"]?.array ?? [])
    let sync = Int(step["expectedSnapshotsInSyncEvents"]?.integer ?? 0)
    guard driver.syncEvents == sync else { throw SpecFailure("\(driver.syncEvents) in-sync events, expected \(sync)") }
    let waits = Int(step["expectedWaitForPendingWritesEvents"]?.integer ?? 0)
    guard driver.waitEvents == waits else { throw SpecFailure("\(driver.waitEvents) waits ended, expected \(waits)") }
    let state = step["expectedState"]?.object
    expectations.update(state)
    try expectations.check(driver, state)
  }
}

/// One step of a case.
struct SpecStep {
  private let driver: SpecDriver

  init(_ driver: SpecDriver) { self.driver = driver }

  func perform(_ step: JSONObject, expectations: inout SpecExpectations) throws {
    guard let action = step.members.first(where: { !$0.name.hasPrefix("expected") && $0.name != "clientIndex" }) else {
      throw SpecFailure("a step without an action")
    }
    let (json, list) = (action.value, action.value.array ?? [])
    switch action.name {
    case "userListen": try listen(json.object)
    case "userUnlisten": driver.unlisten(try SpecJSON.query(list.last))
    case "userSet", "userPatch", "userDelete": driver.write(try SpecJSON.write(step))
    case "watchAck": try driver.receive(.targetChange(TargetChange(.add, targetIDs: SpecJSON.ids(json))))
    case "watchReset": try driver.receive(.targetChange(TargetChange(.reset, targetIDs: SpecJSON.ids(json))))
    case "watchCurrent":
      let change = TargetChange(.current, targetIDs: SpecJSON.ids(list.first), resumeToken: SpecJSON.token(list.last))
      try driver.receive(.targetChange(change))
    case "watchRemove":
      let cause = json.object?["cause"].flatMap { $0.isNull ? nil : SpecJSON.error($0) }
      let ids = SpecJSON.ids(json.object?["targetIds"])
      try driver.receive(.targetChange(TargetChange(.remove, targetIDs: ids, cause: cause)))
    case "watchEntity":
      for message in try json.object.map(SpecJSON.entity) ?? [] { try driver.receive(message) }
    case "watchFilter": if let object = json.object { try driver.receive(SpecJSON.filter(object)) }
    case "watchSnapshot": try snapshot(json.object)
    case "watchStreamClose": try driver.closeWatch(SpecJSON.error(json.object?["error"]))
    case "writeAck":
      let keeps = json.object?["keepInQueue"]?.bool ?? false
      try driver.acknowledgeWrite(version: SpecJSON.time(json.object?["version"]), keepsInQueue: keeps)
    case "failWrite":
      let keeps = json.object?["keepInQueue"]?.bool ?? false
      try driver.failWrite(SpecJSON.error(json.object?["error"]), keepsInQueue: keeps)
    case "enableNetwork": driver.setNetwork(json.bool ?? true)
    case "changeUser": driver.changeUser(json.string ?? "")
    case "restart":
      driver.restart()
      expectations.reset()
    case "runTimer": try driver.runTimer(json.string ?? "")
    case "loadBundle": driver.loadBundle(json.string ?? "")
    case "waitForPendingWrites": driver.waitForPendingWrites()
    case "addSnapshotsInSyncListener": driver.addSyncListener()
    case "removeSnapshotsInSyncListener": driver.removeSyncListener()
    case "triggerLruGC": driver.collectGarbage(threshold: Int(clamping: json.integer ?? 0))
    case "drainQueue": driver.drain()
    default: throw SpecFailure("the step is not known")
    }
  }

  private func listen(_ json: JSONObject?) throws {
    let isCacheOnly = json?["options"]?.object?["source"]?.string == "cache"
    let target = driver.listen(try SpecJSON.query(json?["query"]), isCacheOnly: isCacheOnly)
    guard let expected = json?["targetId"]?.integer, target.map(Int64.init) == expected else {
      throw SpecFailure("target \(target.map(String.init) ?? "none"), expected \(json?["targetId"]?.integer ?? 0)")
    }
  }

  private func snapshot(_ json: JSONObject?) throws {
    let ids = SpecJSON.ids(json?["targetIds"])
    let time = ids.isEmpty ? json?["version"].map { SpecJSON.time($0) } : nil
    let token = SpecJSON.token(json?["resumeToken"])
    try driver.receive(.targetChange(TargetChange(.noChange, targetIDs: ids, resumeToken: token, readTime: time)))
  }
}

/// The state that survives the restart of a client: in durable mode the rows that it wrote.
final class SpecDisk {
  private let isDurable: Bool
  private let isEager: Bool
  private var rows: [[UInt8]: [UInt8]] = [:]

  init(isDurable: Bool, isEager: Bool) {
    self.isDurable = isDurable
    self.isEager = isEager
  }

  func write(_ changes: [CacheRow]) { for row in changes { rows[row.key] = row.value } }

  func open() -> LocalStore {
    let policy: LocalStore.GarbagePolicy = isDurable || !isEager ? .leastRecentlyUsed(bytes: nil) : .eager
    guard isDurable else { return LocalStore(database: SpecJSON.database, user: "", policy: policy) }
    var loader = CacheLoader(database: SpecJSON.database)
    for (key, value) in rows { loader.add(key: key, value: value) }
    return loader.makeStore(user: "", policy: policy)
  }
}
