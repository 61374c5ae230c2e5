import VestaFirestoreBackend
import VestaFirestoreRemote
import VestaFirestoreService
import VestaServiceInterop
import VestaTesting
import VestaTransport

/// A listener with several targets, which ends when it has the last state of all of them.
struct DeliveryListener {
  private struct Side {
    let subject: Target.Subject
    let size: Int
    var kept: [String: Document] = [:]
    var pending: [String: Document] = [:]
    var token: [UInt8]?
    var newest: [String: Timestamp] = [:]
    var id: Int32 = 0
    var isCurrent = false
  }

  private let world: DeliveryWorld
  private let number: Int
  private var random: SplitMix
  private var sides: [Side] = []
  private var nextID: Int32
  private let isGuarded: Bool
  private var isDenied = false
  private var time = Timestamp(seconds: 0)
  private var isSteady: Bool { number == 0 }

  init(_ world: DeliveryWorld, _ number: Int, _ random: SplitMix) {
    (self.world, self.number, self.random) = (world, number, random)
    nextID = self.random.oneIn(2) ? 2 : 2 + 2 * Int32(self.random.below(5))
    let isGuarded = self.random.oneIn(3)
    self.isGuarded = number > 0 && isGuarded
    // The steady one has one target: writers wait for it, so that it must not be cut off at its start.
    for side in 0...(number == 0 ? 0 : self.random.below(4)) {
      let parent = DeliveryWorld.database + "/documents"
      switch number == 0 && side == 0 ? 3 : self.random.below(5) {
      case 0, 1: sides.append(Side(subject: .documents([DeliveryWorld.names[0]]), size: 1))
      case 2: sides.append(Side(subject: .documents([DeliveryWorld.names[1], DeliveryWorld.names[2]]), size: 2))
      case 3:
        sides.append(
          Side(subject: .query(parent: parent, StructuredQuery(from: [.init(collectionID: "rooms")])), size: 6))
      default:
        let query = StructuredQuery(
          from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n", .descending)], limit: 3)
        sides.append(Side(subject: .query(parent: parent, query), size: 3))
      }
    }
  }

  private func fault(_ text: String) { world.faults.add("listener \(number): \(text)") }

  private enum Style: Int { case reads, pauses, cancels, finishes, drops, expires }

  mutating func follow() async throws {
    while true {
      let style: Style = isSteady ? .reads : Style(rawValue: random.below(6)) ?? .reads
      let own = style == .drops ? try world.ownClient() : nil
      var context: CallContext = isGuarded ? CallContext() : .owner
      if style == .expires {
        context.deadline = ServiceClock.system.now() + Int64(1_000 + random.below(60_000))
      }
      var limit = 1 + random.below(20)
      var batches = 0
      do {
        let call = try await world.remote(own ?? world.sharedClient(number)).listen(
          database: DeliveryWorld.database, context: context)
        defer { call.cancel() }
        for index in sides.indices { add(index, to: call) }
        for try await batch in call.responses {
          isDenied = false
          for response in batch where apply(response, call) {
            await own?.close()
            return
          }
          if isDenied { await world.waitForCommits(1) }
          batches += 1
          guard batches >= limit else { continue }
          switch style {
          case .reads, .expires: break
          case .pauses:
            await world.waitForCommits(1 + random.below(40))
            limit = batches + 1 + random.below(10)
          case .cancels: call.cancel()
          case .finishes: call.finish()
          case .drops: await own?.close()
          }
        }
        if style != .cancels && style != .finishes { fault("\(style) ended without an error") }
        if style == .finishes || style == .cancels, batches < limit { fault("\(style) ended early") }
      } catch let error as FirestoreServiceError {
        switch (style, error.code) {
        case (_, .resourceExhausted), (.expires, .deadlineExceeded), (.drops, .unavailable): break
        default: fault("\(style): \(error)")
        }
      }
      await own?.close()
    }
  }

  private mutating func add(_ index: Int, to call: ListenCall) {
    sides[index].id = nextID
    sides[index].isCurrent = false
    sides[index].pending = sides[index].kept
    call.send(
      .addTarget(Target(id: nextID, sides[index].subject, resume: sides[index].token.map { .token($0) })))
    nextID += 2
  }

  private mutating func forget(_ index: Int) { (sides[index].kept, sides[index].token) = ([:], nil) }

  /// - Returns: Whether the listener has the last state.
  private mutating func apply(_ response: ListenResponse, _ call: ListenCall) -> Bool {
    switch response {
    case .documentChange(let change):
      for index in sides.indices where change.targetIDs.contains(sides[index].id) { take(change.document, index) }
      for index in sides.indices where change.removedTargetIDs.contains(sides[index].id) {
        sides[index].pending[change.document.name] = nil
      }
    case .documentDelete(let delete):
      for index in sides.indices where delete.removedTargetIDs.contains(sides[index].id) {
        sides[index].pending[delete.document] = nil
      }
    case .documentRemove(let remove):
      for index in sides.indices where remove.removedTargetIDs.contains(sides[index].id) {
        sides[index].pending[remove.document] = nil
      }
    case .filter(let filter):
      for index in sides.indices where sides[index].id == filter.targetID && sides[index].pending.count != filter.count
      {
        call.send(.removeTarget(id: filter.targetID))
        forget(index)
        add(index, to: call)
      }
    case .targetChange(let change): return apply(change, call)
    }
    return false
  }

  private mutating func take(_ document: Document, _ index: Int) {
    let side = sides[index]
    guard let time = document.updateTime else { return fault("no time") }
    if let newest = side.newest[document.name], time < newest { fault("\(document.name) at \(time), after \(newest)") }
    if side.isCurrent, side.pending[document.name]?.updateTime == time { fault("\(document.name) twice at \(time)") }
    sides[index].newest[document.name] = time
    sides[index].pending[document.name] = document
  }

  private mutating func apply(_ change: TargetChange, _ call: ListenCall) -> Bool {
    let indices = sides.indices.filter { change.targetIDs.isEmpty || change.targetIDs.contains(sides[$0].id) }
    switch change.kind {
    case .add: break
    case .current: for index in indices { sides[index].isCurrent = true }
    case .reset:
      for index in indices { (sides[index].pending, sides[index].isCurrent) = ([:], false) }
    case .remove:
      for index in indices where !change.targetIDs.isEmpty {
        if !(isGuarded && change.cause?.code == .permissionDenied) {
          fault("removed: \(String(describing: change.cause))")
        }
        isDenied = true
        forget(index)
        add(index, to: call)
      }
    case .noChange:
      guard change.targetIDs.isEmpty, let read = change.readTime else { break }
      if read < time { fault("snapshot at \(read) after \(time)") }
      time = read
      if isSteady { world.steady.add(read) }
      for index in sides.indices where sides[index].isCurrent {
        sides[index].kept = sides[index].pending
        if !change.resumeToken.isEmpty { sides[index].token = change.resumeToken }
      }
      return isLast()
    }
    return false
  }

  private func isLast() -> Bool {
    let current = sides.filter(\.isCurrent)
    let all = current.flatMap { side in side.kept.values.map { $0.fields["isLast"] == .boolean(true) } }
    guard all.contains(true) else { return false }
    if all.contains(false) || current.contains(where: { $0.kept.count != $0.size }) { fault("a torn state: \(all)") }
    for side in current where side.size == 3 && Set(side.kept.keys) != Set(DeliveryWorld.names.suffix(3)) {
      fault("the last three are \(side.kept.keys.sorted())")
    }
    return current.count == sides.count
  }
}
