import VestaDatabaseBackend
import VestaDatabaseModel

/// A change of what a device keeps.
enum DeviceChange: Sendable {
  /// Changes of the cached data.
  case changes([SyncCache.Change])
  /// The cached data as a whole, in place of what is there.
  case replaceCache(DatabaseNode, [SyncCache.TrackedQuery])
  /// No cached data.
  case dropCache
  /// A write that waits for its acknowledgement.
  case save(StoredWrite)
  /// A write that was answered or purged.
  case forget(Int)
  /// Nothing; its callback waits for the writes that are to be forgotten before it.
  case nothing

  /// Whether it takes rows away and adds none: a full disk may still allow it.
  var isRemoval: Bool {
    switch self {
    case .forget, .dropCache: true
    case .changes, .replaceCache, .save, .nothing: false
    }
  }

  /// Whether it adds to the cached data.
  fileprivate var isCache: Bool {
    switch self {
    case .changes, .replaceCache: true
    case .dropCache, .save, .forget, .nothing: false
    }
  }
}

/// A change, and what waits for it.
struct DeviceJob: Sendable {
  let change: DeviceChange
  /// Called once: with `nil` when work that waits for the change may continue, with an error when the database is
  /// closed before.
  var then: (@Sendable (DatabaseError?) -> Void)?

  /// The closure to call in the end; `nil` when nothing waits.
  fileprivate func call(with error: DatabaseError? = nil) -> (@Sendable () -> Void)? {
    guard let then else { return nil }
    return { then(error) }
  }
}

/// The changes that could not be stored yet, and what waits for them; pure.
///
/// A write that the device still has is sent again at the next start, over everything that was written since. So no
/// caller is notified that a write was answered before the device has forgotten it and all writes before it, and a
/// write that the device cannot keep is not sent while the device has an older one.
///
/// By the example of a full disk, with the write 1 on the device: the answer to 1 arrives, and `forget(1)` fails; its
/// completion waits. The write 2 cannot be saved; it is not sent either. When there is room again, or for deletions
/// only, 1 is forgotten: its completion is called, and 2 is sent.
struct DeviceBacklog: Sendable {
  /// The writes that the device may have, as far as is known.
  private(set) var kept: Set<Int> = []
  /// The jobs of commits that failed, in order.
  private var waiting: [DeviceJob] = []
  /// The number of changes of the cached data among them.
  private var cacheChanges = 0
  private let limit: Int
  /// Whether the cached data on the device is incomplete, and has to be written as a whole.
  private(set) var wantsWholeCache = false
  /// Whether the device has the cached data that changes build on, once the jobs so far are stored.
  private var isBaseThere = true

  /// A backlog without jobs.
  ///
  /// - Parameter limit: The most changes of the cached data that wait; with more, the cache is written anew.
  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { waiting.isEmpty }

  /// Notes the writes that the device had at the start.
  mutating func note(kept ids: some Sequence<Int>) { kept.formUnion(ids) }

  /// Notes that the cached data on the device is no longer complete.
  mutating func noteIncompleteCache() { (wantsWholeCache, isBaseThere) = (true, false) }

  /// The whole cache is among the jobs from here on.
  mutating func noteWholeCache() { wantsWholeCache = false }

  /// Takes out all jobs, waiting ones first.
  mutating func take(_ new: [DeviceJob]) -> [DeviceJob] {
    defer { (waiting, cacheChanges) = ([], 0) }
    return waiting + fitting(new)
  }

  /// Leaves out the changes of cached data that the device does not have.
  ///
  /// They were made before it was known that the data is dropped, and are in the whole that follows. By themselves they
  /// would be a mixture: a query that has all of its results, without the results.
  mutating func fitting(_ jobs: [DeviceJob]) -> [DeviceJob] {
    jobs.filter { job in
      switch job.change {
      case .changes: return isBaseThere
      case .replaceCache: isBaseThere = true
      case .dropCache: noteIncompleteCache()
      case .save, .forget, .nothing: break
      }
      return true
    }
  }

  /// Notes jobs that were stored.
  ///
  /// - Returns: The work that waited for them, in order.
  mutating func stored(_ jobs: [DeviceJob]) -> [@Sendable () -> Void] {
    for job in jobs {
      switch job.change {
      case .save(let write): kept.insert(write.id)
      case .forget(let id): kept.remove(id)
      case .changes, .replaceCache, .dropCache, .nothing: break
      }
    }
    return jobs.compactMap { $0.call() }
  }

  /// Notes jobs that could not be stored; they wait for the next commit.
  ///
  /// - Parameters:
  ///   - jobs: All jobs of the commit.
  ///   - areRemovalsDone: Whether the removals among them could be carried out by themselves.
  ///   - isUnknown: Whether the jobs may have been stored all the same.
  /// - Returns: The work that need not wait longer, in order.
  mutating func failed(
    _ jobs: [DeviceJob], areRemovalsDone: Bool, isUnknown: Bool = false
  ) -> [@Sendable () -> Void] {
    let forgotten = Set(jobs.compactMap { if case .forget(let id) = $0.change { id } else { nil } })
    if isUnknown { kept.formUnion(jobs.compactMap { if case .save(let write) = $0.change { write.id } else { nil } }) }
    if areRemovalsDone { kept.subtract(forgotten) }
    var calls: [@Sendable () -> Void] = []
    // Whether the device has a write that has to be forgotten before the callers of later ones are answered.
    var isBlocked = false
    for job in jobs {
      var isDone = false
      switch job.change {
      case .forget(let id):
        isBlocked = isBlocked || kept.contains(id)
        isDone = !isBlocked
      case .nothing: isDone = !isBlocked
      case .dropCache: isDone = areRemovalsDone
      // A write that is to be forgotten is no longer saved.
      case .save(let write): isDone = forgotten.contains(write.id)
      case .changes, .replaceCache: break
      }
      if !isDone { keep(job) } else if let call = job.call() { calls.append(call) }
    }
    boundCache()
    return calls + releaseRefused()
  }

  private mutating func keep(_ job: DeviceJob) {
    switch job.change {
    case .nothing where job.then == nil: return
    case .changes(let changes): cacheChanges += changes.count
    case .save, .forget, .dropCache, .replaceCache, .nothing: break
    }
    waiting.append(job)
  }

  /// Drops the changes of the cached data when too many of them wait; a part of them would leave a mixture.
  private mutating func boundCache() {
    guard cacheChanges > limit || wantsWholeCache else { return }
    let isDropped = waiting.contains { if case .dropCache = $0.change { true } else { false } }
    waiting.removeAll { $0.change.isCache }
    if !isDropped { waiting.append(DeviceJob(change: .dropCache)) }
    cacheChanges = 0
    noteIncompleteCache()
  }

  /// Lets go the writes that could not be saved and before which the device has none.
  private mutating func releaseRefused() -> [@Sendable () -> Void] {
    let oldest = kept.min() ?? .max
    var calls: [@Sendable () -> Void] = []
    for index in waiting.indices {
      guard case .save(let write) = waiting[index].change, write.id < oldest else { continue }
      if let call = waiting[index].call() { calls.append(call) }
      waiting[index].then = nil
    }
    return calls
  }

  /// Ends with the database.
  ///
  /// - Returns: The notifications of the remaining waiters, in order.
  mutating func close(_ error: DatabaseError) -> [@Sendable () -> Void] {
    let jobs = take([])
    // A write that was not sent has been ended with the database.
    return jobs.compactMap { job in if case .save = job.change { nil } else { job.call(with: error) } }
  }
}
