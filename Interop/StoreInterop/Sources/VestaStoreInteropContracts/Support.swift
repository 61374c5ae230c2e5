import Dispatch
import VestaStoreInterop

/// A generator of pseudo-random numbers that gives the same row for the same seed on every machine (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator at the beginning of its row.
  ///
  /// - Parameter seed: Which row; any number is as good as any other.
  public init(seed: UInt64) { state = seed }

  /// The next 64 random bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// Whether something that happens once in `count` times happens now.
  mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

  /// A key or value of at most `length` bytes out of a few, so that two of them are often neighbours or alike.
  mutating func bytes(upTo length: Int) -> [UInt8] {
    let alphabet: [UInt8] = [0, 1, 0x61, 0x62, 0x7F, 0x80, 0xFE, 0xFF]
    return (0..<Int.random(in: 0...length, using: &self)).map { _ in
      alphabet[Int.random(in: 0..<alphabet.count, using: &self)]
    }
  }

  /// A range between two random keys; now and then without an end, and now and then the wrong way round.
  mutating func range() -> KeyRange {
    KeyRange(from: bytes(upTo: 3), to: oneIn(5) ? nil : bytes(upTo: 3))
  }
}

/// A value behind a serial queue; an interop package has no lock of its own.
// Sound as @unchecked Sendable: `state` is touched on `queue` only.
final class Guarded<State>: @unchecked Sendable {
  private let queue = DispatchQueue(label: "vesta.store.contracts")
  private var state: State

  init(_ state: State) { self.state = state }

  func withValue<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    try queue.sync { try body(&state) }
  }
}

/// A door that stays open once it has been opened.
actor Gate {
  private var isOpen = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  func open() {
    isOpen = true
    for waiter in waiters { waiter.resume() }
    waiters = []
  }

  /// Waits for the door, whether or not the task is cancelled.
  func wait() async {
    if isOpen { return }
    await withCheckedContinuation { waiters.append($0) }
  }
}

/// A place where several tasks meet if they can.
///
/// An engine may run one transaction at a time, so that the second never comes while the first is there. Nobody waits
/// for good therefore: an engine that lets them meet is caught in the act, one that does not is no slower for it.
actor Meeting {
  private let parties: Int
  private var arrived = 0

  init(of parties: Int) { self.parties = parties }

  func arrive() async {
    arrived += 1
    for _ in 0..<300 where arrived < parties { await Task.yield() }
  }
}

/// The bytes of a text, for keys and values that can be read.
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// A number as a key of two bytes, in the order of numbers.
func key(_ number: Int) -> [UInt8] { [UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)] }

/// A number as decimal digits.
func number(_ number: Int) -> [UInt8] { bytes(String(number)) }

/// The number in a value; zero where there is none.
func number(in value: [UInt8]?) -> Int { value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0 }

/// A version as decimal digits.
func number(in version: StoreVersion) -> [UInt8] { number(Int(version.microseconds)) }

/// What a failing body throws, so that it can be told from anything else.
struct Failure: Error, Equatable {
  var number = 0
}

extension OrderedStore {
  /// Every entry in ascending order.
  func everything() async throws -> [StoreEntry] { try await read { try await $0.entries(in: .all) } }

  /// The value under one key.
  func value(for key: [UInt8]) async throws -> [UInt8]? { try await get(key) }

  /// Puts entries in one transaction.
  @discardableResult
  func fill(_ entries: [StoreEntry]) async throws -> StoreVersion {
    try await write { transaction in
      for entry in entries { try await transaction.put(entry.value, for: entry.key) }
    }.version
  }
}

/// Entries with the given texts as keys, each with its key as its value.
func entries(_ keys: String...) -> [StoreEntry] { keys.map { StoreEntry(key: bytes($0), value: bytes($0)) } }

/// Runs an operation several times at once and gives the results in order of their numbers.
func concurrently<Result: Sendable>(
  _ count: Int,
  _ operation: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
  let tasks = (0..<count).map { number in Task.detached { try await operation(number) } }
  var results: [Result] = []
  for task in tasks { results.append(try await task.value) }
  return results
}
