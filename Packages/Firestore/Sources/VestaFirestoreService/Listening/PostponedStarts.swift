/// The starts that wait until their calls have read what was sent before.
///
/// A call is given one at a time, so that a client which reads slowly costs each of its queries once more, and not all
/// of them for each that it reads. Whether a call has room is asked when something has happened to it, and not in each
/// turn.
struct PostponedStarts: Sendable {
  private var waiting: [WatchMachine.CallID: [WatchMachine.Job]] = [:]
  /// The calls of the starts that wait, so that the starts of other calls are not searched when a client leaves.
  private var owners: [WatchMachine.JobID: WatchMachine.CallID] = [:]
  /// The starts that have begun and not ended, one of a call.
  private var begun: [WatchMachine.JobID: WatchMachine.CallID] = [:]
  private var busy: Set<WatchMachine.CallID> = []
  /// The calls to ask whether they have room.
  private var asked: Set<WatchMachine.CallID> = []

  mutating func add(_ job: WatchMachine.Job, for call: WatchMachine.CallID) {
    waiting[call, default: []].append(job)
    owners[job.id] = call
    asked.insert(call)
  }

  /// Notes that a call has read.
  mutating func noteReading(of call: WatchMachine.CallID) {
    if waiting[call] != nil { asked.insert(call) }
  }

  /// Returns each call once that has to be asked for room: it has starts that wait, and none that has begun.
  mutating func takeCalls() -> [WatchMachine.CallID] {
    if asked.isEmpty { return [] }
    defer { asked = [] }
    return asked.filter { waiting[$0] != nil && !busy.contains($0) }.sorted()
  }

  /// Removes the start of a call that begins now; `nil` where one has begun and not ended.
  mutating func next(for call: WatchMachine.CallID) -> WatchMachine.Job? {
    guard !busy.contains(call), let job = waiting[call]?.first else { return nil }
    waiting[call]?.removeFirst()
    if waiting[call]?.isEmpty == true { waiting[call] = nil }
    owners[job.id] = nil
    begun[job.id] = call
    busy.insert(call)
    return job
  }

  /// Notes that a start has ended, whether it was one of these or not.
  mutating func ended(_ id: WatchMachine.JobID) {
    guard let call = begun.removeValue(forKey: id) else { return }
    busy.remove(call)
    noteReading(of: call)
  }

  /// Forgets a start that has not begun.
  mutating func remove(_ id: WatchMachine.JobID) {
    guard let call = owners.removeValue(forKey: id) else { return }
    waiting[call]?.removeAll { $0.id == id }
    if waiting[call]?.isEmpty == true { waiting[call] = nil }
  }
}
