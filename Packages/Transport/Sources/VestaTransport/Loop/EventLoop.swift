import Dispatch
import Synchronization
import VestaConcurrency
import VestaTransportInterop

/// A thread that waits for descriptors and timers, and runs the tasks that serve its connections.
///
/// Everything of a connection happens on its loop: no lock is taken and no thread is changed between the bytes of a
/// request and an answer that is at hand. Tasks with the loop as their executor run on the same thread, in the
/// same turn in which they are resumed.
///
/// A turn: wait for events; serve each; run the closures that were there by then, and the jobs with the jobs that they
/// enqueue; let the channels write that asked for it in this turn; fire the timers that are due.
// Sound as @unchecked Sendable: state that is not constant, atomic or locked is touched by the thread of the loop
// alone.
final class EventLoop: TaskExecutor, @unchecked Sendable {
  private struct Work: Sendable {
    let perform: @Sendable () -> Void
  }

  private struct Inbox: Sendable {
    var jobs: [UnownedJob] = []
    var work: [Work] = []
    var isStopped = false
    /// Whether the thread has ended.
    var isEnded = false
    /// Whether the thread sleeps, or is about to, and has not been woken.
    var isAsleep = false

    var isEmpty: Bool { jobs.isEmpty && work.isEmpty }

    /// Notes that something was added.
    ///
    /// - Returns: Whether the thread has to be woken.
    mutating func wake() -> Bool {
      defer { isAsleep = false }
      return isAsleep
    }
  }

  let tuning: TransportTuning
  /// The time-outs of the tuning, in nanoseconds.
  let times: LoopTimes
  private let poll: PlatformPoll
  private let inbox = Locked(Inbox())
  private let thread = Atomic<UInt>(0)
  private let ended = Latch()

  // The thread's own, from here on.
  private var slots: [Slot] = []
  private var freeSlots: [Int] = []
  private var jobs: [UnownedJob] = []
  /// The first of them that has not run.
  private var firstJob = 0
  /// The channels that have asked on the thread itself for a turn.
  private var dueChannels: [Channel] = []
  private var timers = TimerHeap()
  private var lastSweep: Int64 = 0
  /// The number of channels that want to be swept.
  private var channelCount = 0
  /// The time at the beginning of the turn.
  private(set) var now: Int64 = PlatformClock.nanoseconds
  /// Where sockets are read to; channels copy what they keep.
  let readBuffer: UnsafeMutableRawBufferPointer
  /// A buffer for what is written in a turn, lent to one channel at a time, so that idle ones have none.
  var spareOutput: [UInt8] = []
  private var date = DateLine()

  private struct Slot {
    var channel: Channel?
    var generation: UInt32 = 0
  }

  /// A loop whose thread runs.
  ///
  /// - Throws: `TransportError` when the process has no descriptors or threads left.
  init(_ tuning: TransportTuning) throws {
    guard let poll = PlatformPoll() else { throw TransportError(.exhausted, "There are no file descriptors left.") }
    self.poll = poll
    self.tuning = tuning
    times = LoopTimes(tuning)
    readBuffer = .allocate(byteCount: max(1, tuning.readBytes), alignment: 16)
    guard PlatformThread.start({ self.run() }) else {
      throw TransportError(.exhausted, "There are no threads left.")
    }
  }

  /// Loops whose threads run; when one of them cannot be made the others end.
  static func make(_ count: Int, _ tuning: TransportTuning) throws -> [EventLoop] {
    var loops: [EventLoop] = []
    do {
      for _ in 0..<max(1, count) { loops.append(try EventLoop(tuning)) }
    } catch {
      for loop in loops { loop.end() }
      throw error
    }
    return loops
  }

  /// Only now no caller is left that could wake the thread: a wake-up after the end of the thread must not reach
  /// another file that was given its number.
  deinit {
    poll.close()
    readBuffer.deallocate()
  }

  // MARK: From any thread

  /// Whether the calling code runs on the thread of the loop.
  @inline(__always)
  var isCurrent: Bool { thread.load(ordering: .relaxed) == PlatformThread.current }

  /// Runs a closure on the loop, in a later turn of it.
  ///
  /// - Returns: Whether it will run; not after the end of the loop.
  @discardableResult
  func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
    let (isAsleep, isEnded) = inbox.withLock { inbox in
      if inbox.isEnded { return (false, true) }
      inbox.work.append(Work(perform: work))
      return (inbox.wake(), false)
    }
    if isAsleep, !isCurrent { poll.wake() }
    return !isEnded
  }

  /// Runs a part of a task on the loop; the Swift runtime calls this.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent { return jobs.append(job) }
    let (isAsleep, isEnded) = inbox.withLock { inbox in
      if inbox.isEnded { return (false, true) }
      inbox.jobs.append(job)
      return (inbox.wake(), false)
    }
    // A task that outlives the loop ends elsewhere.
    if isEnded { return DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) } }
    if isAsleep { poll.wake() }
  }

  /// Ends the thread when it has run what was handed to it.
  func stop() async {
    end()
    await ended.wait()
  }

  private func end() {
    inbox.withLock { $0.isStopped = true }
    poll.wake()
  }

  // MARK: On the loop

  /// Watches the descriptor of a channel.
  ///
  /// - Returns: Whether the system could.
  func add(_ channel: Channel, _ interest: PlatformPoll.Interest) -> Bool {
    let index = freeSlots.popLast() ?? slots.count
    if index == slots.count { slots.append(Slot()) }
    slots[index].channel = channel
    channel.token = UInt64(slots[index].generation) << 32 | UInt64(index)
    channelCount += 1
    if poll.add(channel.descriptor, interest, token: channel.token) { return true }
    forget(channel)
    return false
  }

  func change(_ channel: Channel, _ interest: PlatformPoll.Interest) {
    poll.change(channel.descriptor, interest, token: channel.token)
  }

  /// Ends the watching of a channel, before its descriptor is closed; one that is not watched is left alone.
  func remove(_ channel: Channel) {
    poll.remove(channel.descriptor)
    forget(channel)
  }

  private func forget(_ channel: Channel) {
    let index = Int(channel.token & 0xFFFF_FFFF)
    // Freed twice, the slot would be given to two channels, and one would get the events of the other.
    guard slots.indices.contains(index), slots[index].channel === channel else { return }
    slots[index].channel = nil
    slots[index].generation &+= 1
    freeSlots.append(index)
    channelCount -= 1
  }

  /// Calls a channel at the end of this turn of the loop, or of the next one: what many tasks add to it until then
  /// leaves by one write, and no closure is made and no lock taken for each of them.
  func callSoon(_ channel: Channel) {
    guard !channel.isCalledSoon else { return }
    channel.isCalledSoon = true
    dueChannels.append(channel)
  }

  /// Calls all channels; the closure may remove some.
  func forEachChannel(_ body: (Channel) -> Void) {
    for index in slots.indices { if let channel = slots[index].channel { body(channel) } }
  }

  /// Calls a closure on the loop, once, after a delay.
  @discardableResult
  func schedule(after delay: Duration, _ work: @escaping () -> Void) -> LoopTimer {
    timers.add(at: PlatformClock.nanoseconds + delay.nanoseconds, work)
  }

  func cancel(_ timer: LoopTimer) { timers.cancel(timer) }

  /// The line `date: …` of the present second.
  var dateLine: [UInt8] { date.line(at: now) }

  // MARK: The thread

  private func run() {
    thread.store(PlatformThread.current, ordering: .relaxed)
    let events = UnsafeMutableBufferPointer<PlatformEvent>.allocate(capacity: max(1, tuning.eventsPerTurn))
    defer {
      events.deallocate()
      // First: a task that this resumes runs elsewhere, and not on a list that no turn will read.
      thread.store(0, ordering: .relaxed)
      leaveChannels()
      ended.open()
    }
    while true {
      // Before the first event: what begins here has its time limit from now on, however long the jobs before it took.
      var isTimeKnown = false
      poll.wait(events, milliseconds: sleepingTime()) { token, interest in
        if !isTimeKnown { (isTimeKnown, now) = (true, PlatformClock.nanoseconds) }
        let index = Int(token & 0xFFFF_FFFF)
        // An event of a channel that was removed in this turn.
        guard slots[index].generation == UInt32(token >> 32), let channel = slots[index].channel else { return }
        channel.ready(interest)
      }
      if !isTimeKnown { now = PlatformClock.nanoseconds }
      let isStopped = takeInbox()
      runJobs()
      callDueChannels()
      while let work = timers.popDue(now) { work() }
      sweep()
      if isStopped, jobs.isEmpty, dueChannels.isEmpty, endIfEmpty() { break }
    }
  }

  /// Lets go of what is still watched: attempts to connect, and channels that were not shut down.
  private func leaveChannels() {
    forEachChannel { PlatformSocket.close($0.descriptor) }
    slots = []
    timers = TimerHeap()
  }

  /// Ends the inbox, unless something was added in between.
  private func endIfEmpty() -> Bool {
    inbox.withLock { inbox in
      inbox.isEnded = inbox.isEmpty
      return inbox.isEnded
    }
  }

  /// How long the system may wait, in milliseconds; other threads wake the loop from now on.
  private func sleepingTime() -> Int32 {
    if !jobs.isEmpty || !dueChannels.isEmpty { return 0 }
    let sleeps = inbox.withLock { inbox in
      inbox.isAsleep = inbox.isEmpty && !inbox.isStopped
      return inbox.isAsleep
    }
    if !sleeps { return 0 }
    var until = timers.first ?? .max
    if channelCount > 0 { until = min(until, lastSweep + times.sweep) }
    guard until < .max else { return -1 }
    let left = until - PlatformClock.nanoseconds
    return left <= 0 ? 0 : Int32(min(60_000, left / 1_000_000 + 1))
  }

  private func takeInbox() -> Bool {
    let taken = inbox.withLock { inbox -> Inbox in
      if inbox.isEmpty {
        inbox.isAsleep = false
        return Inbox(isStopped: inbox.isStopped)
      }
      defer { inbox = Inbox(isStopped: inbox.isStopped) }
      return inbox
    }
    if !taken.jobs.isEmpty { jobs += taken.jobs }
    for work in taken.work { work.perform() }
    return taken.isStopped
  }

  /// Runs the jobs that are there, and the jobs that these enqueue: a call takes several, and its responses are to be
  /// written together.
  ///
  /// After a number of jobs, or a time, the rest waits for the next turn, so that sockets and timers have theirs.
  private func runJobs() {
    var left = max(1, tuning.jobsPerTurn)
    // Turns of few jobs, the usual ones, read no clock. `now` is of before the events, which may have taken long.
    var end = jobs.count - firstJob > 4 ? PlatformClock.nanoseconds + times.jobs : nil
    while left > 0, firstJob < jobs.count {
      let job = jobs[firstJob]
      firstJob += 1
      left -= 1
      // On no actor: code that is isolated to none would be enqueued again after each wait.
      job.runSynchronously(on: asUnownedTaskExecutor())
      guard left.isMultiple(of: 4), firstJob < jobs.count else { continue }
      let time = PlatformClock.nanoseconds
      if let end, time >= end { break }
      end = end ?? time + times.jobs
    }
    // Finished jobs leave the list when it is at least half of it, so that each job is moved once on average.
    if firstJob == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      firstJob = 0
    } else if firstJob >= jobs.count - firstJob {
      jobs.removeFirst(firstJob)
      firstJob = 0
    }
  }

  /// Calls the channels that have asked for it; the ones that ask during that wait for the next turn.
  private func callDueChannels() {
    guard !dueChannels.isEmpty else { return }
    var batch: [Channel] = []
    swap(&batch, &dueChannels)
    for channel in batch {
      channel.isCalledSoon = false
      channel.calledSoon()
    }
    batch.removeAll(keepingCapacity: true)
    if dueChannels.isEmpty { swap(&batch, &dueChannels) }
  }

  private func sweep() {
    guard channelCount > 0, now - lastSweep >= times.sweep else { return }
    lastSweep = now
    forEachChannel { $0.sweep(now) }
  }
}

/// Something with a descriptor that a loop watches; confined to the loop.
class Channel {
  let descriptor: Int32
  /// The loop's name for it.
  fileprivate(set) var token: UInt64 = 0
  fileprivate var isCalledSoon = false

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The descriptor is ready.
  func ready(_ events: PlatformPoll.Interest) {}

  /// The channel has asked for a call.
  func calledSoon() {}

  /// Looks at the time, now and then.
  func sweep(_ now: Int64) {}
}
