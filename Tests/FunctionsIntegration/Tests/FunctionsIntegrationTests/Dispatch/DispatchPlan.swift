import VestaConcurrency
import VestaCore
import VestaServiceInterop
import VestaTesting

@testable import VestaFunctionsService

/// The functions of a history and their options, drawn from its seed.
struct DispatchPlan: Sendable {
  struct Function: Sendable {
    let name: String
    let pattern: String
    /// A function waits for events of functions with a lower rank only, so that none waits for itself.
    let rank: Int
    var isSteady = true
    var isHasty = false
    let wants: @Sendable (String) -> Bool
  }

  static let functions = [
    Function(name: "low", pattern: "n/{id}", rank: 0, wants: isNote),
    Function(name: "mid", pattern: "{all=**}", rank: 1) { _ in true },
    Function(name: "deep", pattern: "n/{id}/m/{x}", rank: 1) { $0.split(separator: "/").count == 4 },
    Function(name: "high", pattern: "n/{id}", rank: 2, wants: isNote),
    Function(name: "churn", pattern: "{all=**}", rank: 2, isSteady: false) { _ in true },
    Function(name: "hasty", pattern: "n/{id}", rank: 0, isHasty: true, wants: isNote),
  ]

  @Sendable private static func isNote(_ path: String) -> Bool {
    path.hasPrefix("n/") && path.split(separator: "/").count == 2
  }

  let seed: UInt64
  let isInMemory: Bool
  let programs: Int
  /// Whether two programs share the store.
  let isShared: Bool
  let isBlocking: Bool
  /// The attempts of each function.
  let attempts: Int

  init(seed: UInt64) {
    var random = SplitMix(seed: seed)
    self.seed = seed
    isInMemory = random.oneIn(4)
    programs = isInMemory ? 1 : 1 + random.below(4)
    isShared = !isInMemory && random.oneIn(4)
    isBlocking = random.oneIn(2)
    attempts = 1 + random.below(3)
  }

  func options(_ program: Int) -> FunctionsServiceOptions {
    var random = SplitMix(seed: seed &* 31 &+ UInt64(program))
    var options = FunctionsServiceOptions()
    options.maximumConcurrentEvents = random.pick([1, 2, 5, 80])
    options.eventGatheringInterval = .milliseconds(random.below(6))
    options.eventPollInterval = .milliseconds(200)
    options.tuning.delivery.page = random.pick([1, 3, 128])
    options.tuning.delivery.window = random.pick([1, 4, 16, 512])
    options.tuning.delivery.lane = random.pick([1, 2, 32])
    options.tuning.timing.batch = random.pick([1, 4, 512])
    options.tuning.timing.settling = Int64(random.pick([0, 5_000, 50_000]))
    options.tuning.pace.enough = random.pick([0, 1, 4, 32])
    options.tuning.pace.most = max(options.tuning.pace.enough, random.pick([2, 64]))
    options.tuning.pace.setback = random.pick([1, 16])
    options.tuning.pace.long = random.pick([.microseconds(50), .milliseconds(20)])
    options.tuning.pace.patience = .milliseconds(random.pick([1, 5]))
    options.tuning.eventsBetweenYields = random.pick([1, 3, 16])
    return options
  }

  func options(_ function: Function, _ random: inout SplitMix) -> EventOptions {
    var options = EventOptions()
    options.retryDelay = .milliseconds(random.pick([1, 8]))
    options.maximumAttempts = attempts
    options.concurrency = 1 + random.below(3)
    if function.isHasty { options.timeout = .milliseconds(20) }
    return options
  }

  /// How an attempt behaves.
  enum Behavior: Equatable {
    case returns, yields(Int), sleeps(Int), blocks(Int), waits, blocksUntil, writes, hangs
  }

  /// The behavior of an attempt, and whether it fails in the end.
  func behavior(_ function: Function, _ change: DispatchModel.Change, attempt: Int) -> (Behavior, fails: Bool) {
    var bits = seed &* 131 &+ UInt64(change.number.magnitude) &* 7 &+ UInt64(attempt)
    for byte in function.name.utf8 { bits = bits &* 131 &+ UInt64(byte) }
    var random = SplitMix(seed: bits)
    let fails = random.oneIn(6)
    switch random.below(14) {
    case 0: return (.yields(1 + random.below(30)), fails)
    case 1: return (.sleeps(random.below(9)), fails)
    case 2: return (.blocks(random.below(9)), fails)
    case 3, 4: return (function.rank > 0 ? .waits : .returns, fails)
    case 5: return (function.rank > 0 && isBlocking ? .blocksUntil : .returns, fails)
    case 6: return (change.path.hasPrefix("w/") ? .returns : .writes, fails)
    case 7: return (function.isHasty ? .hangs : .returns, fails)
    default: return (.returns, fails)
    }
  }
}

/// The options of the histories whose apps are configured, by the name of the app's project.
enum ChosenDispatch: Library {
  static let name = "dispatch-oracle"
  static let options = Locked<[String: FunctionsServiceOptions]>([:])

  static func components() -> [Component] {
    [
      Component(FunctionsServiceOptions.self, caching: .shared) { container in
        options.withLock { $0[container.options.projectID ?? ""] }
      }
    ]
  }
}
