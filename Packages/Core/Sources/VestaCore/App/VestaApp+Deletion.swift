public import Foundation

extension NSNotification.Name {
  /// Posted when an app has been deleted; the name of the app is in the user info under ``VestaApp/nameKey``.
  public static let vestaAppDidDelete = NSNotification.Name(rawValue: "FIRAppDeleteNotification")
}

extension VestaApp {
  /// Posted when an app has been deleted; the name of the app is in the user info under ``nameKey``.
  public static let didDeleteNotification = NSNotification.Name.vestaAppDidDelete

  /// The key of the app's name in the user info of ``didDeleteNotification``.
  public static let nameKey = "FIRAppNameKey"
}

/// Notifies the process that an app has been deleted.
func postDeletion(of name: String) {
  NotificationCenter.default.post(
    name: .vestaAppDidDelete, object: nil, userInfo: [VestaApp.nameKey: name])
}
