import FirestoreInterop

/// What a new target is told of the documents: all that is in, or what has changed since it was followed before.
struct WatchStart {
  private(set) var responses: [ListenResponse] = []

  init(_ target: Target, _ subject: WatchSubject, in snapshot: Snapshot) async throws {
    let version: Int64? =
      switch target.resume {
      case nil: nil
      case .token(let token): ResumeToken.decode(token)
      case .readTime(let time): time.microseconds
      }
    if let version, version >= snapshot.head.horizon, version <= snapshot.version {
      try await resume(target, subject, from: version, in: snapshot)
      return
    }
    // A moment that is no longer known: what the caller has may be anything.
    if target.resume != nil {
      responses.append(.targetChange(TargetChange(.reset, targetIDs: [target.id])))
    }
    var news = CallNews()
    for (place, document) in try await subject.results(in: snapshot) { news.add(document, at: place, to: [target.id]) }
    responses += news.responses(readTime: snapshot.readTime)
    if case .documents(let names) = target.subject {
      let found = Set(try await subject.results(in: snapshot).values.map { Array($0.name.utf8) })
      for name in names where !found.contains(Array(name.utf8)) {
        let missing = DocumentDelete(document: name, removedTargetIDs: [target.id], readTime: snapshot.readTime)
        responses.append(.documentDelete(missing))
      }
    }
  }

  private mutating func resume(
    _ target: Target, _ subject: WatchSubject, from version: Int64, in snapshot: Snapshot
  ) async throws {
    var news = CallNews()
    if subject.isLimited {
      let old = try await subject.results(in: try await snapshot.at(version))
      let new = try await subject.results(in: snapshot)
      try await ViewDifference(from: old, to: new, in: snapshot).tell(&news, [target.id])
    } else {
      for change in try await WatchChange.all(after: version, in: snapshot) {
        let (wasIn, isIn) = change.membership(in: subject)
        if wasIn || isIn { change.tell(&news, [target.id], isIn: isIn) }
      }
    }
    responses += news.responses(readTime: snapshot.readTime)
    guard let expected = target.expectedCount else { return }
    let count = Int32(clamping: try await subject.results(in: snapshot).count)
    if count != expected { responses.append(.filter(ExistenceFilter(targetID: target.id, count: count))) }
  }
}
