import Dispatch
import VestaConcurrency

/// A source over `StateSource<Int, Int>` that breaks one promise at a time.
final class WrongSource: Sendable {
  enum Fault: CaseIterable {
    case swapsTwoChanges, callsNewestFirst, leavesASlowListenerBehind, cancelsOnlyWithin, deliversWhatWasOnItsWay
    case cancelRemovesTheOneBefore, endsWithItsRegistration, callsWithItsLockHeld, forgetsListenersBeyondThirtyTwo
    case greetsWithTheFirstState, callsWithinAdd, greetsUnasked
  }

  typealias Listener = @Sendable (Int) -> Void

  private let fault: Fault
  private let greets: Bool
  private let state = StateSource<[Listener?], Never>([])
  private let value = StateSource<(now: Int, held: Int?), Never>((0, nil))
  private let calls = DispatchQueue(label: "vesta.wrong.calls")
  private let isWithinCall = DispatchSpecificKey<Bool>()
  private let lock = DispatchSemaphore(value: 1)

  init(_ fault: Fault, greets: Bool) {
    self.fault = fault
    self.greets = greets
    calls.setSpecific(key: isWithinCall, value: true)
  }

  var current: Int { value.read { $0.now } }

  /// A synchronous method of the seam.
  func callBack() {
    guard fault == .callsWithItsLockHeld else { return }
    lock.wait()
    lock.signal()
  }

  func add(_ listener: @escaping Listener) -> ListenerRegistration {
    if fault == .callsWithinAdd { listener(current) }
    let id = value.change { value, _ in
      let id = insert(listener)
      if fault != .callsWithinAdd, greets || (fault == .greetsUnasked && id == 0 && value.now > 0) {
        deliver { [self, now = value.now] in call([id], with: fault == .greetsWithTheFirstState ? 0 : now) }
      }
      return id
    }
    return registration(of: id)
  }

  private func insert(_ listener: @escaping Listener) -> Int {
    state.change { listeners, _ in
      let isForgotten = fault == .forgetsListenersBeyondThirtyTwo && listeners.count { $0 != nil } >= 32
      listeners.append(isForgotten ? nil : listener)
      return listeners.count - 1
    }
  }

  private func registration(of id: Int) -> ListenerRegistration {
    switch fault {
    case .cancelsOnlyWithin:
      return ListenerRegistration { [self] in
        if DispatchQueue.getSpecific(key: isWithinCall) == true { remove(id) }
      }
    case .endsWithItsRegistration:
      let owner = Owner { [self] in remove(id) }
      return ListenerRegistration { owner.end() }
    case .cancelRemovesTheOneBefore:
      return ListenerRegistration { [self] in
        remove(id)
        if id > 0, current == 0 { remove(id - 1) }
      }
    default:
      return ListenerRegistration { [self] in remove(id) }
    }
  }

  private func remove(_ id: Int) { state.change { listeners, _ in listeners[id] = nil } }

  func set(_ new: Int) {
    value.change { value, _ in
      let last = value.now
      value.now = new
      var events = [new]
      if fault == .swapsTwoChanges {
        if new == 5, last == 4 { return value.held = new }
        if let held = value.held { events.append(held) }
        value.held = nil
      }
      for event in events { emit(event) }
    }
  }

  // Called while `value` is locked, so that the order of the calls is the order of the changes.
  private func emit(_ event: Int) {
    let listeners = state.read { $0 }
    switch fault {
    case .callsNewestFirst:
      calls.async { [self] in call(listeners.indices.reversed(), with: event) }
    case .deliversWhatWasOnItsWay:
      calls.async { for listener in listeners { listener?(event) } }
    default:
      deliver { [self] in call(Array(listeners.indices), with: event) }
    }
  }

  private func deliver(_ work: @escaping @Sendable () -> Void) {
    guard fault == .leavesASlowListenerBehind else { return calls.async(execute: work) }
    calls.async {
      let isDone = DispatchSemaphore(value: 0)
      // A separate queue, because the global one would wait for a blocked listener's thread.
      DispatchQueue(label: "vesta.wrong.call").async {
        work()
        isDone.signal()
      }
      _ = isDone.wait(timeout: .now() + .milliseconds(30))
    }
  }

  private func call(_ ids: [Int], with event: Int) {
    for id in ids {
      guard let listener = state.read({ $0[id] }) else { continue }
      if fault == .callsWithItsLockHeld { lock.wait() }
      listener(event)
      if fault == .callsWithItsLockHeld { lock.signal() }
    }
  }

  private final class Owner: Sendable {
    private let onEnd: @Sendable () -> Void
    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    func end() { onEnd() }
    deinit { onEnd() }
  }
}
