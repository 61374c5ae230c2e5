public import Foundation
import VestaConcurrency

/// The settings of a link in an e-mail: the URL to continue to, and the app that opens it.
public final class ActionCodeSettings: Sendable {
  private let values = Locked(Values())

  struct Values: Sendable {
    var url: URL?
    var handleCodeInApp = false
    var iOSBundleID: String?
    var androidPackageName: String?
    var androidMinimumVersion: String?
    var androidInstallIfNotAvailable = false
    var linkDomain: String?
  }

  /// Settings with nothing set.
  public init() {}

  /// A copy of the current values.
  var snapshot: Values { values.withLock { $0 } }

  /// The URL to continue to after the code was used.
  public var url: URL? {
    get { values.withLock { $0.url } }
    set { values.withLock { $0.url = newValue } }
  }

  /// Whether an app opens the link, and not a web page.
  public var handleCodeInApp: Bool {
    get { values.withLock { $0.handleCodeInApp } }
    set { values.withLock { $0.handleCodeInApp = newValue } }
  }

  /// The iOS app that opens the link.
  public var iOSBundleID: String? {
    get { values.withLock { $0.iOSBundleID } }
    set { values.withLock { $0.iOSBundleID = newValue } }
  }

  /// The Android app that opens the link.
  public var androidPackageName: String? {
    get { values.withLock { $0.androidPackageName } }
    set { values.withLock { $0.androidPackageName = newValue } }
  }

  /// The oldest version of the Android app that will do.
  public var androidMinimumVersion: String? {
    get { values.withLock { $0.androidMinimumVersion } }
    set { values.withLock { $0.androidMinimumVersion = newValue } }
  }

  /// Whether the Android app is to be installed where it is missing.
  public var androidInstallIfNotAvailable: Bool {
    get { values.withLock { $0.androidInstallIfNotAvailable } }
    set { values.withLock { $0.androidInstallIfNotAvailable = newValue } }
  }

  /// The domain of the link, when the project has several.
  public var linkDomain: String? {
    get { values.withLock { $0.linkDomain } }
    set { values.withLock { $0.linkDomain = newValue } }
  }

  /// Names the Android app that opens the link.
  ///
  /// - Parameters:
  ///   - androidPackageName: The package of the app.
  ///   - installIfNotAvailable: Whether it is to be installed where it is missing.
  ///   - minimumVersion: The oldest version that will do.
  public func setAndroidPackageName(
    _ androidPackageName: String, installIfNotAvailable: Bool, minimumVersion: String?
  ) {
    values.withLock {
      $0.androidPackageName = androidPackageName
      $0.androidInstallIfNotAvailable = installIfNotAvailable
      $0.androidMinimumVersion = minimumVersion
    }
  }

  /// Names the iOS app that opens the link.
  ///
  /// - Parameter bundleID: The bundle id of the app.
  public func setIOSBundleID(_ bundleID: String) { iOSBundleID = bundleID }
}
