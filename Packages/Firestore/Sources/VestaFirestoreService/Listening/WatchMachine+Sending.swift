import VestaFirestoreBackend
import VestaFirestoreModel

/// Responses are sent at once, or held back while a query of their call runs again.
extension WatchMachine {
  /// Sends responses, or holds them back while a query of the call runs again.
  mutating func deliver(_ responses: [ListenResponse], to call: CallID, withSnapshot: Bool) -> [Action] {
    if calls[call]?.stale.isEmpty == false {
      return hold(responses, for: call)
    }
    // The query that a guard has allowed says nothing of a document that is no result any longer.
    let hasLeft = calls[call]?.isGuarded == true && responses.contains { $0.isFormerResult }
    let responses = hasLeft ? responses.map(\.withoutFormerResult) : responses
    guard withSnapshot, let version else { return [.send(call, responses)] }
    calls[call]?.snapshot = version
    return [.send(call, responses + snapshot(of: call, version))]
  }

  /// Sends responses that many calls share, and that end with the snapshot of the turn.
  mutating func deliver(shared responses: [ListenResponse], to call: CallID, into actions: inout [Action]) {
    guard let version, calls[call]?.takesAsTheyAre(responses, at: version) == true else {
      return actions += deliver(Array(responses.dropLast()), to: call, withSnapshot: true)
    }
    actions.append(.send(call, responses))
  }

  /// Holds responses back, or ends the call when they are too many.
  mutating func hold(_ responses: [ListenResponse], for call: CallID) -> [Action] {
    guard !responses.isEmpty, calls[call]?.held.add(responses) == .tooMany else { return [] }
    return ended(call) + [.end(call, .tooMuchUnread)]
  }

  /// Sends the responses that were held back, once no query of the call runs again.
  mutating func release(_ call: CallID) -> [Action] {
    guard calls[call]?.stale.isEmpty == true, let held = calls[call]?.held.take() else { return [] }
    return deliver(held, to: call, withSnapshot: true)
  }

  /// Sends a new token to calls without a response for long, so that they resume at little cost.
  mutating func refreshTokens() -> [Action] {
    guard let version, version - lastRefresh >= tokenInterval / 4 else { return [] }
    lastRefresh = version
    var actions: [Action] = []
    for (call, state) in calls where version - state.snapshot >= tokenInterval && state.stale.isEmpty {
      let isFollowing = state.targets.values.contains { if case .following = $0.state { true } else { false } }
      if isFollowing { actions += deliver([], to: call, withSnapshot: true) }
    }
    return actions
  }

  /// The snapshot of a call; its token is that of the targets alone which have been sent their first results.
  ///
  /// Clients keep a token without targets for each target that was acknowledged. One that resumed from there without
  /// its first results would never be sent them.
  private func snapshot(of call: CallID, _ version: Int64) -> [ListenResponse] {
    let whole = WatchMachine.globalSnapshot(version)
    guard let call = calls[call], !call.starting.isEmpty, case .targetChange(var change) = whole else { return [whole] }
    var told = change
    told.targetIDs = call.targets.keys.filter { !call.starting.contains($0) }.sorted()
    change.resumeToken = []
    return (told.targetIDs.isEmpty ? [] : [.targetChange(told)]) + [.targetChange(change)]
  }

  static func globalSnapshot(_ version: Int64) -> ListenResponse {
    .targetChange(
      TargetChange(
        .noChange, resumeToken: ResumeToken.encode(version), readTime: Timestamp(microseconds: version)))
  }
}

extension WatchMachine.Action {
  /// Actions with the responses together that one call is sent in a row: each sending may wake a thread.
  static func joined(_ actions: [Self]) -> [Self] {
    if !zip(actions, actions.dropFirst()).contains(where: { isToSameCall($0, $1) }) { return actions }
    var joined: [Self] = []
    // Apart from the list, so that responses are appended in place: a call may have many targets that join together.
    var call: WatchCallID?
    var responses: [ListenResponse] = []
    for action in actions {
      if case .send(let next, let more) = action, next == call {
        responses += more
        continue
      }
      if let call { joined.append(.send(call, responses)) }
      if case .send(let next, let first) = action {
        (call, responses) = (next, first)
      } else {
        (call, responses) = (nil, [])
        joined.append(action)
      }
    }
    if let call { joined.append(.send(call, responses)) }
    return joined
  }

  private static func isToSameCall(_ one: Self, _ next: Self) -> Bool {
    if case .send(let call, _) = one, case .send(call, _) = next { true } else { false }
  }
}

extension ListenResponse {
  /// Whether it is about a document that has left its targets and is in no other.
  var isFormerResult: Bool {
    if case .documentChange(let change) = self { change.targetIDs.isEmpty } else { false }
  }

  /// The response; of a document that has left its targets and is in no other, the name alone.
  fileprivate var withoutFormerResult: ListenResponse {
    guard case .documentChange(let change) = self, change.targetIDs.isEmpty else { return self }
    return .documentRemove(
      DocumentRemove(
        document: change.document.name, removedTargetIDs: change.removedTargetIDs,
        readTime: change.document.updateTime))
  }
}
