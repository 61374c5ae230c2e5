public import Foundation
import VestaConcurrency

/// The settings of a ``RemoteConfig``.
///
/// `RemoteConfig.configSettings` returns a copy and takes one: change a copy and set it.
public final class RemoteConfigSettings: NSObject, Sendable {
  struct Values: Hashable {
    var minimumFetchInterval: TimeInterval = 43_200
    var fetchTimeout: TimeInterval = 60
  }

  private let locked: Locked<Values>

  /// The settings of a new app.
  public override init() { locked = Locked(Values()) }

  init(_ values: Values) { locked = Locked(values) }

  var values: Values { locked.withLock { $0 } }

  /// The age, in seconds, from which fetched values are fetched again; 12 hours unless it was set.
  ///
  /// A negative interval counts as 0; with an infinite one nothing is fetched again.
  public var minimumFetchInterval: TimeInterval {
    get { locked.withLock { $0.minimumFetchInterval } }
    set { locked.withLock { $0.minimumFetchInterval = newValue.isNaN ? 0 : max(0, newValue) } }
  }

  /// The longest duration of a fetch, in seconds; 60 unless it was set.
  ///
  /// An interval of 0 or less counts as 60, one of more than a day as a day.
  public var fetchTimeout: TimeInterval {
    get { locked.withLock { $0.fetchTimeout } }
    set { locked.withLock { $0.fetchTimeout = newValue.isFinite && newValue > 0 ? min(newValue, 86_400) : 60 } }
  }
}
