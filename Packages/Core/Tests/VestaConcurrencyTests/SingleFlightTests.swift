import Dispatch
import Testing
import VestaTesting

@testable import VestaConcurrency

@Suite struct SingleFlightTests {
  typealias Flights = SingleFlight<String, Int>
  typealias Finish = @Sendable (Flights.Outcome) -> Void

  /// Keeps the `finish` closures of the loads that were started.
  private func start(_ started: Log<Finish>) -> (@escaping Finish) -> Void {
    { started.add($0) }
  }

  private func text(_ outcome: Flights.Outcome) -> String {
    switch outcome {
    case .success(let value): "\(value)"
    case .failure(let error): "\(error)"
    }
  }

  @Test func `a load of a caller in the background runs at medium priority, as others may wait for it later`()
    async throws
  {
    let loads = SingleFlight<Int, TaskPriority>()
    let resource = LazyResource<TaskPriority>(
      whenClosed: CancellationError(), open: { Task.currentPriority }, close: { _ in })
    let priorities = try await Task.detached(priority: .background) {
      [try await loads.value(for: 1) { Task.currentPriority }, try await resource.get()]
    }.value
    #expect(priorities.allSatisfy { $0 >= .medium }, "\(priorities)")
    try await resource.close()
  }

  @Test func `many handlers share one load and are called in order of arrival`() {
    let (flights, started, log) = (Flights(), Log<Finish>(), Log<String>())
    for number in 0..<10 {
      flights.join("token", start: start(started)) { log.add("\(number):\(self.text($0))") }
    }
    #expect(started.entries.count == 1)
    #expect(flights.isLoading("token"))
    #expect(log.entries.isEmpty)
    started.entries.first?(.success(7))
    #expect(log.entries == (0..<10).map { "\($0):7" })
    #expect(!flights.isLoading("token"))
  }

  @Test func `handlers are called on the thread that delivers with no lock held`() {
    let (flights, started, log) = (Flights(), Log<Finish>(), Log<Bool>())
    let marker = ThreadLocalValue<Bool>(namespace: "SingleFlightTests", key: "delivering")
    for _ in 0..<3 {
      flights.join("token", start: start(started)) { _ in
        // Would deadlock if a lock were held.
        _ = flights.isLoading("token")
        log.add(marker.value() == true)
      }
    }
    startThread {
      marker.setValue(true)
      started.entries.first?(.success(1))
    }.wait()
    #expect(log.entries == [true, true, true])
  }

  @Test func `keys do not share a load`() {
    let (flights, started) = (Flights(), Log<Finish>())
    flights.join("a", start: start(started)) { _ in }
    flights.join("b", start: start(started)) { _ in }
    #expect(started.entries.count == 2)
  }

  @Test func `a failure is delivered to all and is not kept`() {
    let (flights, started, log) = (Flights(), Log<Finish>(), Log<String>())
    for _ in 0..<3 { flights.join("token", start: start(started)) { log.add(self.text($0)) } }
    started.entries[0](.failure(Failure(4)))
    #expect(log.entries == Array(repeating: "\(Failure(4))", count: 3))
    flights.join("token", start: start(started)) { log.add(self.text($0)) }
    #expect(started.entries.count == 2)
    started.entries[1](.success(5))
    #expect(log.entries.last == "5")
  }

  @Test func `a success is not kept beyond the flight`() {
    let (flights, started) = (Flights(), Log<Finish>())
    for round in 0..<3 {
      flights.join("token", start: start(started)) { _ in }
      #expect(started.entries.count == round + 1)
      started.entries[round](.success(round))
    }
  }

  @Test func `a handler that asks again starts a new load`() {
    let (flights, started, log) = (Flights(), Log<Finish>(), Log<String>())
    flights.join("token", start: start(started)) { _ in
      flights.join("token", start: self.start(started)) { log.add("again " + self.text($0)) }
    }
    flights.join("token", start: start(started)) { log.add("second " + self.text($0)) }
    started.entries[0](.success(1))
    #expect(log.entries == ["second 1"])
    started.entries[1](.success(2))
    #expect(log.entries == ["second 1", "again 2"])
  }

  @Test func `a second report changes nothing`() {
    let (flights, started, log) = (Flights(), Log<Finish>(), Log<String>())
    flights.join("token", start: start(started)) { log.add("first " + self.text($0)) }
    started.entries[0](.success(1))
    flights.join("token", start: start(started)) { log.add("second " + self.text($0)) }
    started.entries[0](.success(8))
    #expect(log.entries == ["first 1"])
    #expect(flights.isLoading("token"))
    started.entries[1](.success(2))
    #expect(log.entries == ["first 1", "second 2"])
  }

  @Test func `a load may end before start returns`() {
    let (flights, log) = (Flights(), Log<String>())
    flights.join("token", start: { $0(.success(1)) }, then: { log.add(self.text($0)) })
    #expect(log.entries == ["1"])
    #expect(!flights.isLoading("token"))
  }

  // MARK: - The async form

  @Test func `many tasks share one load`() async throws {
    let (flights, started, log) = (Flights(), Log<Finish>(), Log<String>())
    // The first waiter's load is in our hands, so all tasks arrive before its end.
    flights.join("token", start: start(started)) { log.add(self.text($0)) }
    let tasks = (0..<20).map { _ in
      Task {
        try await flights.value(for: "token") {
          Issue.record("a second load")
          return 0
        }
      }
    }
    while flights.waiterCount(for: "token") < 21 { await Task.yield() }
    started.entries[0](.success(9))
    for task in tasks { #expect(try await task.value == 9) }
    #expect(log.entries == ["9"])
  }

  @Test func `a value is loaded again after the end`() async throws {
    let (flights, loads) = (Flights(), Log<Int>())
    for round in 0..<3 {
      let value = try await flights.value(for: "token") {
        loads.add(round)
        return round
      }
      #expect(value == round)
    }
    await #expect(throws: Failure(3)) { try await flights.value(for: "token") { throw Failure(3) } }
    #expect(try await flights.value(for: "token") { 4 } == 4)
    #expect(loads.entries == [0, 1, 2])
  }

  @Test func `cancelling one waiter leaves the others waiting`() async throws {
    let flights = Flights()
    let (begun, leave) = (Gate(), Gate())
    let first = Task {
      try await flights.value(for: "token") {
        begun.open()
        await leave.wait()
        try Task.checkCancellation()
        return 5
      }
    }
    await begun.wait()
    let log = Log<Int>()
    flights.join("token", start: { _ in Issue.record("a second load") }, then: { log.add((try? $0.get()) ?? -1) })
    // The one that started the load leaves, at once, while the load continues.
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(flights.isLoading("token"))
    let last = Task { try await flights.value(for: "token") { 6 } }
    while flights.waiterCount(for: "token") < 2 { await Task.yield() }
    leave.open()
    #expect(try await last.value == 5)
    #expect(log.entries == [5])
  }

  @Test func `the load is cancelled when the last waiter has left`() async throws {
    let flights = Flights()
    let (begun, cancelled) = (Gate(), Gate())
    let task = Task {
      try await flights.value(for: "token") {
        await withTaskCancellationHandler {
          begun.open()
          await cancelled.wait()
        } onCancel: {
          cancelled.open()
        }
        return 1
      }
    }
    await begun.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await cancelled.wait()
    #expect(!flights.isLoading("token"))
    // A new caller does not join the cancelled load.
    #expect(try await flights.value(for: "token") { 2 } == 2)
  }

  @Test func `a task that is cancelled already loads nothing`() async {
    let flights = Flights()
    let gate = Gate()
    let task = Task {
      await gate.wait()
      return try await flights.value(for: "token") {
        Issue.record("loaded for nobody")
        return 1
      }
    }
    task.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!flights.isLoading("token"))
  }

  // MARK: Loads that wait for loads

  @Test(.timeLimit(.minutes(10))) func `a load that waits for its own key gets an error with the path`() async throws {
    let flights = SingleFlight<String, Int>()
    let error = await #expect(throws: LoadCycle.self) {
      try await flights.value(for: "a") { try await flights.value(for: "a") { 1 } }
    }
    #expect(error?.path == ["a", "a"])
    #expect(error?.description.contains("a -> a") == true)
    // Other tests have loads that wait, too, for a while.
    while !FlightWaits.isEmpty { await Task.yield() }
    #expect(try await flights.value(for: "a") { 7 } == 7)
  }

  @Test(.timeLimit(.minutes(10))) func `loads of several instances that wait for one another get an error`()
    async throws
  {
    let flights = (0..<3).map { _ in SingleFlight<String, Int>() }
    let begun = (0..<3).map { _ in Latch() }
    let tasks = (0..<3).map { index in
      Task {
        try await flights[index].value(for: "\(index)") {
          begun[index].open()
          for latch in begun { await latch.wait() }
          let next = (index + 1) % 3
          return try await flights[next].value(for: "\(next)") { 5 }
        }
      }
    }
    var paths: [[String]] = []
    for task in tasks {
      do { _ = try await task.value } catch let error as LoadCycle { paths.append(error.path) }
    }
    // The one that would close the cycle is refused, and its error reaches the callers that wait for it.
    #expect(paths.count == 3 && Set(paths).count == 1)
    #expect(Set(paths[0]) == ["0", "1", "2"] && paths[0].first == paths[0].last && paths[0].count == 4)
    // Other tests have loads that wait, too, for a while.
    while !FlightWaits.isEmpty { await Task.yield() }
  }

  @Test(.timeLimit(.minutes(10))) func `loads that wait for others in no cycle are left alone`() async throws {
    let flights = SingleFlight<Int, Int>()
    @Sendable func sum(_ number: Int) async throws -> Int {
      try await flights.value(for: number) { number == 0 ? 0 : try await sum(number - 1) + number }
    }
    let sums = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<100 { group.addTask { try await sum(number % 20) } }
      return try await group.reduce(0, +)
    }
    #expect(sums == 5 * (0..<20).map { $0 * ($0 + 1) / 2 }.reduce(0, +))
    // Other tests have loads that wait, too, for a while.
    while !FlightWaits.isEmpty { await Task.yield() }
  }
}
