/// The documentation's promises about several functions that follow the same documents, while functions are registered
/// and removed, and programs end: which changes each function gets, in which order, how often and how many at once.
struct DispatchModel: Sendable {
  /// A change of a document, named by the number that it writes.
  struct Change: Sendable, Hashable {
    let path: String
    let number: Int
  }

  /// The events of one document for one function.
  struct Lane: Hashable, Sendable {
    let function: String
    let path: String
  }

  /// A change and a function that is to get it.
  struct Delivery: Hashable, Sendable {
    let function: String
    let change: Change
    var lane: Lane { Lane(function: function, path: change.path) }
  }

  /// How a function is registered.
  struct Registration: Sendable {
    /// Another one for each registration, in each program.
    var id: Int
    var maximumAttempts: Int
    /// Whether its time limit is so short that it may end any attempt.
    var isHasty = false
  }

  struct Attempt: Sendable {
    let index: Int
    let registration: Int
    var isOver = false
    var isSuccess = false
  }

  private(set) var problems: [String] = []
  /// The changes of each document in the order of their commits.
  private(set) var changes: [String: [Int]] = [:]
  private(set) var promised: Set<Delivery> = []
  private var forbidden: Set<Delivery> = []
  private(set) var attempts: [Lane: [Attempt]] = [:]
  private var ids: [String: Change] = [:]
  private var running: [Int: Int] = [:]
  private var limits: [Int: Int] = [:]
  private(set) var most: [Int: Int] = [:]
  private(set) var succeeded: Set<Delivery> = []
  /// The functions that are registered now, and those whose registration or removal is under way.
  var registered: [String: Registration] = [:]
  private var uncertain: [String: Int] = [:]
  /// Another number after each registration and removal.
  private var epochs: [String: Int] = [:]
  private var lastRegistration = 0
  /// The function and the program of each registration.
  private var owners: [Int: (function: String, program: Int)] = [:]
  /// Programs that are over, by their number.
  private(set) var overPrograms: Set<Int> = []
  private var endingPrograms: Set<Int> = []

  mutating func broken(_ problem: String) { problems.append(problem) }

  // MARK: Registrations

  mutating func willChange(_ function: String) {
    uncertain[function, default: 0] += 1
    epochs[function, default: 0] += 1
  }

  /// A registration; one that replaces another of the same program has its id, so that they share its promises.
  mutating func newRegistration(
    of function: String, program: Int, concurrency: Int, maximumAttempts: Int, isHasty: Bool
  ) -> Registration {
    let same = owners.first { $0.value.function == function && $0.value.program == program }
    let id = same?.key ?? lastRegistration + 1
    lastRegistration = max(lastRegistration, id)
    owners[id] = (function, program)
    // Events that were due before the replacement begin under the new one.
    limits[id] = max(limits[id, default: 0], concurrency)
    return Registration(id: id, maximumAttempts: maximumAttempts, isHasty: isHasty)
  }

  private func isAlive(_ registration: Int, besides program: Int) -> Bool {
    guard let other = owners[registration]?.program else { return false }
    return other != program && !endingPrograms.contains(other)
  }

  mutating func hasChanged(_ function: String, to registration: Registration?) {
    registered[function] = registration
    uncertain[function, default: 0] -= 1
    epochs[function, default: 0] += 1
  }

  /// Another program may deliver from now on; functions that are cancelled may still run.
  mutating func programWillEnd(_ number: Int) { endingPrograms.insert(number) }

  mutating func programEnds(_ number: Int) { overPrograms.insert(number) }

  // MARK: Changes

  /// The registrations that are known before a commit.
  func snapshot() -> (registered: Set<String>, epochs: [String: Int]) {
    (Set(registered.keys), epochs)
  }

  /// A change is about to be committed; the order of the calls for a document is that of the commits.
  mutating func committing(_ change: Change) { changes[change.path, default: []].append(change.number) }

  /// A change was committed that a function follows, if it is registered.
  mutating func committed(
    _ change: Change, _ before: (registered: Set<String>, epochs: [String: Int]), for function: String
  ) {
    guard before.epochs[function] == epochs[function], uncertain[function, default: 0] == 0 else { return }
    let delivery = Delivery(function: function, change: change)
    if before.registered.contains(function) { promised.insert(delivery) } else { forbidden.insert(delivery) }
  }

  // MARK: Deliveries

  /// An attempt begins.
  ///
  /// - Returns: Its number among the attempts of the event, from one.
  mutating func begins(
    _ delivery: Delivery, id: String, in registration: Registration, program: Int, isCancelled: Bool
  ) -> Int {
    let (change, lane) = (delivery.change, delivery.lane)
    let label = "\(delivery.function) on \(change.path) \(change.number), registration \(registration.id)"
    // A function that was about to begin is cancelled, and may see the end of its app.
    if overPrograms.contains(program), !isCancelled {
      problems.append("\(label): begins after its program has ended")
    }
    if let known = ids[id], known != change { problems.append("\(label): \(id) is the id of \(known) too") }
    ids[id] = change
    if forbidden.contains(delivery) { problems.append("\(label): was not registered") }
    guard let index = changes[change.path]?.firstIndex(of: change.number) else {
      problems.append("\(label): begins before its commit")
      return 1
    }
    let earlier = attempts[lane, default: []]
    let own = earlier.filter { $0.registration == registration.id }
    if own.contains(where: { !$0.isOver }) { problems.append("\(label): begins beside another one of its document") }
    // The outcome of a change is known when a later one begins, and is kept when the app is deleted.
    if earlier.contains(where: { $0.index > index }) { problems.append("\(label): begins after a later change") }
    let others = running.filter { $0.key != registration.id && $0.value > 0 }.keys
    if let other = others.first(where: { owners[$0]?.function == lane.function && isAlive($0, besides: program) }) {
      problems.append("\(label): begins while registration \(other) of another program runs")
    }
    if own.contains(where: { $0.index == index && $0.isSuccess }), !registration.isHasty {
      problems.append("\(label): begins again after its success")
    }
    // The one before it has succeeded, or failed as often as allowed, in this registration or an earlier one.
    if let before = promisedBefore(delivery, index), !succeeded.contains(before) {
      let failures = earlier.count { $0.isOver && changes[change.path]?[$0.index] == before.change.number }
      if failures < registration.maximumAttempts { problems.append("\(label): begins before \(before.change) is done") }
    }
    attempts[lane, default: []].append(Attempt(index: index, registration: registration.id))
    running[registration.id, default: 0] += 1
    let now = running[registration.id, default: 0]
    most[registration.id] = max(most[registration.id, default: 0], now)
    // The limit of now: a function that was replaced may begin when its replacement has raised the limit.
    if now > limits[registration.id, default: 0] { problems.append("\(label): \(now) run at once") }
    return earlier.count { $0.index == index } + 1
  }

  private func promisedBefore(_ delivery: Delivery, _ index: Int) -> Delivery? {
    guard let numbers = changes[delivery.change.path] else { return nil }
    for earlier in numbers[..<index].reversed() {
      let other = Delivery(
        function: delivery.function, change: Change(path: delivery.change.path, number: earlier))
      if promised.contains(other) { return other }
    }
    return nil
  }

  mutating func ends(_ delivery: Delivery, in registration: Registration, isSuccess: Bool) {
    let index = changes[delivery.change.path]?.firstIndex(of: delivery.change.number)
    let place = attempts[delivery.lane]?.lastIndex {
      $0.index == index && $0.registration == registration.id && !$0.isOver
    }
    if let place {
      attempts[delivery.lane]?[place].isOver = true
      attempts[delivery.lane]?[place].isSuccess = isSuccess
    }
    running[registration.id, default: 0] -= 1
    if isSuccess { succeeded.insert(delivery) }
  }

  /// Whether an attempt of the event has begun.
  func hasBegun(_ delivery: Delivery) -> Bool {
    guard let index = changes[delivery.change.path]?.firstIndex(of: delivery.change.number) else { return false }
    return attempts[delivery.lane]?.contains { $0.index == index } == true
  }

  func attemptCount(_ delivery: Delivery) -> Int {
    guard let index = changes[delivery.change.path]?.firstIndex(of: delivery.change.number) else { return 0 }
    return attempts[delivery.lane]?.count { $0.index == index } ?? 0
  }

  /// The change with an event's id.
  func change(of id: String) -> Change? { ids[id] }

  var attemptTotal: Int { attempts.values.reduce(0) { $0 + $1.count } }

  /// The promised events without a success.
  var open: Set<Delivery> { promised.subtracting(succeeded) }
}
