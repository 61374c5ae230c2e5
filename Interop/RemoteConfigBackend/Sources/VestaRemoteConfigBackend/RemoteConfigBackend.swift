public import VestaConcurrency
public import VestaServiceInterop

/// The configuration service as its clients see it.
///
/// Promises of every implementation (`RemoteConfigContracts` checks them):
/// - A fetch after a publish has returned has the published values.
/// - A fetch with the ETag of the last response answers `noChange` until another template is published or another
///   condition holds for the instance.
/// - The same instance has the same values for the same template: percentages are not drawn again.
/// - A listener receives every template that is published after it was added, the newest at least, and at once when
///   there is a newer one than it knows. It is never called before `listenForInvalidations` has returned, and never
///   again once its registration was cancelled from within it.
public protocol RemoteConfigBackend: Sendable {
  /// Evaluates the template for one instance.
  ///
  /// - Parameters:
  ///   - request: The instance, and the ETag of the values that it has.
  ///   - context: The context of the call.
  /// - Returns: The values, or that they have not changed.
  func fetch(
    _ request: FetchConfigRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> FetchConfigResponse

  /// Adds a listener for newer templates: the realtime connection of an instance.
  ///
  /// - Parameters:
  ///   - request: The version that the instance has.
  ///   - context: The context of the call.
  ///   - onEnd: Called once when the connection ends: without an error when it was closed in order.
  ///   - receive: Called with each message, one at a time, in the order of the versions.
  /// - Returns: The connection; cancel it to close it. Neither closure is called afterwards.
  func listenForInvalidations(
    _ request: InvalidationsRequest, context: CallContext,
    onEnd: @escaping @Sendable (RemoteConfigServiceError?) -> Void,
    _ receive: @escaping @Sendable (ConfigInvalidation) -> Void
  ) -> ListenerRegistration
}

/// The configuration service as the owner of the project sees it.
///
/// Every call needs the context of the owner, `CallContext.owner`; another one is refused with `permissionDenied`.
public protocol RemoteConfigAdminBackend: Sendable {
  /// Reads a template.
  ///
  /// - Parameters:
  ///   - namespace: The namespace, such as `firebase`.
  ///   - version: The number of the version; `nil` for the current one.
  ///   - context: The context of the owner.
  /// - Returns: The template and its ETag; an empty one with the ETag of version 0 when none was published.
  /// - Throws: `notFound` when there is no such version, or no longer.
  func template(
    namespace: String, version: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate

  /// Checks and publishes a template.
  ///
  /// - Parameters:
  ///   - request: The template, and which one it replaces.
  ///   - context: The context of the owner.
  /// - Returns: The template with its version and ETag; for a request that only checks, with an ETag that ends in `-0`.
  /// - Throws: `invalidArgument` with all violations; `failedPrecondition` when the current template is another one
  ///   than the request names. Nothing was changed then.
  func publish(
    _ request: PublishRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate

  /// Publishes an earlier version again, as a new version.
  ///
  /// - Parameters:
  ///   - namespace: The namespace.
  ///   - version: The version to go back to.
  ///   - user: The publisher.
  ///   - context: The context of the owner.
  /// - Returns: The template with its new version and ETag.
  /// - Throws: `notFound` when there is no such version; `failedPrecondition` when it is the current one.
  func rollback(
    namespace: String, to version: Int64, user: ConfigVersion.User?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> StoredTemplate

  /// Lists versions, the newest first.
  ///
  /// - Parameters:
  ///   - request: Which ones.
  ///   - context: The context of the owner.
  /// - Returns: One page of them.
  func listVersions(
    _ request: ListVersionsRequest, context: CallContext
  ) async throws(RemoteConfigServiceError) -> VersionPage

  /// Compares two versions.
  ///
  /// - Parameters:
  ///   - namespace: The namespace.
  ///   - old: The number of the earlier version.
  ///   - new: The number of the later version; `nil` for the current one.
  ///   - context: The context of the owner.
  /// - Returns: The difference.
  /// - Throws: `notFound` when there is no such version.
  func difference(
    namespace: String, from old: Int64, to new: Int64?, context: CallContext
  ) async throws(RemoteConfigServiceError) -> TemplateDifference

  /// The default values of the current template, as a file that an app takes along.
  ///
  /// - Parameters:
  ///   - namespace: The namespace.
  ///   - format: The format of the file.
  ///   - context: The context of the owner.
  /// - Returns: UTF-8.
  func downloadDefaults(
    namespace: String, format: DefaultsFormat, context: CallContext
  ) async throws(RemoteConfigServiceError) -> [UInt8]
}
