import VestaConcurrency
public import VestaFirestoreBackend
import VestaTesting

/// Spreads calls over several backends at random, as a balancer in front of several processes does; calls of a
/// transaction go to a backend that serves it.
///
/// Several backends on the same data keep the promises of one.
public struct SpreadBackend: ForwardingFirestoreBackend {
  private let backends: [any FirestoreBackend]
  private let serves: @Sendable (_ backend: Int, _ transaction: [UInt8]) -> Bool
  private let generator: Locked<SplitMix>

  /// Spreads calls.
  ///
  /// - Parameters:
  ///   - backends: At least one.
  ///   - seed: Gives the same choices again.
  ///   - serves: Whether a backend can continue a transaction.
  public init(
    _ backends: [any FirestoreBackend], seed: UInt64,
    serves: @escaping @Sendable (_ backend: Int, _ transaction: [UInt8]) -> Bool
  ) {
    self.backends = backends
    self.serves = serves
    generator = Locked(SplitMix(seed: seed))
  }

  /// A random backend that can continue a transaction.
  public func backend(serving transaction: [UInt8]?) -> any FirestoreBackend {
    let able = backends.indices.filter { index in transaction.map { serves(index, $0) } ?? true }
    return backends[able[generator.withLock { Int.random(in: 0..<able.count, using: &$0) }]]
  }
}
