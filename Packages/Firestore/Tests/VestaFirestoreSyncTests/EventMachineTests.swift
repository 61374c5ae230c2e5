import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// Which snapshots a listener receives.
@Suite struct EventMachineTests {
  private typealias Demand = EventMachine.Demand

  private let rooms: LocalQuery
  private let id: QueryID
  private var machine = EventMachine()

  init() throws {
    rooms = try query("rooms")
    id = QueryID(rooms)
  }

  /// A snapshot of documents with these numbers.
  private func snapshot(
    _ ids: [String], _ kind: DocumentViewChange.Kind? = .added, fromCache: Bool = false, pending: Bool = false,
    stateChanged: Bool = false, hasCachedResults: Bool = false
  ) -> ViewSnapshot {
    var documents = DocumentSet(orders: rooms.orders)
    for id in ids {
      let name = ResourceName(database: database, path: path("rooms/\(id)"))
      documents.insert(CachedDocument(name, .found([:]), version: Timestamp(seconds: 1)))
    }
    return ViewSnapshot(
      query: rooms, id: id, documents: documents, oldDocuments: DocumentSet(orders: rooms.orders),
      changes: kind.map { kind in documents.map { DocumentViewChange(kind, $0) } } ?? [],
      mutatedKeys: pending ? Set(documents.map(\.path)) : [], isFromCache: fromCache, syncStateChanged: stateChanged,
      excludesMetadataChanges: false, hasCachedResults: hasCachedResults)
  }

  /// The documents that listener 1 receives.
  private mutating func receive(_ snapshot: ViewSnapshot) -> [[String]] { received(machine.receive([snapshot])) }

  private func received(_ events: [EventMachine.Event]) -> [[String]] {
    events.compactMap { if case .snapshot(1, let snapshot) = $0 { snapshot.ids } else { nil } }
  }

  private mutating func add(_ listener: ListenerID = 1, _ options: ListenOptions = ListenOptions()) -> Demand {
    machine.add(listener, to: rooms, id, options).demand
  }

  // MARK: The first snapshot

  @Test mutating func `a complete snapshot is the first one, also without documents`() {
    _ = add()
    #expect(receive(snapshot([])) == [[]])
  }

  @Test mutating func `an empty snapshot of the cache is withheld until the client is offline`() {
    _ = add()
    #expect(receive(snapshot([], fromCache: true)).isEmpty)
    #expect(received(machine.receive(OnlineState.online)).isEmpty)
    #expect(received(machine.receive(OnlineState.offline)) == [[]])
    #expect(received(machine.receive(OnlineState.offline)).isEmpty)
  }

  @Test mutating func `cached documents and cached empty results are not withheld`() {
    _ = add()
    #expect(receive(snapshot(["a"], fromCache: true)) == [["a"]])
    machine = EventMachine()
    _ = add()
    #expect(receive(snapshot([], fromCache: true, hasCachedResults: true)) == [[]])
  }

  @Test mutating func `a listener of the cache alone waits for nothing`() {
    #expect(add(1, ListenOptions(isCacheOnly: true)) == .local)
    #expect(receive(snapshot([], fromCache: true)) == [[]])
  }

  @Test mutating func `a listener that waits for the backend waits while the client is not offline`() {
    _ = add(1, ListenOptions(waitsForSync: true))
    #expect(receive(snapshot(["a"], fromCache: true)).isEmpty)
    #expect(received(machine.receive(OnlineState.offline)) == [["a"]])
    machine = EventMachine()
    _ = add(1, ListenOptions(waitsForSync: true))
    #expect(receive(snapshot(["a"], fromCache: true)).isEmpty)
    #expect(receive(snapshot(["a"], nil, stateChanged: true)) == [["a"]])
  }

  @Test mutating func `in the first snapshot every document is added`() {
    _ = add(1, ListenOptions(waitsForSync: true))
    _ = machine.receive([snapshot(["a", "b"], fromCache: true)])
    for event in machine.receive([snapshot(["a", "b"], nil, stateChanged: true)]) {
      guard case .snapshot(_, let first) = event else { continue }
      #expect(first.changes.map(\.kind) == [.added, .added] && first.syncStateChanged)
    }
  }

  @Test mutating func `a later listener begins with the others' snapshot`() {
    _ = add(7)
    _ = machine.receive([snapshot(["a"])])
    let (demand, events) = machine.add(1, to: rooms, id, ListenOptions())
    #expect(demand == .nothing && received(events) == [["a"]])
  }

  // MARK: Later snapshots

  @Test mutating func `changes of metadata alone are events for listeners that want them`() {
    let changes = [
      (snapshot(["a"], .metadata), false, true), (snapshot(["a"], nil, stateChanged: true), true, false),
      (snapshot(["a"], nil, pending: true), true, false), (snapshot(["a"], nil), false, false),
    ]
    for (change, isOfQuery, isOfDocument) in changes {
      for (query, document) in [(false, false), (true, false), (false, true), (true, true)] {
        machine = EventMachine()
        var options = ListenOptions()
        (options.includesQueryMetadata, options.includesDocumentMetadata) = (query, document)
        _ = add(1, options)
        _ = machine.receive([snapshot(["a"])])
        let isExpected = isOfQuery && query || isOfDocument && document
        #expect(receive(change) == (isExpected ? [["a"]] : []))
      }
    }
  }

  @Test mutating func `changes of documents are events for every listener`() {
    _ = add()
    _ = machine.receive([snapshot(["a"])])
    #expect(receive(snapshot(["a"], .modified)) == [["a"]])
    #expect(receive(snapshot([], .removed)).isEmpty)
  }

  // MARK: Listeners

  @Test mutating func `the view and the target live as long as they are needed`() {
    #expect(add(1) == .localAndRemote)
    #expect(add(2) == .nothing)
    #expect(add(3, ListenOptions(isCacheOnly: true)) == .nothing)
    #expect(machine.remove(1)?.demand == .nothing)
    #expect(machine.remove(1)?.demand == nil)
    #expect(machine.isRemote(id))
    #expect(machine.remove(2)?.demand == .remote)
    #expect(!machine.isRemote(id))
    #expect(add(4) == .remote)
    #expect(machine.remove(3)?.demand == .nothing)
    #expect(machine.remove(4)?.demand == .localAndRemote)
    #expect(add(5, ListenOptions(isCacheOnly: true)) == .local)
    #expect(machine.remove(5)?.demand == .local)
  }

  @Test mutating func `a failure is reported to the listeners of its query, which are removed then`() {
    _ = add(1)
    _ = add(2)
    let events = machine.fail(id, FirestoreServiceError(.permissionDenied, "no"))
    let failed = events.compactMap { event -> ListenerID? in
      if case .failure(let listener, _) = event { listener } else { nil }
    }
    #expect(failed == [1, 2] && machine.query(of: 1) == nil && machine.remove(2)?.demand == nil)
    #expect(machine.fail(id, FirestoreServiceError(.permissionDenied, "no")).isEmpty)
    #expect(receive(snapshot(["a"])).isEmpty)
  }

  @Test
  mutating func `a listener that waits for agreement is notified after the snapshots of a change, and of no other`() {
    func isSync(_ event: EventMachine.Event?) -> Bool { if case .inSync(9)? = event { true } else { false } }
    #expect(isSync(machine.addSyncListener(9).first))
    _ = add()
    let events = machine.receive([snapshot(["a"])])
    #expect(events.count == 2 && isSync(events.last))
    #expect(machine.receive([snapshot(["a"], nil)]).isEmpty)
    #expect(machine.receive([]).isEmpty)
    machine.removeSyncListener(9)
    #expect(machine.receive([snapshot(["b"])]).count == 1)
  }
}
