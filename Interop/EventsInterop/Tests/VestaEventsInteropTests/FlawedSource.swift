import VestaConcurrency
import VestaEventsInterop

/// Mistakes that a source could make, each of which breaks a promise.
enum Flaw: CaseIterable {
  case recordsForNobody, ignoresPatterns, recordsFailedChanges, isSilent, reversesOrder, isNeverLast, ignoresLanes
  case keepsDelivered, forgetsAttempts, forgetsRetryTime, losesDeadLetters, changesIDs, sharesLeases, ignoresOwners
  case leasesForever, leasesEverything, forgetsOwners, keepsDiscarded
}

final class FlawedSource: EventSource {
  private let base: EventOutbox
  private let flaw: Flaw
  private let reads = Locked(0)

  init(_ base: EventOutbox, _ flaw: Flaw) {
    self.base = base
    self.flaw = flaw
    if flaw == .recordsForNobody { base.subscribe([EventSubscription(function: "f", types: base.types)]) }
  }

  var service: String { base.service }
  var types: Set<EventType> { base.types }

  func subscribe(_ subscriptions: [EventSubscription]) {
    base.subscribe(
      flaw == .ignoresPatterns
        ? subscriptions.map { EventSubscription(function: $0.function, types: $0.types) } : subscriptions)
  }

  func observe(_ observer: any EventSourceObserver) -> ListenerRegistration {
    flaw == .isSilent ? ListenerRegistration {} : base.observe(observer)
  }

  func lease(
    _ functions: Set<String>, for owner: String, duration: Int64
  ) async throws -> [String: EventLease] {
    let asked: Set<String> = flaw == .leasesEverything ? ["f"] : functions
    let leases = try await base.lease(
      asked, for: flaw == .forgetsOwners ? "\(UInt64.random(in: 0...UInt64.max))" : owner,
      duration: flaw == .leasesForever ? .max / 4 : duration)
    let answer = leases["f"] ?? .held(isNew: true)
    switch flaw {
    case .sharesLeases: return leases.mapValues { _ in .held(isNew: true) }
    case .leasesEverything: return Dictionary(uniqueKeysWithValues: functions.map { ($0, answer) })
    default: return leases
    }
  }

  func release(_ functions: Set<String>, by owner: String) async throws {
    try await base.release(functions, by: owner)
  }

  func events(_ request: EventPageRequest) async throws -> EventPage {
    var request = request
    if flaw == .ignoresLanes { request.lane = nil }
    var page = try await base.events(request)
    if flaw == .reversesOrder { page.entries.reverse() }
    if flaw == .isNeverLast { page.isLast = false }
    return page
  }

  func event(_ entry: EventEntry) async throws -> Event? {
    var event = try await base.event(entry)
    if flaw == .changesIDs {
      event?.id += reads.withLock { reads in
        reads += 1
        return "\(reads)"
      }
    }
    return event
  }

  func settle(_ outcomes: [EventOutcome], by owner: String) async throws {
    var outcomes = outcomes
    for index in outcomes.indices {
      switch (flaw, outcomes[index].result) {
      case (.forgetsAttempts, .retry): outcomes[index].attempts = 0
      case (.forgetsRetryTime, .retry(_, let reason)): outcomes[index].result = .retry(at: 0, reason: reason)
      case (.losesDeadLetters, .dead): outcomes[index].result = .delivered
      default: break
      }
    }
    if flaw == .keepsDelivered { outcomes.removeAll { $0.result == .delivered } }
    do {
      try await base.settle(outcomes, by: owner)
    } catch is EventLeaseLost where flaw == .ignoresOwners {}
  }

  func deadLetters(of function: String, limit: Int) async throws -> [DeadLetter] {
    try await base.deadLetters(of: function, limit: limit)
  }

  func resend(_ positions: [EventPosition], of function: String) async throws -> Int {
    try await base.resend(positions, of: function)
  }

  func discard(_ positions: [EventPosition], of function: String) async throws -> Int {
    flaw == .keepsDiscarded ? positions.count : try await base.discard(positions, of: function)
  }
}
