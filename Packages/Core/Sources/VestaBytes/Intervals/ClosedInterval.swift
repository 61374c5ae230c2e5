/// The points between two bounds, both included; either bound may be absent.
@frozen
public struct ClosedInterval<Bound: Comparable> {
  /// The lowest point; `nil` for no bound.
  public var lower: Bound?
  /// The highest point; `nil` for no bound.
  public var upper: Bound?

  /// The points between two bounds.
  ///
  /// - Parameters:
  ///   - lower: The lowest point; `nil` for no bound.
  ///   - upper: The highest point; `nil` for no bound. Below `lower` the interval is empty.
  @inlinable
  public init(lower: Bound?, upper: Bound?) {
    self.lower = lower
    self.upper = upper
  }

  /// Whether a point is in the interval.
  @inlinable
  public func contains(_ point: Bound) -> Bool { startsAtOrBelow(point) && endsAtOrAbove(point) }

  @inlinable
  func startsAtOrBelow(_ point: Bound) -> Bool {
    guard let lower else { return true }
    return !(point < lower)
  }

  @inlinable
  func endsAtOrAbove(_ point: Bound) -> Bool {
    guard let upper else { return true }
    return !(upper < point)
  }
}

extension ClosedInterval: Sendable where Bound: Sendable {}
extension ClosedInterval: Equatable {}
extension ClosedInterval: Hashable where Bound: Hashable {}
