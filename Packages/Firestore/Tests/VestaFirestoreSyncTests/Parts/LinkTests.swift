import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreSync

/// The links to the backend without a sync core: their owner notes what they say.
@Suite struct LinkTests {
  private final class Owner: WatchLinkOwner, WriteLinkOwner {
    var told: [String] = []
    private let cache: ClientCache

    init(_ cache: ClientCache) { self.cache = cache }

    func remoteKeys(of target: Int32) -> Set<DocumentKey> { [] }
    func hasRemoteKey(of target: Int32, _ key: DocumentKey) -> Bool { false }
    func apply(_ event: RemoteEvent) { told.append("snapshot \(event.version.seconds)") }
    func take(_ results: FirstResults) { told.append("first results of \(results.target)") }
    func rejectTarget(_ target: Int32, _ error: FirestoreServiceError) { told.append("\(target) rejected") }
    func changeOnlineState(_ state: OnlineState) { told.append("\(state)") }
    func watchHasOpened() { told.append("opened") }

    func acknowledge(_ answer: BatchAcknowledgement) {
      _ = cache.local.acknowledge(answer)
      told.append("\(answer.batch.id) acknowledged")
    }

    func reject(_ batch: MutationBatch, _ error: FirestoreServiceError) {
      _ = cache.local.reject(batch)
      told.append("\(batch.id) refused")
    }

    func failCallers(_ error: FirestoreServiceError) { told.append("callers told \(error.code)") }
  }

  private let owner: Owner
  private let actions = ClientActions()
  private let cache: ClientCache
  private let configuration: ClientMachine.Configuration

  init() {
    configuration = ClientMachine.Configuration(database: database)
    cache = ClientCache(LocalStore(database: database, user: "", policy: .eager), configuration)
    owner = Owner(cache)
  }

  private func watch(_ link: BackendLink = .remote) throws -> WatchLink {
    var configuration = configuration
    configuration.link = link
    let watch = WatchLink(configuration, cache, actions)
    watch.owner = owner
    watch.listen(TargetRecord(try query("rooms").target, id: 2))
    return watch
  }

  private func writes() -> WriteLink {
    let writes = WriteLink(configuration, cache, actions)
    writes.owner = owner
    return writes
  }

  private func takeActions() -> [String] {
    actions.take().compactMap { action in
      switch action {
      case .openWatch(let stream, _): "open watch \(stream)"
      case .closeWatch(let stream): "close watch \(stream)"
      case .watch(_, let record): "watch \(record.id) from \(record.snapshotVersion.seconds)"
      case .fetch(_, let record): "fetch \(record.id)"
      case .unwatch(_, let id): "unwatch \(id)"
      case .openWrite(let stream, _): "open write \(stream)"
      case .shakeHands: "shake hands"
      case .write(_, let batch, let token): "write \(batch.id) \(token)"
      case .closeWrite(_, let token): "close write \(token ?? [])"
      default: nil
      }
    }
  }

  private let refusal = FirestoreServiceError(.permissionDenied, "no")
  private let loss = FirestoreServiceError(.unavailable, "lost")

  @Test func `a target is asked for by each stream while the network is enabled`() throws {
    let watch = try watch()
    #expect(takeActions() == [])
    watch.enable()
    #expect(takeActions() == ["open watch 1"])
    watch.opened(stream: 1)
    #expect(takeActions() == ["watch 2 from 0"])
    watch.closed(stream: 1, error: loss)
    watch.timerFired(.watchBackoff)
    watch.opened(stream: 1)  // A late report of the stream before.
    #expect(takeActions() == ["open watch 2"])
    watch.opened(stream: 2)
    watch.unlisten(2)
    #expect(takeActions() == ["watch 2 from 0", "unwatch 2"])
    watch.stop()
    #expect(takeActions() == ["close watch 2"] && watch.targets.isEmpty)
    #expect(owner.told == ["opened", "offline", "opened"])
  }

  @Test func `a snapshot reaches the owner when it is complete, and its token is in the record`() throws {
    let watch = try watch()
    watch.enable()
    watch.opened(stream: 1)
    watch.received(stream: 1, .targetChange(TargetChange(.add, targetIDs: [2])))
    let time = Timestamp(seconds: 9)
    watch.received(
      stream: 1, .targetChange(TargetChange(.current, targetIDs: [2], resumeToken: [9], readTime: time)))
    #expect(owner.told == ["opened", "online"])
    watch.received(stream: 1, .targetChange(TargetChange(.noChange, resumeToken: [9], readTime: time)))
    #expect(owner.told.last == "snapshot 9")
    #expect(watch.targets[2]?.resumeToken == [9] && watch.targets[2]?.snapshotVersion == time)
  }

  @Test(arguments: [BackendLink.remote, .embedded])
  func `a refusal before the first answer fails the targets of a remote backend alone`(link: BackendLink) throws {
    let watch = try watch(link)
    watch.enable()
    watch.opened(stream: 1)
    watch.closed(stream: 1, error: refusal)
    #expect(owner.told.contains("2 rejected") == (link == .remote))
    #expect(watch.targets.isEmpty == (link == .remote))
  }

  @Test func `the first results of a target are read from an engine, and the stream follows them`() throws {
    let watch = try watch(.embedded)
    watch.enable()
    watch.opened(stream: 1)
    #expect(takeActions() == ["open watch 1", "fetch 2"])
    watch.receivedFirst(stream: 1, target: 2, [], version: Timestamp(seconds: 7))
    #expect(owner.told.last == "first results of 2" && takeActions() == [])
    watch.timerFired(.watchFollow)
    #expect(takeActions() == ["watch 2 from 7"])
    // A target that could not be read is asked for at once.
    watch.listen(TargetRecord(try query("halls").target, id: 4))
    watch.receivedFirst(stream: 1, target: 4, nil, version: .zero)
    #expect(takeActions() == ["fetch 4", "watch 4 from 0"])
  }

  @Test func `batches are sent after the handshake, in order, and again by the next stream`() throws {
    let writes = writes()
    for id in ["a", "b"] { _ = cache.local.write([set("rooms/\(id)", [:])], at: .zero) }
    writes.enable()
    #expect(takeActions() == ["open write 1"])
    writes.opened(stream: 1)
    writes.received(stream: 1, WriteResponse(streamID: "s", streamToken: [1]))
    #expect(takeActions() == ["shake hands", "write 1 [1]", "write 2 [1]"])
    writes.closed(stream: 1, error: loss)
    writes.timerFired(.writeBackoff)
    writes.opened(stream: 2)
    writes.received(stream: 2, WriteResponse(streamID: "s", streamToken: [2]))
    #expect(takeActions() == ["open write 2", "shake hands", "write 1 [2]", "write 2 [2]"])
    let version = Timestamp(seconds: 5)
    writes.received(
      stream: 2,
      WriteResponse(streamToken: [3], writeResults: [WriteResult(updateTime: version)], commitTime: version))
    #expect(owner.told == ["1 acknowledged"] && writes.pipeline.map(\.id) == [2])
    writes.closed(stream: 2, error: refusal)
    #expect(owner.told == ["1 acknowledged", "2 refused"] && writes.pipeline.isEmpty)
  }

  @Test func `callers get the error of a backend that refuses the stream, and later ones at once`() {
    let writes = writes()
    _ = cache.local.write([set("rooms/a", [:])], at: .zero)
    writes.enable()
    writes.retryAfterOutage()
    #expect(owner.told == [])
    writes.closed(stream: 1, error: refusal)
    #expect(owner.told == ["callers told \(refusal.code)"] && writes.isStalled && writes.pipeline.count == 1)
    writes.retryAfterOutage()
    #expect(owner.told.count == 2)
  }

  @Test func `a target is resumed from its request until it is current`() throws {
    let watch = try watch()
    watch.enable()
    watch.opened(stream: 1)
    func send(_ changes: TargetChange...) { for change in changes { watch.received(stream: 1, .targetChange(change)) } }
    func global(_ second: Int64) -> TargetChange {
      TargetChange(.noChange, resumeToken: [UInt8(second)], readTime: Timestamp(seconds: second))
    }
    send(
      TargetChange(.add, targetIDs: [2]), TargetChange(.current, targetIDs: [2], resumeToken: [1]), global(1), global(2)
    )
    // Its results are of second 3; the stream has them at second 5, and is at second 4 for others.
    watch.listen(
      TargetRecord(try query("halls").target, id: 4).resuming(at: [3], version: Timestamp(seconds: 3)))
    send(TargetChange(.add, targetIDs: [4]), global(4), global(5))
    watch.stop()
    #expect(watch.targets[2]?.resumeToken == [5])
    #expect(watch.targets[4]?.resumeToken == [3])
  }
}
