/// The states that one object may be in, after a history of calls that ran at the same time.
///
/// A history is right when there is an order of its calls, each at some point between its beginning and its answer, in
/// which an object that changes in one step would have given the same answers. A call that was not answered, or that
/// was cancelled, may be at any point after its beginning, or nowhere. The search for that order is the obvious one.
public struct OracleObject: Sendable {
  /// One state.
  public struct State: Hashable, Sendable {
    /// The content; `nil` where there is no object.
    public var content: OracleContent?

    /// The generation of the object; 0 while no answer has told it.
    public var generation: Int64 = 0

    /// The metadata; its generation is 0 where it is not known.
    public var metadata = OracleMetadata(generation: 0, custom: [:])

    /// The largest generation so far; the next one is larger.
    public var newest: Int64 = 0
  }

  private struct Step {
    var call: OracleCall
    var begin: Int
    var end: Int
    var answer: OracleAnswer?
    var mayBeNowhere: Bool
  }

  private struct Point: Hashable {
    var done: UInt64
    var state: State
  }

  /// The states that are possible now.
  public private(set) var states: Set<State> = [State()]

  /// Creates an object that is not there.
  public init() {}

  /// Takes the calls of a period at whose end nothing runs.
  ///
  /// - Parameter events: The events about this object, in order.
  /// - Returns: Whether the answers are right. If not, all states that the last answers allow are possible afterwards.
  public mutating func take(_ events: [OracleEvent]) -> Bool {
    let steps = Self.steps(events)
    precondition(steps.count <= 64, "Too many calls of one object for one search.")
    var seen: Set<Point> = [], ends: Set<State> = []
    var open = states.map { Point(done: 0, state: $0) }
    while let point = open.popLast() {
      guard seen.insert(point).inserted else { continue }
      let left = steps.indices.filter { point.done & (1 << UInt64($0)) == 0 }
      if left.allSatisfy({ steps[$0].mayBeNowhere }) { ends.insert(point.state) }
      // A call may be next when none that is left was answered before it began.
      let limit = left.filter { !steps[$0].mayBeNowhere }.map { steps[$0].end }.min() ?? .max
      for index in left where steps[index].begin < limit {
        for state in Self.after(steps[index], point.state) {
          open.append(Point(done: point.done | (1 << UInt64(index)), state: state))
        }
      }
    }
    guard !ends.isEmpty else { return false }
    states = ends
    return true
  }

  private static func steps(_ events: [OracleEvent]) -> [Step] {
    var steps: [Step] = []
    for (time, event) in events.enumerated() {
      switch event {
      case .call(let call): steps.append(Step(call: call, begin: time, end: .max, mayBeNowhere: true))
      case .answer(let answer):
        guard let index = steps.firstIndex(where: { $0.call.id == answer.id }) else { continue }
        if answer.outcome == .undecided { continue }
        steps[index].answer = answer
        steps[index].end = time
        steps[index].mayBeNowhere = false
      case .broken: break
      }
    }
    // A refused call has no effect, and a read without answer has none either.
    return steps.filter {
      $0.answer?.outcome != .refused && !($0.answer == nil && [.get, .look, .write].contains($0.call.kind))
    }
  }

  /// The states after a call, if its answer is possible in a state.
  private static func after(_ step: Step, _ state: State) -> [State] {
    if step.answer?.outcome == .missing { return state.content == nil ? [state] : [] }
    switch step.call.kind {
    case .put: return puts(step, state)
    case .delete:
      guard state.content != nil else { return [] }
      return [State(newest: max(state.newest, state.generation))]
    case .change:
      guard state.content != nil else { return [] }
      var after = state
      if after.metadata.generation > 0 { after.metadata.generation += 1 }
      if let type = step.call.contentType { after.metadata.contentType = type }
      for key in step.call.removed { after.metadata.custom[key] = nil }
      after.metadata.custom.merge(step.call.custom) { $1 }
      return read(step.answer, after)
    case .get, .write, .look: return state.content == nil ? [] : read(step.answer, state)
    }
  }

  private static func puts(_ step: Step, _ state: State) -> [State] {
    step.call.contents.flatMap { content -> [State] in
      let metadata = OracleMetadata(generation: 1, contentType: step.call.contentType, custom: step.call.custom)
      let newest = max(state.newest, state.generation)
      return read(step.answer, State(content: content, metadata: metadata, newest: newest))
    }
  }

  /// The state with what an answer tells of it, if the answer agrees with it.
  private static func read(_ answer: OracleAnswer?, _ state: State) -> [State] {
    guard let answer else { return [state] }
    var state = state
    if let content = answer.content, content != state.content { return [] }
    if answer.size >= 0, answer.size != Int64(state.content?.length ?? 0) { return [] }
    if answer.generation > 0 {
      if state.generation == 0 {
        guard answer.generation > state.newest else { return [] }
        state.generation = answer.generation
      }
      guard state.generation == answer.generation else { return [] }
    }
    if let metadata = answer.metadata, metadata != state.metadata { return [] }
    return [state]
  }
}
