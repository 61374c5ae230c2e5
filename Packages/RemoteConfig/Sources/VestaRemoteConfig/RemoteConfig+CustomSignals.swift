import Foundation
import VestaConcurrency

extension RemoteConfig {
  /// Sets custom signals, which conditions can refer to from the next fetch on.
  ///
  /// They are added to those set before, and saved. None is changed when one of them is refused.
  ///
  /// - Parameter customSignals: The values by key; `nil` removes a signal.
  /// - Throws: ``RemoteConfigCustomSignalsError`` with `limitExceeded`: a key has at most 250 characters, a string 500
  ///   (in UTF-16, as upstream counts), and there are at most 100 signals.
  public func setCustomSignals(_ customSignals: [String: CustomSignalValue?]) async throws {
    try checkAppIsThere()
    for (key, value) in customSignals where key.utf16.count > 250 || (value?.text.utf16.count ?? 0) > 500 {
      throw RemoteConfigCustomSignalsError(
        .limitExceeded,
        "Custom signal keys and string values must be 250 and 500 characters or less respectively.")
    }
    try state.withLock { state in
      var signals = state.contents.record.customSignals
      for (key, value) in customSignals { signals[key] = value?.text }
      guard signals.count <= 100 else {
        throw RemoteConfigCustomSignalsError(.limitExceeded, "Custom signals count exceeds the limit of 100.")
      }
      state.contents.record.customSignals = signals
    }
    save([.record])
  }
}
