/// An instance that has work to do when its app is deleted.
///
/// Core asks every cached instance, the one created last first, so that whatever an instance was built on is still
/// there at its turn.
public protocol ComponentLifecycleMaintainer: Sendable {
  /// Ends listeners, finishes streams, closes files.
  ///
  /// Called once, while the app is being deleted. Instances that exist can still be resolved; new ones are no
  /// longer created.
  ///
  /// - Parameter app: The app that is being deleted.
  func appWillBeDeleted(_ app: VestaApp) async
}
