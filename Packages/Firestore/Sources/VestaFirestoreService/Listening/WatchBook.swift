import FirestoreInterop
import FirestoreModel

/// Which call follows what, and what each is told: used by one task at a time.
///
/// All targets stand at one version. A turn brings them to the next one: what was changed in between is matched with the
/// subjects it may concern, and each call that is concerned gets its documents and one global snapshot.
struct WatchBook {
  typealias CallID = Int

  private struct Watch {
    var subject: WatchSubject
    /// The targets that follow it, by call.
    var members: [CallID: [Int32]] = [:]
    /// What is in; kept where it depends on other documents.
    var view: [Place: Document] = [:]
  }

  private var watches: [Int: Watch] = [:]
  private var numbers: [WatchSubject: Int] = [:]
  private var targets: [CallID: [Int32: Int]] = [:]
  private var index = WatchIndex()
  private var lastNumber = 0
  private var version: Int64?

  /// Brings all targets to a moment.
  ///
  /// - Returns: What each call that is concerned is told, the global snapshot at the end.
  mutating func advance(to snapshot: Snapshot) async throws -> [CallID: [ListenResponse]] {
    defer { version = snapshot.version }
    guard let version, version < snapshot.version, !watches.isEmpty else { return [:] }
    var news: [CallID: CallNews] = [:]
    var dirty: Set<Int> = []
    for change in try await WatchChange.all(after: version, in: snapshot) {
      for number in index.candidates(change.place, change.path, change.states) {
        guard let watch = watches[number] else { continue }
        let (wasIn, isIn) = change.membership(in: watch.subject)
        guard wasIn || isIn else { continue }
        if watch.subject.isLimited {
          dirty.insert(number)
        } else {
          for (call, ids) in watch.members { change.tell(&news[call, default: CallNews()], ids, isIn: isIn) }
        }
      }
    }
    for number in dirty { try await refresh(number, in: snapshot, &news) }
    return news.filter { !$0.value.isEmpty }.mapValues {
      $0.responses(readTime: snapshot.readTime) + [WatchBook.globalSnapshot(snapshot)]
    }
  }

  /// Asks a limited query again and tells the difference.
  private mutating func refresh(_ number: Int, in snapshot: Snapshot, _ news: inout [CallID: CallNews]) async throws {
    guard let watch = watches[number] else { return }
    let view = try await watch.subject.results(in: snapshot)
    let difference = try await ViewDifference(from: watch.view, to: view, in: snapshot)
    for (call, ids) in watch.members { difference.tell(&news[call, default: CallNews()], ids) }
    watches[number]?.view = view
  }

  /// Adds a target at the moment that all others stand at.
  ///
  /// - Returns: Everything up to the global snapshot.
  mutating func add(_ target: Target, of call: CallID, in snapshot: Snapshot) async throws -> [ListenResponse] {
    guard target.id > 0 else { throw FirestoreError.refused("The number of a target must be above zero.") }
    guard targets[call]?[target.id] == nil else {
      throw FirestoreError.refused("The target \(target.id) is listened to already.")
    }
    let subject = try WatchSubject(target.subject, in: snapshot.name)
    let start = try await WatchStart(target, subject, in: snapshot)
    var responses: [ListenResponse] = [.targetChange(TargetChange(.add, targetIDs: [target.id]))]
    responses += start.responses
    let token = ResumeToken.encode(snapshot.version)
    responses.append(
      .targetChange(
        TargetChange(.current, targetIDs: [target.id], resumeToken: token, readTime: snapshot.readTime)))
    responses.append(WatchBook.globalSnapshot(snapshot))
    if target.once {
      responses.append(.targetChange(TargetChange(.remove, targetIDs: [target.id])))
    } else {
      try await register(target.id, of: call, subject, in: snapshot)
    }
    return responses
  }

  private mutating func register(
    _ id: Int32, of call: CallID, _ subject: WatchSubject, in snapshot: Snapshot
  ) async throws {
    let number: Int
    if let known = numbers[subject] {
      number = known
    } else {
      lastNumber += 1
      number = lastNumber
      let view = subject.isLimited ? try await subject.results(in: snapshot) : [:]
      watches[number] = Watch(subject: subject, view: view)
      numbers[subject] = number
      index.insert(number, subject)
    }
    watches[number]?.members[call, default: []].append(id)
    targets[call, default: [:]][id] = number
  }

  /// Removes a target; nothing happens when it is not there.
  mutating func remove(_ id: Int32, of call: CallID) {
    guard let number = targets[call]?.removeValue(forKey: id) else { return }
    watches[number]?.members[call]?.removeAll { $0 == id }
    if watches[number]?.members[call]?.isEmpty == true { watches[number]?.members[call] = nil }
    if let watch = watches[number], watch.members.isEmpty {
      index.remove(number, watch.subject)
      numbers[watch.subject] = nil
      watches[number] = nil
    }
  }

  /// Forgets a call.
  mutating func end(_ call: CallID) {
    for id in targets[call]?.keys.map(\.self) ?? [] { remove(id, of: call) }
    targets[call] = nil
  }

  private static func globalSnapshot(_ snapshot: Snapshot) -> ListenResponse {
    .targetChange(
      TargetChange(.noChange, resumeToken: ResumeToken.encode(snapshot.version), readTime: snapshot.readTime))
  }
}
