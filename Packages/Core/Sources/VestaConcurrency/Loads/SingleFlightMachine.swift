/// Decides who starts a load and who waits for one.
///
/// A flight is one load and its waiters in order of arrival. It is over when it lands or when its last waiter has left;
/// from then on the key is free, and a late report of the old flight, known by its number, changes nothing.
struct SingleFlightMachine<Key: Hashable, Waiter> {
  /// The identity of one flight.
  struct Flight: Hashable {
    let key: Key
    let number: UInt64
  }

  /// The end of a flight without waiters.
  struct Abandonment {
    /// Stops the load, if it can be stopped.
    let abort: (@Sendable () -> Void)?
  }

  private struct InProgress {
    let number: UInt64
    var waiters: [(id: ObjectIdentifier?, waiter: Waiter)]
    var abort: (@Sendable () -> Void)?
  }

  private var flights: [Key: InProgress] = [:]
  private var lastNumber: UInt64 = 0

  func isInFlight(_ key: Key) -> Bool { flights[key] != nil }

  /// The flight of a key, or the one that would be next.
  func flight(for key: Key) -> Flight { Flight(key: key, number: flights[key]?.number ?? lastNumber + 1) }

  func waiterCount(for key: Key) -> Int { flights[key]?.waiters.count ?? 0 }

  /// A waiter arrives.
  ///
  /// - Parameter id: The identifier by which it will leave; `nil` for one that never leaves.
  /// - Returns: The flight to start, if the waiter is the first.
  mutating func arrive(_ waiter: Waiter, id: ObjectIdentifier?, for key: Key) -> Flight? {
    if flights[key] != nil {
      flights[key]?.waiters.append((id, waiter))
      return nil
    }
    lastNumber += 1
    flights[key] = InProgress(number: lastNumber, waiters: [(id, waiter)])
    return Flight(key: key, number: lastNumber)
  }

  /// The load of a flight has begun, and can be stopped by `abort`.
  ///
  /// - Returns: Whether the flight still continues.
  mutating func attach(abort: @escaping @Sendable () -> Void, to flight: Flight) -> Bool {
    guard flights[flight.key]?.number == flight.number else { return false }
    flights[flight.key]?.abort = abort
    return true
  }

  /// The load of a flight has ended.
  ///
  /// - Returns: Who waits for its outcome, in order of arrival.
  mutating func land(_ flight: Flight) -> [Waiter] {
    guard flights[flight.key]?.number == flight.number else { return [] }
    // A closure and not a key path: a generic key path is looked up again by each call, which takes microseconds.
    return flights.removeValue(forKey: flight.key)?.waiters.map { $0.waiter } ?? []
  }

  /// A waiter leaves.
  ///
  /// - Returns: The end of its flight, if it was the last.
  mutating func leave(_ id: ObjectIdentifier, key: Key) -> Abandonment? {
    guard let index = flights[key]?.waiters.firstIndex(where: { $0.id == id }) else { return nil }
    flights[key]?.waiters.remove(at: index)
    guard let flight = flights[key], flight.waiters.isEmpty else { return nil }
    flights[key] = nil
    return Abandonment(abort: flight.abort)
  }
}

extension SingleFlightMachine.Flight: Sendable where Key: Sendable {}
