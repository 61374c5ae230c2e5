import Foundation
import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync

/// The cases of the client conformance suite about listening, where the data lies next to the checkout.
///
/// They were made for server SDKs, which keep no cache. Deletions name no target there, and the one here. Cases in
/// which a mobile SDK does something else are left out, see `applies(_:)`.
@Suite struct RecordedListenTests {
  private static let database = DatabaseName(project: "projectID")
  private static let target: Int32 = 2

  @Test(.enabled(if: RecordedWriteTests.hasData, "the conformance data is not beside the checkout"))
  func `responses become the snapshots as recorded`() throws {
    var checked = 0
    let folder = RecordedWriteTests.folder
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      let json = try JSONValue(json: Array(Data(contentsOf: file)), limits: JSONLimits(maximumDepth: 64))
      for test in json.object?["tests"]?.array ?? [] {
        guard let listen = test.object?["listen"]?.object, listen["isError"]?.bool != true,
          Self.applies(listen["responses"]?.array ?? [])
        else { continue }
        try check(file.lastPathComponent, listen)
        checked += 1
      }
    }
    #expect(checked > 0)
  }

  /// A document that leaves a target and still matches enters limbo in a client with a cache, an acknowledgement
  /// that was not asked for begins the target again, and changes before CURRENT are shown from the cache.
  private static func applies(_ responses: [JSONValue]) -> Bool {
    var isCurrent = false
    for response in responses.compactMap(\.object) {
      if response["documentRemove"] != nil || response["documentChange"]?.object?["removedTargetIds"] != nil {
        return false
      }
      guard let change = response["targetChange"]?.object else { continue }
      switch change["targetChangeType"]?.string {
      case "CURRENT": isCurrent = true
      case "ADD", "REMOVE", "RESET": return false
      default: if !isCurrent { return false }
      }
    }
    return true
  }

  private func check(_ name: String, _ json: JSONObject) throws {
    let client = Client(database: Self.database)
    try client.listen()
    for response in json["responses"]?.array ?? [] {
      if let response = try response.object.flatMap(Self.response) { client.receive(response) }
    }
    let expected = try (json["snapshots"]?.array ?? []).map { try Self.recorded($0.object) }
    #expect(client.snapshots == expected, "\(name)")
  }

  // MARK: The client

  /// A machine that listens to the collection `C`, ordered by `a`.
  private final class Client {
    private let machine: ClientMachine
    private var stream = 0
    private(set) var snapshots: [[String]] = []

    init(database: DatabaseName) {
      machine = ClientMachine(
        ClientMachine.Configuration(database: database),
        local: LocalStore(database: database, user: "", policy: .eager))
      machine.enableNetwork()
    }

    func listen() throws {
      let query = try LocalQuery(
        database: RecordedListenTests.database, path: ResourcePath(["C"]),
        orders: [NormalQuery.Order(VestaFirestoreModel.FieldPath(["a"]))])
      machine.core.listen(query, options: ListenOptions(), listener: 1)
      perform()
      receive(.targetChange(TargetChange(.add, targetIDs: [RecordedListenTests.target])))
    }

    func receive(_ response: ListenResponse) {
      machine.watch.received(stream: stream, response)
      perform()
    }

    private func perform() {
      while true {
        let actions = machine.takeActions()
        if actions.isEmpty { return }
        for action in actions {
          switch action {
          case .openWatch(let stream, _):
            self.stream = stream
            machine.watch.opened(stream: stream)
          case .event(.snapshot(_, let snapshot)) where !snapshot.isFromCache: snapshots.append(lines(of: snapshot))
          default: break
          }
        }
      }
    }

    private func lines(of snapshot: ViewSnapshot) -> [String] {
      snapshot.documents.map { RecordedListenTests.line("doc", $0.name, $0.fields ?? [:]) }
        + snapshot.changes.map { change in
          let kind =
            switch change.kind {
            case .added: "ADDED"
            case .removed: "REMOVED"
            default: "MODIFIED"
            }
          return RecordedListenTests.line(kind, change.document.name, change.document.fields ?? [:])
        }.sorted()
    }
  }

  private static func line(_ kind: String, _ name: String, _ fields: MapValue) -> String {
    "\(kind) \(name) \(fields.map { "\($0.name)=\(CanonicalForm.text(of: $0.value))" })"
  }

  // MARK: Recorded events

  private static func recorded(_ json: JSONObject?) throws -> [String] {
    let documents = try (json?["docs"]?.array ?? []).map { json in
      let document = try WireJSON.document(json)
      return line("doc", document.name, document.fields)
    }
    let changes = try (json?["changes"]?.array ?? []).map { change in
      let document = try WireJSON.document(change.object?["doc"] ?? .null)
      return line(change.object?["kind"]?.string ?? "", document.name, document.fields)
    }
    return documents + changes.sorted()
  }

  private static func response(_ json: JSONObject) throws -> ListenResponse? {
    let time = VestaFirestoreBackend.Timestamp(seconds: 0)
    if let change = json["targetChange"]?.object {
      let kinds: [String: TargetChange.Kind] = [
        "ADD": .add, "REMOVE": .remove, "CURRENT": .current, "RESET": .reset,
      ]
      return .targetChange(
        TargetChange(
          change["targetChangeType"]?.string.flatMap { kinds[$0] } ?? .noChange, targetIDs: ids(change["targetIds"]),
          readTime: try change["readTime"].map(WireJSON.timestamp)))
    }
    if let change = json["documentChange"]?.object, let document = change["document"] {
      return .documentChange(
        DocumentChange(
          document: try WireJSON.document(document), targetIDs: ids(change["targetIds"]),
          removedTargetIDs: ids(change["removedTargetIds"])))
    }
    if let delete = json["documentDelete"]?.object, let name = delete["document"]?.string {
      return .documentDelete(DocumentDelete(document: name, removedTargetIDs: [target], readTime: time))
    }
    if let remove = json["documentRemove"]?.object, let name = remove["document"]?.string {
      return .documentRemove(DocumentRemove(document: name, removedTargetIDs: [target], readTime: time))
    }
    if let filter = json["filter"]?.object {
      let count = filter["count"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } } ?? 0
      return .filter(ExistenceFilter(targetID: target, count: Int32(clamping: count)))
    }
    return nil
  }

  /// The target is 1 there; others stay others.
  private static func ids(_ json: JSONValue?) -> [Int32] {
    (json?.array ?? []).compactMap(\.integer).map { $0 == 1 ? target : Int32(clamping: $0 + 100) }
  }
}
