/// The documentation's promises about the events of documents: every change arrives, the changes of a document in their
/// order and one after another, until its function has succeeded or has failed often enough.
struct EventModel: Sendable {
  struct Change: Sendable, Hashable {
    var before: Int?
    var after: Int?
  }

  private struct Attempt {
    var index: Int
    var run: Int
    var isOver = false
  }

  /// The changes of each document, in the order of their commits.
  private(set) var changes: [String: [Change]] = [:]
  private var current: [String: Int] = [:]
  private var ids: [String: String] = [:]
  private var attempts: [String: [Attempt]] = [:]
  private(set) var succeeded: Set<String> = []
  /// The runs of the successes.
  private var runs: [String: Int] = [:]
  private(set) var problems: [String] = []
  var run = 0

  static func key(_ document: String, _ change: Change) -> String {
    "\(document): \(change.before.map(String.init) ?? "-") to \(change.after.map(String.init) ?? "-")"
  }

  mutating func changed(_ document: String, to version: Int?) {
    changes[document, default: []].append(Change(before: current[document], after: version))
    current[document] = version
  }

  func version(of document: String) -> Int? { current[document] }

  /// An attempt begins.
  ///
  /// - Parameters:
  ///   - document: The document.
  ///   - change: Its change.
  ///   - id: The id of the event.
  ///   - isResent: Whether dead letters are sent again.
  /// - Returns: Its number among the attempts of the event, from one.
  mutating func begins(_ document: String, _ change: Change, id: String, isResent: Bool) -> Int {
    let key = Self.key(document, change)
    if let known = ids[id], known != key { problems.append("\(id) is the id of \(known) and of \(key)") }
    // A program that ends between a success and its note runs the function again, the same program does not.
    if runs[key] == run { problems.append("\(key) comes again after its success") }
    if ids.contains(where: { $0.value == key && $0.key != id }) { problems.append("\(key) has two ids") }
    ids[id] = key
    // A change that is being committed is not in the list yet, and is last.
    let known = changes[document, default: []]
    let index = known.firstIndex(of: change) ?? known.count
    let before = attempts[document, default: []]
    // A dead letter is sent again after the changes that were made in between.
    if !isResent, before.contains(where: { $0.index > index }) { problems.append("\(key) comes after a later change") }
    if before.contains(where: { !$0.isOver && $0.run == run }) {
      problems.append("\(key) begins beside another change")
    }
    attempts[document, default: []].append(Attempt(index: index, run: run))
    return before.count { $0.index == index } + 1
  }

  mutating func ends(_ document: String, _ change: Change, isSuccess: Bool) {
    if let last = attempts[document]?.indices.last { attempts[document]?[last].isOver = true }
    guard isSuccess else { return }
    succeeded.insert(Self.key(document, change))
    runs[Self.key(document, change)] = run
  }

  /// The changes that have not had a success.
  var open: Set<String> {
    Set(changes.flatMap { document, changes in changes.map { Self.key(document, $0) } }).subtracting(succeeded)
  }

  mutating func broken(_ problem: String) { problems.append(problem) }
}
