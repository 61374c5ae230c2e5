public import Foundation
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// Compares what the cache answers offline with what the service answered: recorded queries over recorded databases.
///
/// Each query is asked twice, with indexes over the cache and without. Left out is what the client has no call for:
/// offsets, projections, other collections than one, and what the service refused.
public struct CacheTraceRunner {
  private let folder: URL
  private var databases: [String: LocalStore] = [:]

  /// A runner of the recordings in a folder.
  public init(folder: URL) { self.folder = folder }

  /// Runs every query that the client can ask.
  public mutating func run() throws -> SpecRunner.Report {
    var report = SpecRunner.Report()
    let limits = JSONLimits(maximumDepth: 128, maximumSize: 1 << 30)
    let contents = try JSONValue(
      json: Array(Data(contentsOf: folder.appendingPathComponent("databases.json"))), limits: limits)
    let ignored = try ignoredNames()
    let lines = try Data(contentsOf: folder.appendingPathComponent("traces.jsonl")).split(separator: UInt8(ascii: "\n"))
    for line in lines {
      let trace = try JSONValue(json: Array(line), limits: limits).object
      for action in trace?["actions"]?.array ?? [] {
        guard let object = action.object, object["action"]?.string == "run_query" else { continue }
        let name = "\(trace?["trace"]?.string ?? "") \(object["id"]?.integer ?? 0)"
        check(name, object, contents, &report)
      }
    }
    // Queries that upstream's cache does not answer as the service does either.
    let failures = report.failures.filter { line in
      !ignored.contains { line.range(of: $0, options: .regularExpression) != nil }
    }
    report.skipped += report.failures.count - failures.count
    report.failures = failures
    return report
  }

  /// The patterns of the recordings that upstream's cache is not compared with.
  private func ignoredNames() throws -> [String] {
    let file = folder.appendingPathComponent("ignorelist.txt")
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
    return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty && !$0.hasPrefix("#") }
  }

  private mutating func check(
    _ name: String, _ action: JSONObject, _ contents: JSONValue, _ report: inout SpecRunner.Report
  ) {
    guard let query = query(action), let hash = action["database"]?.string, var store = store(hash, contents) else {
      report.skipped += 1
      return
    }
    let expected = (action["response"]?.array ?? []).compactMap { $0.object?["document"]?.object?["name"]?.string }
    for usesIndexes in [true, false] {
      store.documents.makesIndexes = usesIndexes
      let found = results(query, &store)
      guard found == expected else {
        let kind = usesIndexes ? "with indexes" : "without indexes"
        report.failures.append(
          "\(name) \(kind): \(found.count) results, recorded \(expected.count): \(query.canonicalID)")
        return
      }
    }
    report.passed += 1
  }

  private func results(_ query: LocalQuery, _ store: inout LocalStore) -> [String] {
    let documents = store.execute(query, usesPreviousResults: false).documents.values
    let sorted = documents.sorted { query.compare($0, $1) < 0 }.map(\.name)
    return query.limit.map { Array(sorted.prefix($0)) } ?? sorted
  }

  private func query(_ action: JSONObject) -> LocalQuery? {
    let code = action["status"]?.object?["code"]?.integer ?? 0
    guard code == 0, let request = action["request"]?.object, request["transaction"] == nil,
      request["newTransaction"] == nil, request["readTime"] == nil, let parent = request["parent"]?.string,
      let query = request["structuredQuery"], query.object?["select"] == nil, query.object?["offset"] == nil,
      let name = try? ResourceName(parent: parent)
    else { return nil }
    let from = query.object?["from"]?.array?.first?.object
    guard from?["allDescendants"]?.bool ?? false == false, from?["collectionId"]?.string?.isEmpty == false else {
      return nil
    }
    return try? WireJSON.structuredQuery(query, parent: parent, in: name.database)
  }

  private mutating func store(_ hash: String, _ contents: JSONValue) -> LocalStore? {
    if let store = databases[hash] { return store }
    guard let list = contents.object?[hash]?.array else { return nil }
    var store: LocalStore?
    for json in list {
      guard let document = try? WireJSON.document(json), let name = try? ResourceName(document: document.name),
        let cached = try? CachedDocument(document, likely: name.database)
      else { continue }
      if store == nil { store = LocalStore(database: name.database, user: "", policy: .leastRecentlyUsed(bytes: nil)) }
      store?.documents.insert(cached)
    }
    databases[hash] = store
    return store
  }
}
