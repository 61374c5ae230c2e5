import VestaConcurrency
import VestaEngineInterop
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

// The connections of clients, which are notified of each published version.
extension RemoteConfigEngine {
  func connect(
    _ connection: InvalidationReceiver, _ namespace: String, _ context: CallContext
  ) -> ListenerRegistration {
    let isAdded = hub.add(connection, namespace: namespace)
    // Nothing is called before this method has returned: messages are sent in a task.
    Task { [self] in
      guard isAdded else { return connection.end(RemoteConfigServiceError(.unavailable, "The service was shut down.")) }
      do {
        _ = try await frame.admit(context)
        try ConfigOperation.check(namespace)
        connection.offer(ConfigInvalidation(latestVersion: try await currentVersion(of: namespace)))
      } catch {
        hub.remove(connection, namespace: namespace, ending: frame.failure(error))
      }
    }
    return ListenerRegistration { [weak hub] in hub?.remove(connection, namespace: namespace) }
  }

  private func currentVersion(of namespace: String) async throws -> Int64 {
    try await ConfigReader.read(namespace, from: frame.store()) { try await $0.currentVersion() }
  }

  /// Looks up what is current, after a commit that may be another engine's.
  ///
  /// Where it cannot be looked up, the connections end with the error: their clients reconnect and get an error then,
  /// instead of waiting for a publish that they have missed.
  func announceCurrent() async {
    for namespace in hub.namespaces {
      do {
        hub.announce(try await currentVersion(of: namespace), namespace: namespace)
      } catch {
        hub.end(namespace, frame.failure(error))
      }
    }
  }
}
