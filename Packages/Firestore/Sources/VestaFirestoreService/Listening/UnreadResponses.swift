import VestaFirestoreBackend
import VestaFirestoreModel

/// The responses that a listener has not read yet, merged where one says everything that an earlier one says.
///
/// A document may change a thousand times before its listener reads. Between two responses about targets themselves
/// the last state of each document is all that counts, and of the global snapshots the last one:
///
/// | unread | merged |
/// |---|---|
/// | `a` is 1 in target 2; snapshot at 10; `b` is 1 in 2; `a` is 2 in 2; snapshot at 20 | `b` is 1 in 2; `a` is 2 in 2; snapshot at 20 |
/// | `a` is 3 in 2 and 4; snapshot; `a` is deleted from 2; snapshot | `a` is deleted from 2 and 4; snapshot |
///
/// A listener that applies the responses has the same documents at every snapshot that is left, and no token covers a
/// change that was not sent.
struct UnreadResponses: Sendable {
  enum Outcome: Equatable {
    case kept
    /// The responses are too many, even merged: the call has to end.
    case tooMany
  }

  private(set) var responses: [ListenResponse] = []
  private(set) var bytes = 0
  /// The bytes of turns for which there was room that go beyond half of the limit, and do not count.
  private var exempt = 0
  private let limit: Int
  private let areHeld: Bool

  /// - Parameters:
  ///   - limit: How many bytes may be unread. The responses of one turn may have more, if there is room for them when
  ///     they come: the first results of a target are one unit. Responses before and after them have the same limit.
  ///   - areHeld: Whether the responses are held back, all of them before the same snapshot, which is not among them.
  init(limit: Int, areHeld: Bool = false) {
    self.limit = limit
    self.areHeld = areHeld
  }

  var isEmpty: Bool { responses.isEmpty }
  /// Whether the first results of a target may follow, however many they are; half of the limit is left to changes.
  var hasRoom: Bool { bytes <= limit / 2 }

  /// Removes and returns all responses.
  mutating func take() -> [ListenResponse] {
    defer { (responses, bytes, exempt) = ([], 0, 0) }
    return responses
  }

  /// Adds responses, and merges all of them if they are more than the limit.
  ///
  /// A merge that frees less than a quarter of the limit counts as too many: so merging costs little for each response.
  mutating func add(_ more: [ListenResponse]) -> Outcome {
    let size = UnreadResponses.size(of: more)
    if hasRoom { exempt += max(0, bytes + size - limit / 2) }
    responses += more
    bytes += size
    if bytes - exempt <= limit { return .kept }
    responses = UnreadResponses.merged(responses, areHeld: areHeld)
    bytes = UnreadResponses.size(of: responses)
    exempt = min(exempt, max(0, bytes - limit / 2))
    return bytes - exempt <= limit - limit / 4 ? .kept : .tooMany
  }

  private static func size(of responses: [ListenResponse]) -> Int { responses.reduce(0) { $0 + $1.size } }

  /// The responses merged: fewer ones with the same effect on a listener.
  static func merged(_ responses: [ListenResponse], areHeld: Bool = false) -> [ListenResponse] {
    var result: [ListenResponse] = []
    var run: [ListenResponse] = []
    for response in responses {
      if response.isMergeable {
        run.append(response)
      } else {
        result += merged(run: run, areHeld)
        result.append(response)
        run = []
      }
    }
    return result + merged(run: run, areHeld)
  }

  /// Merges the states of documents up to the last snapshot; responses after it belong to the next snapshot.
  private static func merged(run: [ListenResponse], _ areHeld: Bool) -> [ListenResponse] {
    guard var end = run.lastIndex(where: \.isSnapshot) ?? (areHeld ? run.endIndex : nil) else { return run }
    if end > 0, run[end - 1].isToken { end -= 1 }
    var states: [UTF8String: DocumentState] = [:]
    for (index, response) in run[..<end].enumerated() {
      guard let name = response.document else { continue }
      states[UTF8String(name), default: DocumentState()].add(response, at: index)
    }
    let merged = states.values.sorted { $0.position < $1.position }.compactMap(\.response)
    return merged + run[end...]
  }

  /// The latest response about a document, and the targets that earlier responses named.
  private struct DocumentState {
    private var last: ListenResponse?
    private(set) var position = 0
    /// For each target, whether it contains the document.
    private var targets: [Int32: Bool] = [:]

    mutating func add(_ response: ListenResponse, at position: Int) {
      (last, self.position) = (response, position)
      switch response {
      case .documentChange(let change):
        for id in change.targetIDs { targets[id] = true }
        for id in change.removedTargetIDs { targets[id] = false }
      case .documentDelete(let delete):
        for id in targets.keys + delete.removedTargetIDs { targets[id] = false }
      case .documentRemove, .targetChange, .filter: break
      }
    }

    var response: ListenResponse? {
      let gone = targets.filter { !$0.value }.keys.sorted()
      switch last {
      case .documentChange(var change):
        change.targetIDs = targets.filter(\.value).keys.sorted()
        change.removedTargetIDs = gone
        return .documentChange(change)
      case .documentDelete(var delete):
        delete.removedTargetIDs = gone
        return .documentDelete(delete)
      default: return last
      }
    }
  }
}

extension ListenResponse {
  /// The approximate number of bytes of the response in memory.
  fileprivate var size: Int {
    switch self {
    case .documentChange(let change): 128 + DocumentSize.size(of: change.document)
    case .documentDelete(let delete): 128 + delete.document.utf8.count
    case .documentRemove, .targetChange, .filter: 128
    }
  }

  /// The document that the response is about; `nil` for other responses.
  fileprivate var document: String? {
    switch self {
    case .documentChange(let change): change.document.name
    case .documentDelete(let delete): delete.document
    case .documentRemove, .targetChange, .filter: nil
    }
  }

  fileprivate var isSnapshot: Bool {
    guard case .targetChange(let change) = self else { return false }
    return change.kind == .noChange && change.targetIDs.isEmpty && change.readTime != nil
  }

  /// Whether it says nothing but the token of some targets, as it does before a snapshot without one.
  fileprivate var isToken: Bool {
    guard case .targetChange(let change) = self else { return false }
    return change.kind == .noChange && !change.targetIDs.isEmpty
  }

  fileprivate var isMergeable: Bool { document != nil || isSnapshot || isToken }
}
